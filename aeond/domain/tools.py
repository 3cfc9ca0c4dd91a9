"""Tools as data: name, arguments, results and effects."""

from collections.abc import Callable, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Final, Generic, Self, TypeVar

from aeond.domain.plans.approvals import ApprovalRequest
from aeond.domain.plans.subtasks import SubtaskRequest
from aeond.domain.plans.tool_calls import ToolCall as ToolCall  # noqa: PLC0414 - it belongs to the types here
from aeond.domain.policy import Effect as Effect  # noqa: PLC0414 - authors of tools import it from here
from aeond.domain.policy import Origin
from aeond.domain.policy import Recovery as Recovery  # noqa: PLC0414 - the same
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.questions import InputRequest
from aeond.domain.values import JsonObject, JsonValue, canonical_json
from aeond.frozen import frozen
from aeond.user_rights import UserRights

T_co = TypeVar("T_co", covariant=True)

MAX_EFFECTS: Final = 64  # of one call
MAX_ANSWER_EFFECTS: Final = 256
DIGEST_CHARS: Final = 16
EFFECTS_OMITTED: Final = "effects.omitted"
"""The kind of the last effect of a list that was too long; its target is the number of those left out."""


@frozen
class Composition:
    """The conversation in which a small model writes these arguments of a call: the value of one, or an object with several, which may
    have members that only lead to them.

    `instructions` say what to write, `examples` are views and requests with the value written for them. Without `facts` the
    remembered facts are left out: a model that needs none takes them for values of the view. A value longer than `max_tokens` is
    given up. `fact` is the argument that names a remembered fact: where the request corrects one, it is given to the tool for the view.
    What is particular to one call is its CompositionView.
    """

    arguments: tuple[str, ...]
    instructions: str
    examples: tuple[tuple[str, str, JsonValue], ...]
    facts: bool = True
    max_tokens: int = 900
    fact: str = ""


def _as_written(value: JsonValue, _said: str) -> JsonValue:
    return value


@frozen
class CompositionView:
    """What a Composition shows for one call: what the call would change or read, and the schema of the values that are possible. `meant` returns
    what a written value means; None if it does not follow from what was said, a text. With `may_lack` the value is a text, and "" says that
    what the call reads has not what is wanted."""

    text: str
    schema: JsonObject
    meant: Callable[[JsonValue, str], JsonValue] = _as_written
    may_lack: bool = False


@frozen
class ToolSpec:
    """The description of a tool for models and clients.

    Schemas are JSON Schema objects. `example` is one valid arguments object, shown to the model.
    `timeout_seconds` bounds one call, `max_output_bytes` its result as JSON text. A tool that is not
    `offered` is available to plans that name it, but is not listed to models.
    `candidates` names the arguments for which the tool proposes existing values, `only_existing` those of them for which
    there can be no other value, as for a file to delete. `composition` tells how a small model writes some of the arguments in a
    separate conversation, in which it sees what the call would change. `for_existing` names the tool that a small model's
    call becomes where an argument names something that exists, so that nothing is replaced unseen, `for_part` the one that it
    becomes where the request means a part of what the call would remove, `followed_by` the one that may follow: the result has a member for each
    of its required arguments. After a `private` call it makes what that proposes, if `ready` in the result is true. `new_name` names the argument under which something that
    exists gets a new name, or, together with `new_text` for its text, something new. `page_address` names the one for the web address of the page that the tool reads. `source_code` are patterns of the names of
    files whose code the tool changes, as a programmer would. `request_argument` names the one that takes what a person wants in their own
    words: a small model's call has that alone.
    A tool that `asks_user` returns an InputRequest; one that `asks_model` takes calls of the model from the `grant` of its
    context; one that `shows_facts` only looks up what is remembered, one that `shows_names` which files exist. `source` names where a tool of another author comes from ("" for
    built-in tools and those of `tools.files`); its output is untrusted.
    A `private` call works on a copy of its own and leaves nothing behind but its result: it may be interrupted and repeated.
    `unavailable` says why it cannot be called now ("" if it can); the registry sets its `digest`, which is what a person
    accepts of a tool of another author.
    """

    name: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject
    effect: Effect = Effect.UNDECLARED
    idempotent: bool = False
    example: JsonObject | None = None
    timeout_seconds: float = 30.0
    max_output_bytes: int = 1 << 20
    offered: bool = True
    candidates: tuple[str, ...] = ()
    only_existing: tuple[str, ...] = ()
    composition: Composition | None = None
    for_existing: str = ""
    for_part: str = ""
    followed_by: str = ""
    source_code: tuple[str, ...] = ()
    request_argument: str = ""
    new_name: str = ""
    new_text: str = ""
    page_address: str = ""
    asks_user: bool = False
    asks_model: bool = False
    shows_facts: bool = False
    shows_names: bool = False
    source: str = ""
    unavailable: str = ""
    digest: str = ""
    private: bool = False

    @property
    def composed(self) -> tuple[str, ...]:
        """The arguments that a small model writes in a separate conversation."""
        return self.composition.arguments if self.composition else ()

    @property
    def is_informed(self) -> bool:
        """Whether its declarations say what it is about: what exists here, what is remembered, or what the user says."""
        changes = self.for_existing or self.for_part or self.new_text
        shows = self.shows_facts or self.shows_names or self.asks_user
        return not self.source and bool(self.candidates or self.composed or changes or shows)

    @property
    def recovery(self) -> Recovery:
        """The restart rule that follows from effect class, privacy and idempotence."""
        if self.private or self.effect in (Effect.PURE, Effect.READ):
            return Recovery.RERUN
        return Recovery.RECONCILE if self.idempotent else Recovery.ASK


