"""How long a run takes on a clock that only moves when everybody waits: counted, not measured."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import anyio
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message, Role
from aeond.domain.outcome import Outcome, success
from aeond.domain.plans.plan import Plan, PlanStep, StepState
from aeond.domain.runs.budgets import Amounts, Budget, Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import ToolCall, ToolContext
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import ToolError
from aeond.ports import StepOutput, TextSink
from tests.support.doubles import FixedReasoner, ManualClock, ScriptedTool
from tests.support.run_host import Host

TOLERANCE = 1.10
QUIET_TURNS = 50  # of the event loop; a step's end and the next one's beginning are fewer apart
AMPLE = Budget(ttl=100, llm_calls=300, tokens=10**7, tool_calls=100)


class VirtualClock(ManualClock):
    """Jumps to the next awaited time once all tasks are waiting."""

    def __init__(self) -> None:
        super().__init__(0.0)
        self._awaited: list[float] = []

    async def sleep_until(self, monotonic_seconds: float) -> None:
        self._awaited.append(monotonic_seconds)
        await super().sleep_until(monotonic_seconds)

    async def run(self, host: Host, until: float) -> None:
        while True:
            await self._settled(host)
            coming = [moment for moment in self._awaited if self.now < moment < until]
            if not coming:
                return
            self.advance(min(coming) - self.now)

    async def _settled(self, host: Host) -> None:
        """Returns once no event was recorded and no task went to sleep for many iterations of the event
        loop."""
        seen, quiet = (-1, -1), 0
        while quiet < QUIET_TURNS:
            await checkpoint()
            now = (len(host.feed.events), len(self._awaited))
            seen, quiet = now, quiet + 1 if now == seen else 0


@dataclass
class ScriptedReasoner(FixedReasoner):
    """Steps of an agent are asked of a scripted model, which takes its time."""

    clock: VirtualClock = field(default_factory=VirtualClock)
    seconds: Mapping[str, int] = field(default_factory=dict)

    async def reason(
        self, step: PlanStep, snapshot: RunSnapshot, grant: Grant, on_text: TextSink
    ) -> Outcome[StepOutput | None]:
        await self.clock.sleep_until(self.clock.now + self.seconds[step.step_id])
        llm = ScriptedLLM(Script(rules=(Rule(text="thought about it"),)))
        said = await llm.generate(LLMRequest((Message(Role.USER, step.description),)))
        grant.take(Amounts(llm_calls=1, tokens=said.usage.total_tokens))
        return success(StepOutput(said.text))


@dataclass(frozen=True)
class Work:
    """A plan, how long each step takes, and which ones fail at the end of that."""

    plan: Plan
    seconds: Mapping[str, int]
    failing: frozenset[str] = frozenset()

    def begins(self, step: PlanStep) -> int:
        """When it could begin at best."""
        return max((self.ends(name) for name in step.depends_on), default=0)

    def ends(self, step_id: str) -> int:
        return self.begins(self.plan.step(step_id)) + self.seconds[step_id]

    def lost(self, step: PlanStep) -> bool:
        """Whether something that it waits for fails."""
        return any(name in self.failing or self.lost(self.plan.step(name)) for name in step.depends_on)

    @property
    def critical_path(self) -> int:
        """How long it takes at best: the longest chain of what runs at all."""
        return max(self.ends(step.step_id) for step in self.plan if not self.lost(step))

    @property
    def total(self) -> int:
        return sum(self.seconds[step.step_id] for step in self.plan if not self.lost(step))


@st.composite
def works(draw: st.DrawFn, *, failures: bool = False) -> Work:
    """Up to twelve steps, tools and tasks for the model, each waiting for some of those before it."""
    ids = [f"s{n}" for n in range(1, draw(st.integers(1, 12)) + 1)]
    steps = []
    for index, step_id in enumerate(ids):
        waits = draw(st.lists(st.sampled_from(ids[:index]), unique=True, max_size=3)) if index else []
        call = ToolCall("work", {"step": step_id}) if draw(st.booleans()) else None
        agent = None if call else "llm"
        steps.append(PlanStep(step_id, "a step", call, agent, depends_on=tuple(waits)))
    seconds = {step_id: draw(st.integers(1, 60)) for step_id in ids}
    tools = [step.step_id for step in steps if step.tool_call]
    failing = draw(st.sets(st.sampled_from(tools))) if failures and tools else set()
    return Work(Plan("a goal", tuple(steps)), seconds, frozenset(failing))


async def worked(work: Work, parallel_steps: int) -> tuple[RunSnapshot, float]:
    """The run as it ended, and the virtual seconds that it took."""
    clock = VirtualClock()

    async def take_time(arguments: JsonObject, context: ToolContext) -> JsonValue:
        await clock.sleep_until(clock.now + work.seconds[context.step_id])
        if context.step_id in work.failing:
            raise ToolError("it did not work")
        return dict(arguments)

    host = Host(tools={"work": ScriptedTool("work", take_time)}, clock=clock)
    host.reasoner = ScriptedReasoner(clock=clock, seconds=work.seconds)
    await host.create(work.plan, AMPLE, parallel_steps)
    loop = await host.loop()
    ended: list[RunSnapshot] = []

    async def execute() -> None:
        ended.append(await loop.execute())

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(execute)
            await clock.run(host, until=AMPLE.wall_seconds)
    return ended[0], clock.now


@given(works())
def test_a_run_takes_as_long_as_its_critical_path(work: Work) -> None:
    """With room for all ready steps a run takes at most a tenth longer than its longest chain."""
    run, seconds = anyio.run(worked, work, 12)
    assert {step.state for step in run.steps.values()} == {StepState.SUCCEEDED}
    assert work.critical_path <= seconds <= work.critical_path * TOLERANCE


@given(works(), st.integers(1, 4))
def test_a_limit_costs_no_more_than_it_must(work: Work, limit: int) -> None:
    """With a limit no place stays empty while a step is ready: the bound of any list schedule holds."""
    _, seconds = anyio.run(worked, work, limit)
    bound = work.critical_path + (work.total - work.critical_path) / limit
    assert max(work.critical_path, work.total / limit) <= seconds <= bound * TOLERANCE


@given(works(failures=True))
def test_failures_do_not_stop_siblings(work: Work) -> None:
    """Only what waits for a failed step is skipped; everything else runs, and nothing takes longer for it."""
    run, seconds = anyio.run(worked, work, 12)
    for step in work.plan:
        state = run.steps[step.step_id].state
        if work.lost(step):
            assert state is StepState.SKIPPED
        elif step.step_id in work.failing:
            assert state is StepState.FAILED
        else:
            assert state is StepState.SUCCEEDED
    assert work.critical_path <= seconds <= work.critical_path * TOLERANCE
