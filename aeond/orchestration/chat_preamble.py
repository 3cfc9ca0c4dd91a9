"""What a chat about a request begins with: how to talk, what takes tools, and by which word to say so."""

from collections.abc import Sequence

from aeond.domain.messages import Message
from aeond.domain.tools import ToolSpec
from aeond.frozen import frozen
from aeond.orchestration.chat_prompts import chat_opening
from aeond.orchestration.preamble import Preamble


@frozen
class ChatPreamble(Preamble):
    """A Preamble of a chat. It is empty where no example shows a request that takes one of the run's tools."""

    def opening(self, specs: Sequence[ToolSpec], instructions: str = "") -> tuple[Message, ...]:
        return chat_opening(specs)
