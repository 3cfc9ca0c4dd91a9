"""An agent as a user writes one, without a model."""

COUNTING_AGENT = """
from aeond.domain.messages import Message, Role

class Counting:
    name = "counting"
    capabilities = ("count",)

    async def process(self, message):
        return Message(Role.AGENT, f"{len(message.content)} characters")

    async def stream(self, message):
        yield await self.process(message)

AGENT = Counting()
AGENTS = [AGENT]
"""
