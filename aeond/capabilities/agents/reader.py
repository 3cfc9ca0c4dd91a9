"""The agent `reader`: does a task on material that is too long for one prompt, part by part."""

import math
from collections.abc import AsyncIterator, Sequence
from typing import Final

from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message, Role
from aeond.domain.values import JsonValue
from aeond.errors import InvalidInputError
from aeond.frozen import frozen
from aeond.ports import Agent, LLMAdapter

NAME: Final = "reader"
PART_TOKENS: Final = 2_500  # a prompt of this size is read quickly
NOTE_TOKENS: Final = 300
ANSWER_TOKENS: Final = 700
ROOM_TOKENS: Final = 400  # for rules, request and task
PARTLY_READ: Final = "The end of the material was not read, for want of budget."

NOTE_RULES: Final = """\
You read one part of a longer material. Write short notes of everything in this part that helps with the task: names, \
numbers and dates exactly as they are written, each with the source it comes from. If nothing helps, write "nothing"."""
ANSWER_RULES: Final = """\
You do the task from the material below and from nothing else. Name the source of each statement. If the material does \
not say it, say so."""


class Reader:
    """Registers the agent; a ModelAgent."""

    name = NAME

    def using(self, model: LLMAdapter) -> Agent:
        return BoundReader(model)


@frozen
class BoundReader:
    """The Agent over a model. Material that fits into one prompt is answered from in one call. Longer material is read
    in as many parts as there are calls left but one, with notes of each; the last call answers from the notes. If the
    budget is too small for all of it, the answer has the clarity `partially_clear` and a handoff that says so.
    """

    model: LLMAdapter

    @property
    def name(self) -> str:
        return NAME

    @property
    def capabilities(self) -> Sequence[str]:
        return ("reason", "read")

    async def process(self, message: Message) -> Message:
        request, task, material = _texts(message.content)
        calls, tokens = _number(message, "max_calls"), _number(message, "max_tokens")
        asked = f"Request: {request}\nTask: {task}"
        size = await self.model.count_tokens((Message(Role.USER, material),))
        if size <= PART_TOKENS or calls < 2:
            return await self._answer(asked, material, whole=True)
        most = calls - 1
        largest = self.model.capabilities.context_length - ROOM_TOKENS - NOTE_TOKENS
        spare = tokens - ROOM_TOKENS - ANSWER_TOKENS - most * (ROOM_TOKENS + 2 * NOTE_TOKENS)
        share = min(1.0, max(0, min(spare, most * largest)) / size)
        read = material[: int(len(material) * share)]
        parts = split(read, min(most, math.ceil(size * share / PART_TOKENS)))
        notes = []
        for number, part in enumerate(parts, start=1):
            text = f"{asked}\nPart {number} of {len(parts)}:\n{part}"
            said = await self._ask(NOTE_RULES, text, NOTE_TOKENS)
            notes.append(f"Notes of part {number}:\n{said.content}")
        return await self._answer(asked, "\n\n".join(notes), whole=share >= 1.0)

    async def stream(self, message: Message) -> AsyncIterator[Message]:
        """The whole answer at once."""
        yield await self.process(message)

    async def _answer(self, asked: str, material: str, *, whole: bool) -> Message:
        said = await self._ask(ANSWER_RULES, f"Material:\n{material}\n\n{asked}", ANSWER_TOKENS)
        if whole:
            return said
        metadata = {**said.metadata, "clarity": "partially_clear", "handoff": PARTLY_READ}
        return Message(Role.AGENT, said.content, metadata)

    async def _ask(self, rules: str, text: str, max_tokens: int) -> Message:
        prompt = (Message(Role.SYSTEM, rules), Message(Role.USER, text))
        response = await self.model.generate(LLMRequest(prompt, max_tokens=max_tokens))
        return Message(Role.AGENT, response.text, {"finish_reason": str(response.finish_reason)})


def split(text: str, count: int) -> list[str]:
    """At most `count` parts of about the same length, which together are the text; each ends with a line if one ends in
    its last fifth."""
    parts = []
    for left in range(count, 0, -1):
        length = math.ceil(len(text) / left)
        if left > 1 and (line := text.rfind("\n", length - length // 5, length)) >= 0:
            length = line + 1
        parts.append(text[:length])
        text = text[length:]
    return [part for part in parts if part]


def _texts(content: JsonValue) -> tuple[str, str, str]:
    if isinstance(content, dict):
        request, task, material = (content.get(key) for key in ("request", "task", "material"))
        if isinstance(request, str) and isinstance(task, str) and isinstance(material, str):
            return request, task, material
    raise InvalidInputError(
        "the message for a reader must be an object with the texts request, task and material",
        reason="MESSAGE_SHAPE",
        field="content",
    )


def _number(message: Message, key: str) -> int:
    value = message.metadata.get(key, 0)
    return value if isinstance(value, int) else 0