def description_digest(spec: ToolSpec) -> str:
    """The name of a tool with a digest of everything that a model reads of it."""
    read = [spec.description, spec.input_schema, spec.output_schema, spec.example]
    return f"{spec.name}:{sha256(canonical_json(read).encode()).hexdigest()[:DIGEST_CHARS]}"


@frozen
class ToolCode:
    """The code that carries out the calls of a tool.

    `digest` changes with the code ("" for code that comes with the daemon). `sandbox` names the sandbox and its layers
    ("" for none) and changes whenever a call could reach more.
    """

    digest: str = ""
    sandbox: str = ""


TOOL_TIMEOUT: Final = "TOOL_TIMEOUT"
CLIENT_LEFT: Final = "CLIENT_LEFT"
"""The client that executes the call went away before it sent a result."""
CALL_CUT: Final = "CALL_CUT"
"""The server that executes the call went away before it sent a result."""
EFFECT_UNKNOWN: Final = (TOOL_TIMEOUT, CLIENT_LEFT, CALL_CUT)
"""Reasons of calls that had started and failed: whether they had an effect is unknown."""


def allows(patterns: Sequence[str] | None, tool: str) -> bool:
    """Whether one of the patterns (names, with `*` and `?`) matches the tool's name; None matches every tool."""
    return patterns is None or any(fnmatchcase(tool, pattern) for pattern in patterns)


@frozen
class RecordedEffect:
    """One change that a call made, as the tool that made it reports it.

    `kind` is dotted lower-case words, the last one a past participle: `file.created`, `file.moved`,
    `fact.remembered`, `command.run`. `target` is the changed thing (a path, a key), `detail` a few more words
    (`120 bytes`).
    """

    kind: str
    target: str
    detail: str = ""


def ignore_effect(_effect: RecordedEffect) -> None:
    """For calls outside of the invoker, which keeps the effects."""


@frozen
class ToolOutput(Generic[T_co]):
    """The data of a call together with the changes that it made, and the untrusted sources that the data come from. A
    tool without either returns its data alone. Effects that the call recorded in its context precede these."""

    data: T_co
    effects: tuple[RecordedEffect, ...] = ()
    taint: tuple[str, ...] = ()


def bounded(effects: tuple[RecordedEffect, ...], most: int) -> tuple[RecordedEffect, ...]:
    """The effects, with those beyond `most` replaced by one that counts them."""
    if len(effects) <= most:
        return effects
    kept = effects[: most - 1]
    return (*kept, RecordedEffect(EFFECTS_OMITTED, str(len(effects) - len(kept))))


@frozen
class ToolResult:
    """The result of a call: errors are data.

    `metadata` holds at least `duration_seconds`. On failure `error` describes the cause and `reason` names it
    for programs; `metadata` may then hold `candidates`, values that exist for the argument at fault. With a
    `request` there is no data yet: the tool asks for a person or a child run, and the outcome of that is the
    result of the step; or the call needs approval, and is made again once it has it. `effects` are the changes made
    by the call, also by one that failed, in order, `taint` the untrusted sources that it has read.
    """

    success: bool
    data: JsonValue = None
    error: str = ""
    reason: str = ""
    metadata: JsonObject = field(default_factory=dict)
    request: InputRequest | SubtaskRequest | ApprovalRequest | None = None
    effects: tuple[RecordedEffect, ...] = ()
    taint: tuple[str, ...] = ()

    @property
    def candidates(self) -> tuple[str, ...]:
        """The candidates in `metadata`; empty if there are none."""
        found = self.metadata.get("candidates", ())
        return tuple(map(str, found)) if isinstance(found, Sequence) else ()


class Workspace(str):
    """The path of a workspace, with the identity of the folder that it led to when the run was bound to it ("" for
    none) and the rights with which it is used (None: the daemon's). Files are opened only while it leads to that folder.

    A text, so that tools use it as a path.
    """

    __slots__ = ("identity", "rights")
    identity: str
    rights: UserRights | None

    def __new__(cls, path: str, identity: str = "", rights: UserRights | None = None) -> Self:
        made = super().__new__(cls, path)
        made.identity = identity
        made.rights = rights
        return made

    @staticmethod
    def identity_of(path: str) -> str:
        """The identity of a workspace; "" for any other path."""
        return path.identity if isinstance(path, Workspace) else ""

    @staticmethod
    def rights_of(path: str) -> UserRights | None:
        """The rights with which a workspace is used; None for any other path."""
        return path.rights if isinstance(path, Workspace) else None


@frozen
class ToolContext:
    """What a call may know about its run: identity, workspace, user and the facts that the policy needs.

    `allowed_tools` are patterns of the only tools that may be called for it (None: all); the invoker enforces this. `uid` is its
    owner, whose memory the call may use (-1: unknown), `taint` names the untrusted sources that the run has read.
    `answer` is a person's answer to the question that the call asked in its earlier attempt (None: it asked none).
    A tool that asks the model takes each call from the `grant` of its step (None: outside of a run). `repeated` is false for a
    call that was certainly not made before, under the same call id. `record` takes an effect at once, so that it is kept
    if the call fails afterwards.
    """

    run_id: str
    step_id: str
    call_id: str
    workspace: str
    allowed_tools: tuple[str, ...] | None = None
    uid: int = -1
    origin: Origin = Origin.MODEL
    taint: tuple[str, ...] = ()
    answer: JsonValue = None
    grant: Grant | None = field(default=None, compare=False, repr=False)
    repeated: bool = True
    record: Callable[[RecordedEffect], None] = field(default=ignore_effect, compare=False, repr=False)
