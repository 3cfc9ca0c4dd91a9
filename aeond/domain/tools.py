"""Tools as data: what they are called, what they take and give, what they do to the world."""

from dataclasses import field
from enum import StrEnum

from aeond.domain.questions import InputRequest
from aeond.domain.subtasks import SubtaskRequest
from aeond.domain.values import NO_ARGUMENTS, JsonObject, JsonValue
from aeond.frozen import frozen


class Effect(StrEnum):
    """What a call does to the world, declared by the tool, never by the model."""

    PURE = "pure"  # computes; same arguments, same result
    READ = "read"  # looks at the world
    WRITE_CONTAINED = "write_contained"  # changes the run's workspace or the user's memory
    WRITE_OUTSIDE = "write_outside"  # changes other files
    EXEC_CONTAINED = "exec_contained"  # runs a command, sandboxed, without network
    EXEC_HOST = "exec_host"  # runs a command on the host
    NET = "net"  # talks to the network; a GET is egress
    SECRET = "secret"  # touches secrets


class Recovery(StrEnum):
    """What a restart does with a call that was started and has no recorded outcome."""

    RERUN = "rerun"  # harmless: run it again
    RECONCILE = "reconcile"  # idempotent: ask the tool what happened, else run it again
    ASK = "ask"  # at most once: a person decides


@frozen
class ToolSpec:
    """What a model and a client are told about a tool.

    Schemas are JSON Schema objects. `example` is one valid arguments object, shown to the model.
    `timeout_seconds` bounds one call, `max_output_bytes` its result as JSON text.
    One that is not `offered` is there for plans that name it; models are not told of it.
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

    @property
    def recovery(self) -> Recovery:
        """The restart rule that follows from effect class and idempotence."""
        if self.effect in (Effect.PURE, Effect.READ):
            return Recovery.RERUN
        return Recovery.RECONCILE if self.idempotent else Recovery.ASK


@frozen
class ToolCall:
    """A request to run a tool: name, arguments, and an id that tells calls apart."""

    tool: str
    arguments: JsonObject = field(default_factory=lambda: NO_ARGUMENTS)
    call_id: str = ""


# The reason of a call that did not end in time: whether it did its work is not known.
TOOL_TIMEOUT = "TOOL_TIMEOUT"


@frozen
class ToolResult:
    """How a call went: errors are data.

    `metadata` holds at least `duration_seconds`; on failure `error` says why in plain words and
    `reason` names it for programs. With a `request` there is no data yet: the tool asks for a person or
    for a run of its own, and what comes of that is the result of the step.
    """

    success: bool
    data: JsonValue = None
    error: str = ""
    reason: str = ""
    metadata: JsonObject = field(default_factory=dict)
    request: InputRequest | SubtaskRequest | None = None


@frozen
class ToolContext:
    """What a call may know of its run: identity and the folder it may write to, nothing else.

    `allowed_tools` are the only ones that may be called for it (None: all); the invoker holds to that.
    """

    run_id: str
    step_id: str
    call_id: str
    workspace: str
    allowed_tools: tuple[str, ...] | None = None
