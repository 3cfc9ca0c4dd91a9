"""Whole runs under an adversary: the real kernel and orchestration, and a ledger of what really happened."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random

import anyio
from anyio.lowlevel import checkpoint

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.llm.agent import LLMAgent
from aeond.capabilities.tools.invoker import GuardedInvoker
from aeond.capabilities.tools.registry import Registry
from aeond.domain.outcome import Outcome, success
from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.plans.subtasks import ChildRun, SubtaskRequest, Template
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts, Budget, BudgetRequest
from aeond.domain.runs.questions import InputRequest
from aeond.domain.runs.run import Ancestry, Owner, RunRequest, RunSnapshot, RunState
from aeond.domain.tools import Effect, ToolContext
from aeond.domain.values import JsonObject
from aeond.errors import ToolError
from aeond.kernel.executor import StepExecutor
from aeond.kernel.orchestrator import Orchestrator, RunPorts
from aeond.orchestration.assembly import phases_over
from aeond.orchestration.execution.agent_steps import AgentReasoner
from aeond.orchestration.execution.inline_executor import InlineExecutor
from aeond.orchestration.execution.intents import PreparedIntents
from aeond.orchestration.matching.text_ranking import TextRanking
from aeond.orchestration.planning.validator import PlanValidator
from aeond.orchestration.repair.step_repair import StepRepairer
from aeond.orchestration.repair.supervisor import Supervisor
from aeond.ports import ToolAnswer
from aeond.service.history.replays import Replay
from aeond.state_machine.decide import decide
from aeond.state_machine.fold import fold
from tests.support.adversary import Adversary
from tests.support.authorisers import AllowAll
from tests.support.doubles import ManualClock, RecordingFeed, ScriptedTool
from tests.support.folding import fold_all
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.journals import all_events
from tests.support.null_objects import AsSaid, NamedTemplates, NoSituations

PHASED = e.LOGIC_VERSION
DEADLINE_SECONDS = 30.0
ANSWERS_AT_MOST = 20


class AnyTemplate:
    """A library that has a template for everything."""

    def match(self, request: SubtaskRequest) -> Outcome[Template | None]:
        return success(
            Template(
                "anything", "does it", tools=("add", "delegate", "request_user_input"), budget=BudgetRequest()
            )
        )


class World:
    """Everything around one tree of runs."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.clock = ManualClock()
        self.adversary = Adversary(seed, self.clock)
        self.journal = InMemoryJournal()
        self.tool_calls = 0
        self.runs: list[str] = []
        self.names = count(1)
        registry = Registry()
        for tool in self._tools():
            registry.register(tool)
        validator = PlanValidator(registry, ("llm",))
        supervisor = Supervisor(self.adversary, validator)
        reasoner = AgentReasoner({"llm": LLMAgent(self.adversary)}, self.adversary)
        invoker = GuardedInvoker(registry, self.clock, AllowAll())
        self.ports = RunPorts(
            journal=self.journal,
            feed=RecordingFeed(),
            phases=phases_over(
                supervisor,
                registry,
                invoker,
                AsSaid(),
                NoSituations(),
                TextRanking(NoEmbedder()),
            ),
            intents=PreparedIntents(registry, reasoner, validator, AnyTemplate(), self),
            executor=StepExecutor(
                invoker=invoker,
                reasoner=reasoner,
                repairer=StepRepairer(registry, supervisor),
                clock=self.clock,
                children=self,
                subtasks=NamedTemplates(),
            ),
            immediate=InlineExecutor(invoker, self.clock),
            clock=self.clock,
        )

    # ------------------------------------------------------------ what the runs work with

    def new_id(self) -> str:
        return f"run-{next(self.names)}"

    async def run(
        self, child: ChildRun, parent: RunSnapshot, step_id: str, reserved: Amounts
    ) -> tuple[e.ChildRunEnded, e.StepEnded]:
        """Children: a child run is worked on here and now."""
        request = RunRequest(child.request.description, instructions=child.instructions, tools=child.tools)
        ancestry = Ancestry(parent.run_id, step_id, child.lineage)
        ended = await self.work(child.child_run_id, request, child.budget, ancestry)
        used = ended.ledger.used
        assert not used.exceeding(child.budget.amounts), f"{used} of {child.budget}"
        text = ended.answer.text if ended.answer else ""
        state = StepState.SUCCEEDED if ended.state is RunState.SUCCEEDED else StepState.FAILED
        step = e.StepEnded(step_id, state, StepMode.TOOL, output=text, used=used.at_most(reserved))
        return e.ChildRunEnded(step_id, child.child_run_id, ended.state, used), step

    async def work(self, run_id: str, request: RunRequest, budget: Budget, ancestry: Ancestry) -> RunSnapshot:
        """A run until it has ended or waits for ever; each question is answered, or lapses."""
        self.runs.append(run_id)
        created = e.RunCreated(request, budget, None, PHASED, ancestry)
        await self.journal.append([e.Event(run_id, 1, self.clock.time(), 0.0, created)])
        run = fold_all(RunSnapshot(run_id), await all_events(self.journal, run_id))
        for _ in range(ANSWERS_AT_MOST):
            loop = Orchestrator(run, self.ports)
            for question in run.questions:
                failed = e.StepEnded(
                    question.step_id, StepState.FAILED, StepMode.TOOL, reason="INPUT_TIMEOUT"
                )
                answered = e.InputAnswered(question.question_id, "anything", Owner())
                loop.deliver(self.chance.choice((failed, answered)))
            run = await loop.execute()
            if run.state is not RunState.AWAITING_INPUT:
                break
        return run

    def _tools(self) -> list[ScriptedTool]:
        def counting(
            work: Callable[[], Awaitable[ToolAnswer]],
        ) -> Callable[[JsonObject, ToolContext], Awaitable[ToolAnswer]]:
            async def called(_arguments: JsonObject, _context: ToolContext) -> ToolAnswer:
                self.tool_calls += 1
                return await work()

            return called

        async def add() -> ToolAnswer:
            return {"result": 1}

        async def fail() -> ToolAnswer:
            raise ToolError("it cannot be done")

        async def dawdle() -> ToolAnswer:
            await self.clock.sleep_until(self.clock.monotonic() + 50)
            return {"result": "late"}

        async def flood() -> ToolAnswer:
            return {"text": "x" * 200_000}

        async def request_user_input() -> ToolAnswer:
            return InputRequest("which?")

        async def delegate() -> ToolAnswer:
            return SubtaskRequest("do it for me", {"n": self.chance.randint(0, 3)}, ("anything",))

        delegating = self.chance.choice(list(Effect))
        effects = {"flood": Effect.READ, "dawdle": Effect.WRITE_OUTSIDE, "delegate": delegating}
        return [
            ScriptedTool(work.__name__, counting(work), effects.get(work.__name__, Effect.PURE))
            for work in (add, fail, dawdle, flood, request_user_input, delegate)
        ]


