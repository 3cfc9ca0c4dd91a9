"""A tool that a client executes."""

from collections.abc import Callable
from dataclasses import dataclass

from aeond.capabilities.tools.served.client_stream import ClientCalls, ClientStream
from aeond.domain.tools import CLIENT_LEFT, ToolCall, ToolContext, ToolOutput, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import ToolError
from aeond.ports import ToolAnswer
from aeond.ports.serving import CallStarted


@dataclass(eq=False, slots=True)
class ClientTool:
    """Sends each call to the stream that serves the tool, once, and waits for the result.

    While the client is away, a call waits `grace_seconds` for it: then it is sent if it was not, and the result of a
    call that was sent can still be delivered.
    """

    spec: ToolSpec
    calls: ClientCalls
    stream: Callable[[], ClientStream | None]
    grace_seconds: float

    @property
    def in_flight(self) -> int:
        return len(self.calls)

    async def execute(self, arguments: JsonObject, context: ToolContext) -> ToolAnswer:
        """What the client returns. ToolError with the client's error and reason if it reports a failure; reason
        CLIENT_AWAY if no client took the call, CLIENT_LEFT if one did and did not come back in time."""
        message = CallStarted(
            ToolCall(self.spec.name, arguments, context.call_id),
            context.run_id,
            context.step_id,
            self.spec.timeout_seconds,
        )
        stream = self.stream()
        if stream is None:
            raise _left(self.spec.name, sent=False)
        call = self.calls.begin(message, stream)
        try:
            result = await call.wait(self.grace_seconds)
        finally:
            self.calls.forget(call)
        if result is None:
            raise _left(self.spec.name, sent=call.sent)
        if not result.success:
            for effect in result.effects:
                context.record(effect)
            raise ToolError(result.error or "failed without an explanation", reason=result.reason or None)
        return ToolOutput(result.data, result.effects, result.taint)

    async def reconcile(
        self, arguments: JsonObject, context: ToolContext
    ) -> JsonValue | ToolOutput[JsonValue] | None:
        return None


def _left(name: str, *, sent: bool) -> ToolError:
    if not sent:
        return ToolError(
            f"the client that serves {name} is away and did not begin the call: start the client, then try again",
            reason="CLIENT_AWAY",
            retryable=True,
        )
    return ToolError(
        f"the client that serves {name} left before it sent a result: whether the call had an effect is unknown",
        reason=CLIENT_LEFT,
    )
