"""Immediate work in the real loop: its guarantees for any plan and crash."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aeond.domain.plans.plan import Plan, PlanStep, StepState
from aeond.domain.policy import CallFacts, DecidedCall, Decision, Verdict
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Budget
from aeond.domain.runs.run import RunSnapshot, RunState
from aeond.domain.tools import Effect, ToolCall, ToolContext, ToolResult
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import StoreError, ToolError
from aeond.orchestration.execution.inline_executor import InlineExecutor
from aeond.ports.policy import Decided, ignore_decision
from tests.support.doubles import PlainInvoker, ScriptedTool
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.run_host import CHAIN, Host, plan, step

FATAL = "JOURNAL_FAILED"


@dataclass
class CountingJournal(InMemoryJournal):
    """Keeps what each append held, and dies instead of the append of that number."""

    dies_at: int = 0
    appends: list[tuple[e.EventKind, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    async def append(self, events: Sequence[e.Event]) -> None:
        if self.dies_at and len(self.appends) + 1 >= self.dies_at:
            raise StoreError("the process is gone", reason=FATAL)
        await super().append(events)
        self.appends.append(tuple(event.kind for event in events))

    def has_durable(self, step_id: str, kind: type[e.StepStarted | e.StepEnded]) -> bool:
        return any(
            isinstance(each, kind)
            and (each.step.step_id if isinstance(each, e.StepStarted) else each.step_id) == step_id
            for append in self.appends
            for each in append
        )


@dataclass
class Laboratory:
    """A host whose tools compute, read or write; their effects survive its crashes."""

    journal: CountingJournal = field(default_factory=CountingJournal)
    computed: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)

    def host(self, *, at_once: bool = True) -> Host:
        tools = {
            "compute": ScriptedTool("compute", computed=self.compute),
            "look": ScriptedTool("look"),
            "write": ScriptedTool("write", self.write, Effect.WRITE_CONTAINED, idempotent=True),
        }
        host = Host(tools=tools, journal=self.journal)
        if at_once:
            host.immediate = InlineExecutor(PlainInvoker(tools), host.clock)
        return host

    def compute(self, arguments: JsonObject, context: ToolContext) -> JsonValue:
        self.computed.append(context.step_id)
        return dict(arguments)

    async def write(self, arguments: JsonObject, context: ToolContext) -> JsonValue:
        """Fails unless all that it may rest on is on disk: its own intent, and the end of what it waits for."""
        assert self.journal.has_durable(context.step_id, e.StepStarted)
        needed = arguments["needs"]
        assert isinstance(needed, list | tuple)
        assert all(self.journal.has_durable(str(step_id), e.StepEnded) for step_id in needed)
        self.written.append(context.step_id)
        return {"written": context.step_id}


def computing(*depends_on: str, step_id: str) -> PlanStep:
    return step(step_id, *depends_on, tool="compute")


@st.composite
def mixed_plans(draw: st.DrawFn) -> Plan:
    """Up to seven steps of every kind of tool, each waiting for some of those planned before it."""
    steps = []
    for index in range(draw(st.integers(1, 7))):
        earlier = [f"s{n}" for n in range(index)]
        needs = tuple(draw(st.lists(st.sampled_from(earlier), unique=True, max_size=3))) if earlier else ()
        tool = draw(st.sampled_from(("compute", "compute", "look", "write")))
        call = ToolCall(tool, {"value": f"s{index}", "needs": list(needs)})
        steps.append(PlanStep(f"s{index}", "a step", call, depends_on=needs))
    return Plan("a goal", tuple(steps))


def said(run: RunSnapshot) -> tuple[RunState, object, dict[str, tuple[StepState, JsonValue]]]:
    assert run.answer is not None
    return run.state, run.answer.step_ids, {s.step_id: (s.state, s.output) for s in run.steps.values()}


async def test_computing_steps_share_one_commit_with_the_end_of_the_run() -> None:
    """The start of the run is durable first; a chain that only computes is then one append, with its
    answer."""
    lab = Laboratory()
    host = lab.host()
    await host.create(plan(*(computing(*s.depends_on, step_id=s.step_id) for s in CHAIN)))
    run = await host.work()
    assert run.state is RunState.SUCCEEDED
    begun, done = lab.journal.appends[1:]
    assert [type(kind) for kind in begun] == [e.RunStarted, e.PassStarted, e.StepStarted]
    assert [type(kind) for kind in done] == [
        *(e.StepEnded, e.StepStarted, e.StepEnded, e.StepStarted, e.StepEnded),
        *(e.PassEnded, e.AnswerStarted, e.AnswerComposed, e.RunEnded),
    ]
    assert host.feed.events == (await host.events())[1:]


async def test_nothing_is_computed_before_the_run_is_known_to_have_begun() -> None:
    """A tool that brings the daemon down is met by a journal that says so: the run is resumed and counted."""
    lab = Laboratory()
    host = lab.host()
    await host.create(plan(computing(step_id="s1")))
    lab.journal.dies_at = 2
    with pytest.RaisesGroup(StoreError, allow_unwrapped=True):
        await host.work()
    assert lab.computed == []


async def test_a_turn_computes_for_a_moment_only() -> None:
    """Tools that take their time are waited for from then on, so that others get their turn."""
    lab = Laboratory()
    host = lab.host()

    def slowly(arguments: JsonObject, context: ToolContext) -> JsonValue:
        host.clock.advance(0.006)
        return lab.compute(arguments, context)

    host.tools["compute"].computed = slowly
    await host.create(plan(*(computing(*([f"s{n - 1}"] if n else []), step_id=f"s{n}") for n in range(8))))
    run = await host.work()
    assert run.state is RunState.SUCCEEDED
    ends = [sum(isinstance(kind, e.StepEnded) for kind in append) for append in lab.journal.appends]
    assert sum(ends) == 8
    assert max(ends) == 3  # the one that was waited for, and two of 6 ms


@dataclass
class DecidingInvoker(PlainInvoker):
    """Records a decision about each call."""

    async def invoke(
        self, call: ToolCall, context: ToolContext, decided: Decided = ignore_decision
    ) -> ToolResult:
        decided(self.decision(call))
        return await super().invoke(call, context)

    def compute(
        self, call: ToolCall, context: ToolContext, decided: Decided = ignore_decision
    ) -> ToolResult | None:
        decided(self.decision(call))
        return super().compute(call, context)

    @staticmethod
    def decision(call: ToolCall) -> DecidedCall:
        facts = CallFacts(call.tool, Effect.PURE, call.arguments)
        return DecidedCall(facts, Decision(Verdict.ALLOW, "profile", "", "v1"))


@pytest.mark.parametrize("fails", [False, True])
async def test_a_run_has_the_same_events_however_long_its_steps_compute(fails: bool) -> None:
    """The journal of a chain that computes does not depend on whether its turns had time for the steps."""
    journals: list[list[e.EventKind]] = []
    for seconds in (0.0, 0.02):
        host = Laboratory().host()

        def compute(
            arguments: JsonObject, _: ToolContext, host: Host = host, took: float = seconds
        ) -> JsonValue:
            host.clock.advance(took)
            if fails:
                raise ToolError("not today", reason="REFUSED")
            return dict(arguments)

        host.tools["compute"].computed = compute
        host.invoker = DecidingInvoker(host.tools)
        host.immediate = InlineExecutor(host.invoker, host.clock)
        await host.create(plan(*(computing(*s.depends_on, step_id=s.step_id) for s in CHAIN)))
        await host.work()
        kinds = (event.kind for event in await host.events())
        journals.append(
            [replace(k, duration_seconds=0.0) if isinstance(k, e.StepEnded) else k for k in kinds]
        )
    assert journals[0] == journals[1]
    assert sum(isinstance(kind, e.PolicyDecided) for kind in journals[0]) == fails


@settings(max_examples=40, deadline=None)
@given(mixed_plans(), st.integers(2, 12))
def test_a_crash_at_any_append_changes_no_end(given_plan: Plan, crash: int) -> None:
    """Whatever append a crash takes along, the run ends as it does when every step is waited for: no finished
    step runs again, and nothing with an effect runs before all that it rests on is durable."""
    anyio.run(_crash_and_compare, given_plan, crash)


async def _crash_and_compare(given_plan: Plan, crash: int) -> None:
    patient, lab = Laboratory(), Laboratory()
    await patient.host(at_once=False).create(given_plan, AMPLE)
    expected = said(await patient.host(at_once=False).work())
    await lab.host().create(given_plan, AMPLE)
    lab.journal.dies_at = crash
    run = None
    try:
        run = await lab.host().work()
    except* StoreError:
        lab.journal.dies_at = 0
    if run is None:
        before = {
            kind.step_id for append in lab.journal.appends for kind in append if isinstance(kind, e.StepEnded)
        }
        lab.computed.clear()
        begun = len(lab.journal.appends) > 1
        run = await lab.host().work(*([e.RunResumed()] if begun else []))
        assert not before & set(lab.computed)
    assert said(run) == expected
    assert run.crashes <= 1


AMPLE = Budget(ttl=100, llm_calls=100, tokens=10**6, tool_calls=100)
