"""One run with the ports that a daemon gives its loop, kept across restarts of the loop."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio

from aeond.domain.plans.plan import Plan, PlanStep
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Budget
from aeond.domain.runs.run import RunRequest, RunSnapshot
from aeond.domain.tools import ToolCall, ToolContext
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import StoreError
from aeond.kernel.executor import StepExecutor
from aeond.kernel.orchestrator import Orchestrator, RunPorts
from aeond.ports import ImmediateWork, ToolInvoker
from tests.support.doubles import (
    FixedPlanner,
    FixedReasoner,
    ManualClock,
    PlainAnswerer,
    PlainIntents,
    PlainInvoker,
    RecordingFeed,
    ScriptedChildren,
    ScriptedRepairer,
    ScriptedTool,
    phases,
)
from tests.support.folding import fold_all
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.journals import all_events
from tests.support.null_objects import AlwaysWait, NamedTemplates

DEADLINE_SECONDS = 60.0


class Gate:
    """A tool's work that begins, says so, and ends when it is let through."""

    def __init__(self) -> None:
        self.entered = anyio.Event()
        self.open = anyio.Event()

    async def pass_through(self, arguments: JsonObject, context: ToolContext) -> JsonValue:
        self.entered.set()
        await self.open.wait()
        return {"passed": context.step_id}


class FailingJournal(InMemoryJournal):
    """A journal whose appends fail from the n-th on, until it is repaired."""

    def __init__(self, fail_from: int, reason: str) -> None:
        super().__init__()
        self.left = fail_from
        self.reason = reason

    async def append(self, events: Sequence[e.Event]) -> None:
        self.left -= 1
        suspends = isinstance(events[0].kind, e.RunSuspended)
        if self.left < 0 and not (suspends and self.reason == "DISK_FULL"):
            raise StoreError("no more", reason=self.reason)
        await super().append(events)


@dataclass
class Host:
    """Everything around one run, kept over restarts of its loop."""

    tools: dict[str, ScriptedTool] = field(default_factory=lambda: {"echo": ScriptedTool("echo")})
    plan: Plan | None = None
    journal: InMemoryJournal = field(default_factory=InMemoryJournal)
    feed: RecordingFeed = field(default_factory=RecordingFeed)
    clock: ManualClock = field(default_factory=ManualClock)
    immediate: ImmediateWork = field(default_factory=AlwaysWait)
    answerer: PlainAnswerer = field(default_factory=PlainAnswerer)
    reasoner: FixedReasoner = field(default_factory=FixedReasoner)
    planner: FixedPlanner | None = None
    children: ScriptedChildren = field(default_factory=ScriptedChildren)
    invoker: ToolInvoker | None = None  # by default one that calls the tools
    repairer: ScriptedRepairer = field(default_factory=ScriptedRepairer)

    async def create(
        self, given: Plan | None = None, budget: Budget | None = None, parallel_steps: int = 4
    ) -> None:
        request = RunRequest("a request", parallel_steps=parallel_steps)
        await self.journal.append(
            [e.Event("run", 1, self.clock.time(), 0.0, e.RunCreated(request, budget or Budget(), given))]
        )

    async def events(self) -> list[e.Event]:
        return await all_events(self.journal, "run")

    async def loop(self) -> Orchestrator:
        """A loop as a daemon that has only the journal would make it."""
        executor = StepExecutor(
            invoker=self.invoker or PlainInvoker(self.tools),
            reasoner=self.reasoner,
            repairer=self.repairer,
            clock=self.clock,
            children=self.children,
            subtasks=NamedTemplates(),
        )
        ports = RunPorts(
            journal=self.journal,
            feed=self.feed,
            phases=phases(self.planner or FixedPlanner(self.plan), self.answerer),
            intents=PlainIntents(self.tools),
            immediate=self.immediate,
            executor=executor,
            clock=self.clock,
        )
        return Orchestrator(fold_all(RunSnapshot("run"), await self.events()), ports)

    async def work(self, *kinds: e.EventKind) -> RunSnapshot:
        loop = await self.loop()
        for kind in kinds:
            loop.deliver(kind)
        with anyio.fail_after(DEADLINE_SECONDS):
            return await loop.execute()


def step(step_id: str, *depends_on: str, tool: str = "echo") -> PlanStep:
    call = ToolCall(tool, {"value": step_id})
    return PlanStep(step_id, f"do {step_id}", tool_call=call, depends_on=depends_on)


def plan(*steps: PlanStep) -> Plan:
    return Plan("a goal", steps)


CHAIN = plan(step("s1"), step("s2", "s1"), step("s3", "s2"))
