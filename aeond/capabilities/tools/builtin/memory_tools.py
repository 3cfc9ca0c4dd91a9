"""The memory tools: what a person asked to be remembered, over the Memory port."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.capabilities.tools.json_size import json_size
from aeond.domain.tools import Effect, ToolContext
from aeond.errors import InvalidInputError
from aeond.ports import Memory

MAX_KEY_CHARS: Final = 200
MAX_TEXT_CHARS: Final = 4_000
MAX_ENTRIES: Final = 50
MAX_ENTRIES_BYTES: Final = 64 * 1024

Key = Annotated[str, Field(min_length=1, max_length=MAX_KEY_CHARS, description="Short name of the fact")]


class MemoryWriteArguments(BaseModel):
    """A fact and its name."""

    key: Key
    value: Annotated[
        Annotated[str, Field(max_length=MAX_TEXT_CHARS)] | int | float | bool,
        Field(description="What to remember"),
    ]


class MemoryWriteResult(BaseModel):
    """What is remembered now."""

    key: str
    value: Any


class MemoryReadArguments(BaseModel):
    """The name of a fact."""

    key: Key


class MemoryReadResult(BaseModel):
    """The fact; `value` is null when nothing was found."""

    key: str
    found: bool
    value: Any


class MemorySearchArguments(BaseModel):
    """How the names begin."""

    prefix: Annotated[
        str,
        Field(max_length=MAX_KEY_CHARS, description="How the names begin; leave empty to list everything"),
    ] = ""


class MemoryEntry(BaseModel):
    """One remembered fact."""

    key: str
    value: Any


class MemorySearchResult(BaseModel):
    """The facts in order of their names; `truncated` when there are more."""

    entries: Annotated[list[MemoryEntry], Field(max_length=MAX_ENTRIES)]
    truncated: bool


def memory_tools(memory: Memory) -> Sequence[FunctionTool]:
    async def written(arguments: MemoryWriteArguments, _context: ToolContext) -> MemoryWriteResult | None:
        found = await memory.read(arguments.key)
        same = found == arguments.value and type(found) is type(arguments.value)
        return MemoryWriteResult(key=arguments.key, value=arguments.value) if same else None

    @tool(
        effect=Effect.WRITE_CONTAINED,
        idempotent=True,
        example={"key": "favourite_colour", "value": "green"},
        reconcile=written,
    )
    async def memory_write(arguments: MemoryWriteArguments, _context: ToolContext) -> MemoryWriteResult:
        """Remembers a text, number or yes/no under a short name, for later requests too."""
        await memory.write(arguments.key, arguments.value)
        return MemoryWriteResult(key=arguments.key, value=arguments.value)

    @tool(effect=Effect.READ, example={"key": "birthday_of_anna"})
    async def memory_read(arguments: MemoryReadArguments, _context: ToolContext) -> MemoryReadResult:
        """Recalls one remembered fact by its exact name."""
        # asked as a prefix, for a null that a client remembered is found too; the shortest name comes first
        facts = dict(await memory.search(arguments.key, limit=1))
        return MemoryReadResult(
            key=arguments.key, found=arguments.key in facts, value=facts.get(arguments.key)
        )

    @tool(effect=Effect.READ, example={})
    async def memory_search(arguments: MemorySearchArguments, _context: ToolContext) -> MemorySearchResult:
        """Lists remembered facts: all of them, or those whose names begin with a prefix."""
        found = await memory.search(arguments.prefix, limit=MAX_ENTRIES + 1)
        entries: list[MemoryEntry] = []
        room = MAX_ENTRIES_BYTES
        for key, value in found[:MAX_ENTRIES]:
            try:
                room -= json_size([key, value], room)
            except InvalidInputError:
                break
            entries.append(MemoryEntry(key=key, value=value))
        return MemorySearchResult(entries=entries, truncated=len(entries) < len(found))

    return memory_write, memory_read, memory_search
