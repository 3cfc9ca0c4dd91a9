"""The tools remember, recall and forget."""

import json
from dataclasses import replace
from typing import Any

import pytest

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.tools.facts.memory_tools import (
    MAX_LISTED,
    MAX_LISTED_BYTES,
    MAX_RECALLED,
    content_id,
    memory_tools,
)
from aeond.domain.facts import FactSource
from aeond.domain.tools import RecordedEffect, Recovery, ToolCall, ToolResult
from aeond.domain.undo import ChangeKind
from aeond.ports.embedding import Embedder
from tests.support.doubles import ManualClock
from tests.support.memory import InMemoryMemory
from tests.support.tools import CONTEXT, invoker_of
from tests.support.undo import InMemoryUndoLog
from tests.unit.capabilities.tools.facts.test_same_fact import OneMeaning


class Bench:
    """The tools over a memory and an undo log of their own."""

    def __init__(self, embedder: Embedder | None = None, *, undo: bool = True) -> None:
        self.memory = InMemoryMemory()
        self.undo = InMemoryUndoLog()
        tools = memory_tools(
            self.memory, ManualClock(), embedder or NoEmbedder(), self.undo if undo else None
        )
        self.tools = {tool.spec.name: tool for tool in tools}
        self.specs = [tool.spec for tool in tools]
        self.invoker = invoker_of(*tools)

    async def use(self, tool: str, **arguments: Any) -> ToolResult:
        return await self.invoker.invoke(ToolCall(tool, arguments, "call1"), CONTEXT)

    async def said(self, tool: str, **arguments: Any) -> str:
        data = (await self.use(tool, **arguments)).data
        assert isinstance(data, dict)
        return str(data["result"])

    async def found(self, text: str = "") -> dict[str, Any]:
        data = (await self.use("recall", text=text)).data
        assert isinstance(data, dict)
        return {entry["key"]: entry["value"] for entry in data["facts"]}


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.mark.parametrize("value", ["Paris", "", 420, -1.5, True, False, 0])
async def test_a_value_is_remembered_with_its_type(bench: Bench, value: object) -> None:
    """A text, number or truth value is stored and recalled as it was given."""
    result = await bench.use("remember", key="trip", value=value)
    assert result.success
    assert result.effects == (
        RecordedEffect(
            "fact.remembered", "trip", str(value) if isinstance(value, str) else json.dumps(value)
        ),
    )
    recalled = (await bench.found("trip"))["trip"]
    assert (recalled, type(recalled)) == (value, type(value))


async def test_an_update_stays_one_fact(bench: Bench) -> None:
    """A key in another form updates the fact under its first key, and the result shows both values."""
    assert await bench.said("remember", key="gate_code", value="7714") == "gate code = 7714"
    for key in ("gate code", "Gate Code", "GATE-CODE"):
        await bench.use("remember", key="gate code", value="7714")
        result = await bench.use("remember", key=key, value="9021")
        assert result.data == {"result": "gate code = 9021, before 7714"}
        assert result.effects == (RecordedEffect("fact.changed", "gate code", "before 7714"),)
    assert await bench.memory.search("") == [("gate code", "9021")]


async def test_the_same_value_changes_nothing(bench: Bench) -> None:
    """Remembering a known fact is no change and records none."""
    await bench.memory.write("shoe size", 42)
    result = await bench.use("remember", key="Shoe size", value="42")
    assert (result.data, result.effects) == ({"result": "shoe size = 42 already"}, ())
    assert await bench.undo.latest([CONTEXT.run_id]) is None


async def test_other_words_update_the_one_fact_that_is_meant() -> None:
    """A key in other words updates the only fact that it can mean; of two it changes neither and names them."""
    bench = Bench(OneMeaning())
    await bench.memory.write("gate code", 7714)
    assert await bench.said("remember", key="code of the gate", value=9021) == "gate code = 9021, before 7714"
    for key in ("the boat name", "name of a boat"):
        await bench.memory.write(key, "Ida")
    said = await bench.said("remember", key="boat name", value="Mo")
    assert said == "boat name = Mo; similar: name of a boat, the boat name"
    assert await bench.memory.read("the boat name") == "Ida"


