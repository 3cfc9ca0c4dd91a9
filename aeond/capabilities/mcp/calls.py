"""A call on an MCP server, which may last longer than one attempt of its step: a person's answer can come in between."""

from typing import Final

import anyio

from aeond.domain.runs.questions import InputRequest
from aeond.domain.tools import CALL_CUT, ToolContext
from aeond.domain.values import JsonObject, JsonValue, canonical_json
from aeond.errors import AeondError, ToolError
from aeond.ports import ToolAnswer

HELD_SECONDS: Final = 1_000.0
"""How long a call is kept while a person is asked; longer than the question is open."""


def cut(name: str, why: str) -> ToolError:
    """The error of a call whose outcome is unknown."""
    return ToolError(f"{name} was cut off: {why}; it may have taken effect", reason=CALL_CUT)


class PendingCall:
    """One call, from its request to its result."""

    def __init__(self, name: str, arguments: JsonObject, context: ToolContext) -> None:
        self.name = name
        self.arguments = arguments
        self.context = context
        self.scope = anyio.CancelScope()
        self._result: ToolAnswer = None
        self._error: AeondError | None = None
        self._ended = False
        self._question: InputRequest | None = None
        self._answer: JsonValue = None
        self._answered = anyio.Event()
        self._news = anyio.Event()

    @property
    def can_ask(self) -> bool:
        """Whether the call can ask a person: it is a step of a run, and asks nothing already."""
        return bool(self.context.run_id) and self._question is None

    def makes(self, name: str, arguments: JsonObject) -> bool:
        return self.name == name and canonical_json(self.arguments) == canonical_json(arguments)

    async def turn(self) -> ToolAnswer:
        """Returns the result, or the question that is asked first. Raises the error that the call ended with."""
        while not self._ended:
            if self._question is not None:
                return self._question
            await self._news.wait()
            self._news = anyio.Event()
        if self._error is not None:
            raise self._error
        return self._result

    async def ask(self, question: InputRequest) -> JsonValue:
        """Waits for the answer. The call is cut off if there is none in time."""
        self._question, self._answered = question, anyio.Event()
        self._news.set()
        with anyio.move_on_after(HELD_SECONDS):
            await self._answered.wait()
            return self._answer
        self.cancel()
        return None

    def answer(self, answer: JsonValue) -> None:
        self._question, self._answer = None, answer
        self._answered.set()

    def end(self, result: ToolAnswer) -> None:
        self._result, self._ended = result, True
        self._news.set()

    def fail(self, error: AeondError) -> None:
        """Ends the call with an error, unless it has ended."""
        if not self._ended:
            self._error, self._ended = error, True
            self._news.set()

    def cancel(self) -> None:
        """Stops the call: notifies the server."""
        self.scope.cancel()
