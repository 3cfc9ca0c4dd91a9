"""Tools as data: name, arguments, results and effects."""

from collections.abc import Sequence
from dataclasses import field
from enum import StrEnum
from typing import Final, Generic, TypeVar

from aeond.domain.plans.approvals import ApprovalRequest
from aeond.domain.plans.subtasks import SubtaskRequest
from aeond.domain.plans.tool_calls import ToolCall as ToolCall  # noqa: PLC0414 - it belongs to the types here
from aeond.domain.runs.questions import InputRequest
from aeond.domain.values import JsonObject, JsonValue
from aeond.frozen import frozen

T_co = TypeVar("T_co", covariant=True)

MAX_EFFECTS: Final = 64  # of one call
MAX_ANSWER_EFFECTS: Final = 256
EFFECTS_OMITTED: Final = "effects.omitted"
"""The kind of the last effect of a list that was too long; its target is the number of those left out."""


class Effect(StrEnum):
    """The effect of a call, declared by the tool, never by the model."""

    PURE = "pure"  # computes; the same arguments give the same result
    READ = "read"  # reads the outside world
    WRITE_CONTAINED = "write_contained"  # changes the run's workspace or the user's memory
    WRITE_OUTSIDE = "write_outside"  # changes other files
    EXEC_CONTAINED = "exec_contained"  # runs a command, sandboxed, without network
    EXEC_HOST = "exec_host"  # runs a command on the host
    NET = "net"  # talks to the network; a GET is egress
    SECRET = "secret"  # touches secrets


class Recovery(StrEnum):
    """How a restart treats a call that was started and has no recorded outcome."""

    RERUN = "rerun"  # no effects: run it again
    RECONCILE = "reconcile"  # idempotent: ask the tool for the outcome, else run it again
    ASK = "ask"  # at most once: a person decides


@frozen
class ToolSpec:
    """The description of a tool for models and clients.

    Schemas are JSON Schema objects. `example` is one valid arguments object, shown to the model.
    `timeout_seconds` bounds one call, `max_output_bytes` its result as JSON text. A tool that is not
    `offered` is available to plans that name it, but is not listed to models.
    `candidates` names the arguments for which the tool proposes existing values.
    A tool that `asks_user` returns an InputRequest.
    """

    name: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject
    effect: Effect
    idempotent: bool = False
    example: JsonObject | None = None
    timeout_seconds: float = 30.0
    max_output_bytes: int = 1 << 20
    offered: bool = True
    candidates: tuple[str, ...] = ()
    asks_user: bool = False

    @property
    def recovery(self) -> Recovery:
        """The restart rule that follows from effect class and idempotence."""
        if self.effect in (Effect.PURE, Effect.READ):
            return Recovery.RERUN
        return Recovery.RECONCILE if self.idempotent else Recovery.ASK


# The reason of a call that timed out: whether it had an effect is unknown.
TOOL_TIMEOUT = "TOOL_TIMEOUT"


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


@frozen
class ToolOutput(Generic[T_co]):
    """The data of a call together with the changes that it made. A tool that changes nothing returns its data
    alone."""

    data: T_co
    effects: tuple[RecordedEffect, ...] = ()


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
    result of the step; or the call needs approval, and is made again once it has it. `effects` are the changes made by the call, in order.
    """

    success: bool
    data: JsonValue = None
    error: str = ""
    reason: str = ""
    metadata: JsonObject = field(default_factory=dict)
    request: InputRequest | SubtaskRequest | ApprovalRequest | None = None
    effects: tuple[RecordedEffect, ...] = ()

    @property
    def candidates(self) -> tuple[str, ...]:
        """The candidates in `metadata`; empty if there are none."""
        found = self.metadata.get("candidates", ())
        return tuple(map(str, found)) if isinstance(found, Sequence) else ()


@frozen
class ToolContext:
    """What a call may know about its run: identity and workspace, nothing else.

    `allowed_tools` are the only tools that may be called for it (None: all); the invoker enforces this.
    """

    run_id: str
    step_id: str
    call_id: str
    workspace: str
    allowed_tools: tuple[str, ...] | None = None
