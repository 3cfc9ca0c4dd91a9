"""Guarantees of every built-in tool."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.tools.builtin.tool_set import builtin_tools
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.invoker import GuardedInvoker
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.runs.questions import InputRequest
from aeond.domain.tools import Effect, Recovery, ToolCall, ToolContext, ToolResult, ToolSpec
from aeond.domain.values import canonical_json
from aeond.ports import Memories, Tool
from aeond.schemas.compiled import CompiledSchema
from tests.support.doubles import ManualClock
from tests.support.memory import InMemoryMemory
from tests.support.tools import CONTEXT, invoker_of, within
from tests.support.undo import InMemoryUndoLog

NAMES = {
    "append_file",
    "calculator",
    "delete_file",
    "echo",
    "edit_file",
    "forget",
    "list_dir",
    "move_file",
    "now",
    "query_table",
    "read_file",
    "recall",
    "remember",
    "request_user_input",
    "search_files",
    "write_file",
}

CHANGING = {"append_file", "delete_file", "edit_file", "forget", "move_file", "remember", "write_file"}

# JSON Schema keywords that every constrained decoder interprets in the same way.
CORE_KEYWORDS = {
    "type",
    "enum",
    "const",
    "anyOf",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "description",
}


class Bench(NamedTuple):
    """A tool in a place where its example can be carried out."""

    tool: Tool
    invoker: GuardedInvoker
    context: ToolContext

    @property
    def spec(self) -> ToolSpec:
        return self.tool.spec

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        with anyio.fail_after(60):
            return await self.invoker.invoke(ToolCall(self.spec.name, arguments, "call1"), self.context)


def all_tools(memory: Memories | None = None) -> list[Tool]:
    files = ContainedFiles(resolve_in_kernel)
    return list(
        builtin_tools(
            ManualClock(),
            memory or InMemoryMemory(),
            files,
            WorkerThreads(),
            NoEmbedder(),
            InMemoryUndoLog(),
        )
    )


@pytest.fixture(params=sorted(NAMES))
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    memory = InMemoryMemory()
    await memory.write("old locker number", 118)
    tools = {tool.spec.name: tool for tool in all_tools(memory)}
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "shopping.txt").write_text("milk\n")
    (tmp_path / "photos").mkdir()
    (tmp_path / "expenses.csv").write_text("month,amount\nMay,20\nJune,30\n")
    (tmp_path / "recipe.md").write_text("flour, water, salt\n")
    (tmp_path / "trip.md").write_text("two nights in Porto\n")
    (tmp_path / "sketch.txt").write_text("a boat\n")
    (tmp_path / "obsolete.log").write_text("done\n")
    return Bench(tools[request.param], invoker_of(*tools.values()), within(CONTEXT, tmp_path))


def schemas_in(schema: Any) -> Iterator[Mapping[str, Any]]:
    """A schema and every schema in it."""
    yield schema
    for part in [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]:
        yield from schemas_in(part)
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), Mapping):
            yield from schemas_in(schema[keyword])


async def require_argument_checks(tools: Sequence[Tool], context: ToolContext) -> None:
    """Each tool refuses an unknown argument and each wrong one by its name."""
    invoker = invoker_of(*tools)
    for tool in tools:
        example, name = dict(tool.spec.example or {}), tool.spec.name
        result = await invoker.invoke(ToolCall(name, {**example, "surprise": 1}), context)
        assert (result.reason, "surprise" in result.error) == ("ARGUMENTS_INVALID", True)
        for argument in example:
            result = await invoker.invoke(ToolCall(name, {**example, argument: None}), context)
            assert (result.reason, f"/{argument}" in result.error) == ("ARGUMENTS_INVALID", True)


def require_small_schemas(tools: Sequence[Tool]) -> None:
    """Schemas keep to the core and are bounded, descriptions are short, and examples share no long word."""
    words: dict[str, str] = {}
    for tool in tools:
        spec = tool.spec
        assert spec.example is not None
        assert CompiledSchema(spec.input_schema).problems(spec.example) == ()
        assert len(spec.description) < 100
        for schema in (*schemas_in(spec.input_schema), *schemas_in(spec.output_schema)):
            assert set(schema) <= CORE_KEYWORDS
        for schema in schemas_in(spec.input_schema):
            assert schema.get("type") != "string" or "maxLength" in schema or "enum" in schema
            assert schema.get("type") != "array" or "maxItems" in schema
        text = "".join(
            character if character.isalpha() else " "
            for value in spec.example.values()
            for character in str(value)
        )
        for word in {word for word in text.lower().split() if len(word) > 3}:
            assert words.setdefault(word, spec.name) == spec.name, word


def test_every_tool_is_under_contract() -> None:
    """The tools that this suite goes over are all that come with aeond, each with a name of its own."""
    names = [tool.spec.name for tool in all_tools()]
    assert set(names) == NAMES
    assert len(names) == len(NAMES)


def test_example_fits_its_own_schema(bench: Bench) -> None:
    """Each tool shows an example, and it is a valid call of that tool."""
    assert bench.spec.example is not None
    assert CompiledSchema(bench.spec.input_schema).problems(bench.spec.example) == ()


def test_examples_are_far_apart() -> None:
    """No two tools share a word of their examples' values, which small models copy."""
    words: dict[str, str] = {}
    for tool in all_tools():
        example = tool.spec.example or {}
        text = " ".join(str(value) for value in example.values()).lower()
        for word in {
            word for word in "".join(c if c.isalpha() else " " for c in text).split() if len(word) > 3
        }:
            assert words.setdefault(word, tool.spec.name) == tool.spec.name


