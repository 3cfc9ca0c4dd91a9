"""How fast the engine reads and writes, measured through its adapter: what the floor of a case is made of."""

from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message, Role
from aeond.ports import LLMAdapter
from tests.eval.verdicts import Effort

READ_LINES: Final = 45  # about 700 tokens
WRITE_TOKENS: Final = 48


@dataclass(frozen=True, slots=True)
class EngineRates:
    """Tokens a second."""

    read: float
    write: float

    def floor_seconds(self, effort: Effort) -> float:
        """The time that the engine alone needs for the tokens of a case."""
        read = effort.read_tokens / self.read if self.read else 0.0
        return read + (effort.completion_tokens / self.write if self.write else 0.0)


async def measured_rates(llm: LLMAdapter) -> EngineRates:
    """Reads a text that the engine has not seen, then writes."""
    lines = "\n".join(f"{number}: {uuid4().hex[:8]} is on shelf {number * 7}" for number in range(READ_LINES))
    asked = Message(Role.USER, f"{lines}\nContinue this list.")
    response = await llm.generate(LLMRequest((asked,), max_tokens=WRITE_TOKENS))
    usage, timing = response.usage, response.timing
    read, written = timing.first_token_seconds, timing.engine_seconds - timing.first_token_seconds
    return EngineRates(
        (usage.prompt_tokens - usage.cached_tokens) / read if read else 0.0,
        (usage.completion_tokens - 1) / written if written else 0.0,
    )