@dataclass(frozen=True)
class Ended:
    """How a tree of runs ended, and what it really cost."""

    run: RunSnapshot
    budget: Budget
    events: list[e.Event]
    calls: int
    tokens: int
    tool_calls: int
    runs: int = field(default=1)


async def adversarial_run(seed: int) -> Ended:
    """A run under the adversary of this seed, in time that passes whenever all wait."""
    world = World(seed)
    budget = _budget(Random(seed))
    request = RunRequest("Do something useful, if you please.", parallel_steps=1 + seed % 4)
    with anyio.fail_after(DEADLINE_SECONDS):
        async with anyio.create_task_group() as passing:

            async def pass_time() -> None:
                while True:
                    for _ in range(200):
                        await checkpoint()
                    world.clock.advance(5.0)

            passing.start_soon(pass_time)
            run = await world.work("run-0", request, budget, Ancestry())
            passing.cancel_scope.cancel()
    adversary = world.adversary
    events = await all_events(world.journal, "run-0")
    return Ended(run, budget, events, adversary.calls, adversary.tokens, world.tool_calls, len(world.runs))


def check(ended: Ended) -> None:
    """No dimension overshot, by the run's own ledger or by what really happened; an end with an answer, or
    a wait for a person; no step before what it depends on; a record that replays to itself."""
    used, limit = ended.run.ledger.used, ended.budget
    assert not used.exceeding(limit.amounts), f"{used} of {limit}"
    assert ended.calls <= limit.llm_calls, f"{ended.calls} calls of {limit.llm_calls}"
    assert ended.tokens <= limit.tokens, f"{ended.tokens} tokens of {limit.tokens}"
    assert ended.tool_calls <= limit.tool_calls, f"{ended.tool_calls} tool calls of {limit.tool_calls}"
    waits = ended.run.state in (RunState.AWAITING_INPUT, RunState.SUSPENDED)
    assert waits or (ended.run.state.ended and ended.run.answer is not None), ended.run.state
    assert sum(isinstance(event.kind, e.StepStarted) for event in ended.events) <= 3 * limit.ttl + 3
    replay = Replay(ended.run.run_id, decide, fold)
    assert [replay.next(event) for event in ended.events] == ended.events
    snapshot = RunSnapshot(ended.run.run_id)
    for event in ended.events:
        kind = event.kind
        if isinstance(kind, e.StepStarted):
            needed = kind.step.depends_on
            assert all(snapshot.steps[name].state is StepState.SUCCEEDED for name in needed), kind.step
        snapshot = fold(snapshot, event)


def _budget(chance: Random) -> Budget:
    """Bounds that are mostly tight."""
    return replace(
        Budget(),
        ttl=chance.randint(0, 20),
        llm_calls=chance.randint(0, 25),
        tokens=chance.choice((0, 500, 5_000, 40_000, 200_000)),
        tool_calls=chance.randint(0, 20),
        passes=chance.randint(0, 5),
        wall_seconds=chance.choice((1.0, 60.0, 900.0)),
        depth=chance.randint(0, 3),
    )