async def test_a_similar_fact_is_named_and_kept(bench: Bench) -> None:
    """A key that only resembles others makes a new fact and names at most three of them."""
    for key in ("gate code", "garage code", "old gate code"):
        await bench.memory.write(key, 1)
    assert (
        await bench.said("remember", key="new gate code", value=2) == "new gate code = 2; similar: gate code"
    )
    assert await bench.memory.read("gate code") == 1


async def test_recall_gives_the_facts_that_fit(bench: Bench) -> None:
    """Facts with the words of the text are given, the best first and no more than a few; others are left out."""
    for key, value in (("wifi password", "blue"), ("Anna's birthday", "14 March"), ("boat", {"length": 6.4})):
        await bench.memory.write(key, value)
    assert await bench.found("when is Anna's birthday?") == {"Anna's birthday": "14 March"}
    assert await bench.found("boat length") == {"boat": {"length": 6.4}}
    for number in range(20):
        await bench.memory.write(f"door {number}", number)
    assert len(await bench.found("door")) == MAX_RECALLED


async def test_recall_says_what_there_is(bench: Bench) -> None:
    """Where no fact fits the keys are named; an empty text lists everything, also when there is nothing."""
    empty = await bench.use("recall")
    assert empty.data == {"facts": [], "truncated": False, "note": "nothing is remembered"}
    await bench.memory.write("boat", "Ida")
    await bench.memory.write("car", None)
    result = await bench.use("recall", text="xylophone")
    assert isinstance(result.data, dict)
    assert result.data["note"] == "no fact fits; remembered: boat, car"
    assert await bench.found("  ") == {"boat": "Ida", "car": None}


async def test_a_list_is_bounded(bench: Bench) -> None:
    """More facts than fit, in number or size, are cut, and the result says so."""
    for number in range(MAX_LISTED + 1):
        await bench.memory.write(f"key{number:03}", number)
    result = await bench.use("recall")
    assert isinstance(result.data, dict)
    assert (len(result.data["facts"]), result.data["truncated"]) == (MAX_LISTED, True)
    for number in range(3):
        await bench.memory.write(f"key{number:03}", "x" * (MAX_LISTED_BYTES // 2))
    result = await bench.use("recall")
    assert isinstance(result.data, dict)
    assert (len(result.data["facts"]), result.data["truncated"]) == (1, True)


async def test_a_fact_is_forgotten_by_its_name_in_any_form(bench: Bench) -> None:
    """Forgetting deletes the fact and records the effect."""
    await bench.memory.write("locker number", 118)
    result = await bench.use("forget", key="Locker_Number")
    assert result.data == {"result": "forgot locker number"}
    assert result.effects == (RecordedEffect("fact.forgotten", "locker number", "before 118"),)
    assert await bench.memory.search("") == []


async def test_an_unknown_key_forgets_nothing(bench: Bench) -> None:
    """A key that matches no fact fails with keys that exist, nearest first, even if one is spelt almost so."""
    await bench.memory.write("Daniela's birthday", 1)
    await bench.memory.write("boat", 1)
    result = await bench.use("forget", key="Daniel's birthday")
    assert (result.success, result.reason) == (False, "FACT_NOT_FOUND")
    assert result.metadata["candidates"] == ["Daniela's birthday", "boat"]
    assert len(await bench.memory.search("")) == 2


async def test_changes_are_recorded_before_they_are_made(bench: Bench) -> None:
    """The undo log has the value from before, the key and an id of the value after; a new fact has no value before."""
    await bench.use("remember", key="code", value=1)
    change = await bench.undo.latest([CONTEXT.run_id])
    assert change is not None
    assert (change.kind, change.path, change.before, change.after) == (
        ChangeKind.FACT,
        "code",
        None,
        content_id(1),
    )
    await bench.use("remember", key="Code", value=2)
    (change,) = await bench.undo.find(CONTEXT.run_id, CONTEXT.step_id, CONTEXT.call_id)
    assert (change.path, change.before, change.after) == ("code", b"1", content_id(2))
    await bench.use("forget", key="code")
    (change,) = await bench.undo.find(CONTEXT.run_id, CONTEXT.step_id, CONTEXT.call_id)
    assert (change.before, change.after) == (b"2", "")


async def test_a_value_too_large_for_the_log_is_not_kept() -> None:
    """A change whose old value exceeds the undo log is recorded as one that cannot be undone."""
    bench = Bench()
    bench.undo = InMemoryUndoLog(4)
    bench.invoker = invoker_of(*memory_tools(bench.memory, ManualClock(), NoEmbedder(), bench.undo))
    await bench.memory.write("motto", "slow and steady")
    await bench.use("remember", key="motto", value="fast")
    (change,) = await bench.undo.find(CONTEXT.run_id, CONTEXT.step_id, CONTEXT.call_id)
    assert (change.before, change.kept) == (None, False)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("remember", {"key": "fact", "value": 2}),
        ("remember", {"key": "new", "value": 2}),
        ("forget", {"key": "fact"}),
    ],
)
async def test_interrupted_calls_are_reconciled(bench: Bench, tool: str, arguments: dict[str, Any]) -> None:
    """After a crash a call that changed the memory gives its result and effects again, any other does not."""
    await bench.memory.write("fact", 1)
    call = ToolCall(tool, arguments, "call1")
    assert {spec.name: spec.recovery for spec in bench.specs}[tool] is Recovery.RECONCILE
    assert await bench.invoker.reconcile(call, CONTEXT) is None
    done = await bench.invoker.invoke(call, CONTEXT)
    recalled = await bench.invoker.reconcile(call, CONTEXT)
    assert recalled is not None
    assert (recalled.data, recalled.effects) == (done.data, done.effects)
    await bench.memory.write(arguments["key"], "changed since")
    assert await bench.invoker.reconcile(call, CONTEXT) is None