async def test_example_works(bench: Bench) -> None:
    """Carrying out the example succeeds, and its output fits the output schema, unless a person is asked."""
    assert bench.spec.example is not None
    result = await bench.call(bench.spec.example)
    assert result.success, result.error
    if result.request is None:
        assert CompiledSchema(bench.spec.output_schema).problems(result.data) == ()
    else:
        assert isinstance(result.request, InputRequest)


async def test_unknown_argument_is_refused(bench: Bench) -> None:
    """An argument that the tool does not know is refused by its name."""
    result = await bench.call({**(bench.spec.example or {}), "surprise": 1})
    assert (result.success, result.reason) == (False, "ARGUMENTS_INVALID")
    assert "surprise" in result.error


async def test_missing_argument_is_refused(bench: Bench) -> None:
    """Each missing required argument is reported by name."""
    example = bench.spec.example or {}
    required = bench.spec.input_schema.get("required", [])
    assert isinstance(required, list)
    for name in required:
        result = await bench.call({key: value for key, value in example.items() if key != name})
        assert (result.success, result.reason) == (False, "ARGUMENTS_INVALID")
        assert f'"{name}"' in result.error


@pytest.mark.parametrize("value", [[], {}, None, ["x"]])
async def test_wrong_types_are_refused(bench: Bench, value: object) -> None:
    """An argument of a wrong type is refused with its path."""
    properties = bench.spec.input_schema["properties"]
    assert isinstance(properties, dict)
    for name, schema in properties.items():
        if CompiledSchema({"type": "object", "properties": {name: schema}}).problems({name: value}) == ():
            continue  # it is of the right type
        result = await bench.call({**(bench.spec.example or {}), name: value})
        assert (result.success, result.reason) == (False, "ARGUMENTS_INVALID")
        assert f"/{name}" in result.error


async def test_arguments_written_by_a_model_are_bounded(bench: Bench) -> None:
    """Every text and list that a model may write as an argument has a largest length."""
    for schema in schemas_in(bench.spec.input_schema):
        if schema.get("type") == "string":
            assert "maxLength" in schema or "enum" in schema or "const" in schema
        if schema.get("type") == "array":
            assert "maxItems" in schema


async def test_schemas_keep_to_the_core(bench: Bench) -> None:
    """Schemas use only what every engine enforces, without references, closed, in both directions."""
    for schema in (*schemas_in(bench.spec.input_schema), *schemas_in(bench.spec.output_schema)):
        assert set(schema) <= CORE_KEYWORDS
        if "properties" in schema:
            assert schema["additionalProperties"] is False
        if "pattern" in schema:
            assert not {"minLength", "maxLength"} & set(schema)


async def test_description_is_short_and_plain(bench: Bench) -> None:
    """A description is one sentence that a small model can read, with no arithmetic to copy."""
    description = bench.spec.description
    assert len(description) < 95
    assert description.endswith(".")
    assert "\n" not in description
    assert not any(character.isdigit() for character in description)


async def test_cancelled_call_ends(bench: Bench) -> None:
    """Cancelling a call ends it at once, and the next call of the same tool works, or was done."""
    assert bench.spec.example is not None
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(bench.call, bench.spec.example)
            await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
    result = await bench.call(bench.spec.example)
    assert result.success or result.reason == "FACT_NOT_FOUND", result.error


async def test_repeated_calls_repeat_their_output(bench: Bench) -> None:
    """The same call of a tool without effects gives the same output again, as long as nothing changes in between."""
    assert bench.spec.example is not None
    if bench.spec.recovery is not Recovery.RERUN:
        return
    first, second = [await bench.call(bench.spec.example) for _ in range(2)]
    assert first.data == second.data


async def test_arguments_are_left_alone(bench: Bench) -> None:
    """A call changes nothing of the arguments that it was given."""
    arguments = dict(bench.spec.example or {})
    before = canonical_json(arguments)
    await bench.call(arguments)
    assert canonical_json(arguments) == before


async def test_effects_can_be_recovered_from(bench: Bench) -> None:
    """No built-in tool leaves a person to decide after a crash: it is harmless to repeat or can be asked."""
    assert bench.spec.recovery in (Recovery.RERUN, Recovery.RECONCILE)
    assert (bench.spec.effect in (Effect.WRITE_CONTAINED, Effect.MEMORY)) is (bench.spec.name in CHANGING)


async def test_done_work_is_recognised(bench: Bench) -> None:
    """A tool with effects tells, after its call, the very result that the call gave."""
    if bench.spec.recovery is Recovery.RERUN:
        return
    call = ToolCall(bench.spec.name, bench.spec.example or {}, "call1")
    assert await bench.invoker.reconcile(call, bench.context) is None
    done = await bench.invoker.invoke(call, bench.context)
    recalled = await bench.invoker.reconcile(call, bench.context)
    assert recalled is not None
    assert recalled.data == done.data
