"""A chat first: a request that needs no tool is answered by the very first call, in plain words, as they come."""

from typing import Final

from aeond.domain.budgets import Grant
from aeond.domain.llm import LLMRequest
from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.reservations import ROUTING
from aeond.domain.runs import Answer, RunSnapshot
from aeond.frozen import frozen
from aeond.orchestration.chat_preamble import ChatPreamble
from aeond.orchestration.chat_prompts import TOOLS, chat_messages
from aeond.orchestration.doubts import speaks_for_tools
from aeond.orchestration.metering import MeteredLLM
from aeond.orchestration.replying import MAX_REPLY_TOKENS, replied
from aeond.ports import LLMAdapter, TextSink

# How an answer begins that asks for tools: with the word for it, or as models were trained to call them.
_ASKING: Final = (TOOLS, "{", "<tool_call>")


@frozen
class ChatFirst:
    """Asks a model as in a chat, where it may reply or say by one word that the request takes tools."""

    llm: LLMAdapter
    preamble: ChatPreamble

    async def reply(self, snapshot: RunSnapshot, grant: Grant, on_text: TextSink) -> Outcome[Answer | None]:
        """The reply, shown as it comes; None where the request takes tools, or nobody is asked.

        One call, and only where the grant leaves enough of them to route the request as well. Nobody is asked
        either where a Template says how to answer, no example shows what takes a tool, or the request's own
        words speak for tools.
        """
        opening = () if speaks_for_tools(snapshot.text) else self.preamble.messages(snapshot)
        if grant.left.llm_calls < ROUTING.llm_calls or snapshot.request.instructions or not opening:
            return success(None)
        shown = _Unmarked(on_text)
        request = LLMRequest(chat_messages(snapshot, opening), max_tokens=MAX_REPLY_TOKENS, stop=(TOOLS,))
        asked = await MeteredLLM(self.llm, grant).stream(request, shown.show)
        if asked.value is None:
            shown.take_back()
            return failure(asked.problem or Problem("NOT_ANSWERED", "the model said nothing"), None)
        text = asked.value.text.strip()
        if not text or _asks_for_tools(text):
            return success(None)
        shown.show_all()
        return success(replied(asked.value))


class _Unmarked:
    """Shows a text from where it is clear that it does not ask for tools; until then it is held back."""

    def __init__(self, on_text: TextSink) -> None:
        self._on_text = on_text
        self._held = ""
        self._showing = False

    def show(self, piece: str) -> None:
        if not piece:  # asked again
            self.take_back()
            return
        self._held += piece
        if self._showing or not _may_ask_for_tools(self._held):
            self.show_all()

    def show_all(self) -> None:
        if self._held:
            self._on_text(self._held)
            self._showing = True
        self._held = ""

    def take_back(self) -> None:
        if self._showing:
            self._on_text("")
        self._held, self._showing = "", False


def _asks_for_tools(text: str) -> bool:
    return text.strip().startswith(_ASKING)


def _may_ask_for_tools(begun: str) -> bool:
    """Whether a text that begins so can turn out to ask for tools."""
    text = begun.strip()
    return _asks_for_tools(text) or any(form.startswith(text) for form in _ASKING)