async def test_without_a_log_a_write_is_recognised_by_its_value() -> None:
    """With no undo log a fact that has the value counts as written, and forgetting is repeated."""
    bench = Bench(undo=False)
    call = ToolCall("remember", {"key": "fact", "value": 1}, "call1")
    assert await bench.invoker.reconcile(call, CONTEXT) is None
    await bench.invoker.invoke(call, CONTEXT)
    recalled = await bench.invoker.reconcile(call, CONTEXT)
    assert recalled is not None
    assert recalled.data == {"result": "fact = 1"}
    forget = ToolCall("forget", {"key": "fact"}, "call1")
    assert (await bench.invoker.invoke(forget, CONTEXT)).success
    assert await bench.invoker.reconcile(forget, CONTEXT) is None


async def test_keys_are_proposed(bench: Bench) -> None:
    """The keys that exist are proposed for forgetting, those nearest to the request first."""
    for key in ("boat", "wifi password", "gate code"):
        await bench.memory.write(key, 1)
    proposed = await bench.invoker.candidates("forget", "key", CONTEXT, 10, "the code of the gate is old")
    assert proposed[0] == "gate code"
    assert len(proposed) == 3


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("remember", {"key": "fact", "value": None}),
        ("remember", {"key": "fact", "value": [1]}),
        ("remember", {"key": "fact", "value": {"a": 1}}),
        ("remember", {"key": "fact", "value": "x" * 5_000}),
        ("remember", {"key": "", "value": 1}),
        ("remember", {"key": "x" * 300, "value": 1}),
        ("forget", {"key": ""}),
        ("recall", {"text": "x" * 5_000}),
    ],
)
async def test_other_arguments_are_refused(bench: Bench, tool: str, arguments: dict[str, Any]) -> None:
    """Lists, objects, null, long texts and empty or long keys are not accepted."""
    assert (await bench.use(tool, **arguments)).reason == "ARGUMENTS_INVALID"


async def test_long_values_are_shown_in_short(bench: Bench) -> None:
    """A sentence about a long value shows its beginning only."""
    said = await bench.said("remember", key="poem", value="roses\nare red " * 50)
    assert said.startswith("poem = roses are red roses")
    assert len(said) < 140


async def test_each_user_has_facts_of_its_own(bench: Bench) -> None:
    """Remembering, recalling and forgetting touch only the facts of the user of the call's run."""
    theirs = replace(CONTEXT, uid=5)
    await bench.use("remember", key="colour", value="green")
    assert (await bench.invoker.invoke(ToolCall("recall", {}, "call2"), theirs)).data == {
        "facts": [],
        "truncated": False,
        "note": "nothing is remembered",
    }
    assert not (await bench.invoker.invoke(ToolCall("forget", {"key": "colour"}, "call3"), theirs)).success
    await bench.invoker.invoke(ToolCall("remember", {"key": "colour", "value": "red"}, "call4"), theirs)
    assert await bench.found() == {"colour": "green"}
    assert await bench.memory.of(5).read("colour") == "red"


async def test_calls_of_two_users_with_one_id_are_apart(bench: Bench) -> None:
    """A direct call finds neither the change nor the similar keys of another user's call with the same id."""
    first, second = (replace(CONTEXT, run_id="", step_id="", uid=uid) for uid in (5, 6))
    await bench.memory.of(5).write("gate code", 1)
    call = ToolCall("remember", {"key": "new gate code", "value": 2}, "call1")
    await bench.tools["remember"].targets(call.arguments, first)
    assert (await bench.invoker.invoke(call, second)).data == {"result": "new gate code = 2"}
    await bench.memory.of(5).write("new gate code", 2)
    assert await bench.invoker.reconcile(call, first) is None
    assert await bench.invoker.reconcile(call, second) is not None


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("remember", {"key": "tip", "value": "sell"}),
        ("remember", {"key": "tip", "value": "buy"}),
        ("remember", {"key": "new tip", "value": "sell"}),
        ("forget", {"key": "tip"}),
    ],
    ids=["replaced value", "same value", "similar key", "forgotten key"],
)
async def test_an_untrusted_fact_that_a_change_shows_taints(
    bench: Bench, tool: str, arguments: dict[str, Any]
) -> None:
    """A result that shows the key or value of an untrusted fact names its sources; one of trusted facts names none."""
    for source, taint in ((("file:/x",), ("file:/x", "memory:tip")), ((), ())):
        await bench.memory.write("tip", "buy", FactSource("run0", source))
        assert (await bench.use(tool, **arguments)).taint == taint
        await bench.memory.delete("new tip")


@pytest.mark.parametrize(
    ("tool", "arguments", "taint"),
    [
        ("remember", {"key": "tip", "value": "sell"}, ("file:/x", "memory:tip")),
        ("forget", {"key": "tip"}, ("file:/x", "memory:tip")),
        ("remember", {"key": "motto", "value": "fast"}, ()),
        ("remember", {"key": "boat", "value": "Ida"}, ()),
    ],
)
async def test_a_reconciled_change_taints_by_what_it_replaced(
    bench: Bench, tool: str, arguments: dict[str, Any], taint: tuple[str, ...]
) -> None:
    """After a crash the result names the sources of the fact that the change replaced."""
    await bench.memory.write("tip", "buy", FactSource("run0", ("file:/x",)))
    await bench.memory.write("motto", "slow")
    await bench.use(tool, **arguments)
    recalled = await bench.invoker.reconcile(ToolCall(tool, arguments, "call1"), CONTEXT)
    assert recalled is not None
    assert recalled.taint == taint


async def test_a_replaced_fact_of_unknown_source_is_untrusted(bench: Bench) -> None:
    """A change that was recorded without the source of the replaced fact taints as an untrusted fact does."""
    await bench.memory.write("tip", "buy")
    await bench.use("remember", key="tip", value="sell")
    (change,) = await bench.undo.find(CONTEXT.run_id, CONTEXT.step_id, CONTEXT.call_id)
    await bench.undo.record(replace(change, source=None))
    call = ToolCall("remember", {"key": "tip", "value": "sell"}, "call1")
    recalled = await bench.invoker.reconcile(call, CONTEXT)
    assert recalled is not None
    assert recalled.taint == ("memory:tip",)


async def test_untrusted_keys_are_proposed_only_to_tainted_runs(bench: Bench) -> None:
    """With an untrusted fact among them no keys are proposed, also not by an error, unless the run is tainted."""
    await bench.memory.write("boat", 1)
    await bench.memory.write("tip", "buy", FactSource("run0", ("file:/x",)))
    assert await bench.invoker.candidates("forget", "key", CONTEXT, 10) == ()
    assert "tip" not in (await bench.use("forget", key="motto")).error
    tainted = replace(CONTEXT, taint=("file:/y",))
    assert set(await bench.invoker.candidates("forget", "key", tainted, 10)) == {"boat", "tip"}
