"""The service layer over the real kernel, an in-memory journal and doubles of everything that thinks."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import anyio

from aeond.capabilities.llm.adapters.scripted import Script, ScriptedLLM
from aeond.capabilities.llm.external.scripted_engine import ScriptedEngine
from aeond.capabilities.policy.trust import Trust
from aeond.domain.outcome import Problem
from aeond.domain.plans.plan import Plan, PlanStep
from aeond.domain.plans.steps import StepMode
from aeond.domain.plans.subtasks import SubtaskRequest, Template
from aeond.domain.runs.budgets import Amounts, Budget
from aeond.domain.runs.events import ChildRunStarted, Event, StepEnded, StepStarted
from aeond.domain.runs.live_updates import LiveUpdate
from aeond.domain.runs.run import Caller, Owner, RunRequest, RunSnapshot, RunState
from aeond.domain.tools import ToolCall, ToolSpec
from aeond.domain.values import JsonObject
from aeond.kernel.executor import StepExecutor
from aeond.kernel.orchestrator import Orchestrator, RunPorts
from aeond.orchestration.execution.inline_executor import InlineExecutor
from aeond.orchestration.execution.intents import PreparedIntents
from aeond.orchestration.execution.planned_calls import PlannedCalls
from aeond.orchestration.execution.readiness import bound_arguments
from aeond.orchestration.interfaces import Templates
from aeond.orchestration.matching.template_choice import TemplateLibrary
from aeond.orchestration.planning.plan_parsing import in_order
from aeond.orchestration.planning.validator import PlanValidator
from aeond.ports import Journal, RunLoop, Tool
from aeond.ports.approvals import Preview
from aeond.ports.journal import RunRemoval
from aeond.ports.sessions import SessionStore
from aeond.service.approvals.decisions import ApprovalDecisions
from aeond.service.approvals.requests import ApprovalRequests, ApprovalRules
from aeond.service.folding import RunFolding, RunOwners
from aeond.service.history.deletion import RunDeletion
from aeond.service.history.forks import Forks
from aeond.service.history.replays import Replays
from aeond.service.history.undoing import RunUndo
from aeond.service.recovery.run_boundary import RunBoundary
from aeond.service.run_use_cases import Bounds, Runs
from aeond.service.runs.admission import Admission
from aeond.service.runs.answers import Answers
from aeond.service.runs.children import RunChildren
from aeond.service.runs.run_queue import RunLimits
from aeond.service.runs.scheduler import RunScheduler
from aeond.service.runs.tool_profiles import ToolProfiles
from aeond.service.runs.workspaces import Workspaces
from aeond.service.sessions.session_records import SessionRecords
from aeond.service.storage import StorageLimit
from aeond.service.watching.feed import HotFeed
from aeond.service.watching.run_stream import RunWatching
from aeond.service.watching.tree_stream import TreeWatching
from aeond.state_machine.decide import decide
from aeond.state_machine.fold import fold
from tests.support.asking_policy import AskingInvoker, AskingPolicy, NamedFacts, named_preview
from tests.support.doubles import (
    FixedPlanner,
    FixedReasoner,
    ManualClock,
    PlainAnswerer,
    PlainIntents,
    ScriptedRepairer,
    ScriptedTool,
    phases,
)
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.in_memory_sessions import InMemorySessions
from tests.support.null_objects import NamedTemplates
from tests.support.stored_bytes import CountedStorage
from tests.support.undo import RecordedUndo

DEADLINE_SECONDS = 60.0
USER = Owner(uid=1000, pid=1)
CALLER = Caller(USER)
ADMIN = Caller(Owner(uid=0, pid=1), is_admin=True)
ONE_STEP = Plan("one step", (PlanStep("s1", "do it", ToolCall("work", {"n": 1})),))


class NumberedIds:
    """Ids that sort by creation: id-0001, id-0002, ..."""

    def __init__(self) -> None:
        self.count = 0

    def new_id(self) -> str:
        self.count += 1
        return f"id-{self.count:04}"


@dataclass
class ScriptedValidator:
    """Reports predefined problems of plans."""

    problems: tuple[Problem, ...] = ()

    def validate_plan(self, plan: Plan) -> tuple[Problem, ...]:
        return self.problems

    def validate_output(self, output: object, schema: JsonObject) -> tuple[Problem, ...]:
        return ()

    def validate_tool_call(self, call: ToolCall, spec: object) -> tuple[Problem, ...]:
        return ()

    def validate_step_tool(self, step: PlanStep) -> PlanStep:
        return step


class ScriptedRegistry:
    """Contains predefined tools."""

    def __init__(self, *tools: ScriptedTool) -> None:
        self.tools = {tool.name: tool for tool in tools}

    def of(self, uid: int) -> "ScriptedRegistry":
        return self

    def register(self, tool: Tool) -> None:
        raise AssertionError("nothing registers here")

    def get(self, name: str) -> Tool | None:
        return self.tools.get(name)

    def list_names(self) -> Sequence[str]:
        return sorted(self.tools)

    def specs(self) -> Sequence[ToolSpec]:
        return [self.tools[name].spec for name in self.list_names()]


def open_admission() -> Admission:
    """One that takes whatever comes."""
    admission = Admission()
    admission.open()
    return admission


class WorldIntents(PlainIntents):
    """Steps run as planned, with references replaced; child runs are determined as in the daemon."""

    def __init__(self, tools: dict[str, ScriptedTool], templates: Templates, ids: NumberedIds) -> None:
        super().__init__(tools)
        self._prepared = PreparedIntents(
            ScriptedRegistry(), FixedReasoner(), ScriptedValidator(), templates, ids
        )

    def prepare(self, run: RunSnapshot, step_id: str, reservation: Amounts) -> StepStarted:
        started = super().prepare(run, step_id, reservation)
        call = started.step.tool_call
        if call is None or started.mode is not StepMode.TOOL:
            return started
        spec, checker = self.tools[call.tool].spec, PlanValidator(ScriptedRegistry(), ())
        arguments = bound_arguments(call.arguments, run, spec, checker).value
        return replace(started, step=replace(started.step, tool_call=replace(call, arguments=arguments)))

    def prepare_child(
        self, run: RunSnapshot, step_id: str, request: SubtaskRequest, used: Amounts
    ) -> ChildRunStarted | StepEnded:
        return self._prepared.prepare_child(run, step_id, request, used)


@dataclass
class World:
    """Everything that one daemon's service layer consists of; `reborn` gives the next daemon's."""

    own_folder: Path
    journal: Journal = field(default_factory=InMemoryJournal)
    sessions: SessionStore = field(default_factory=InMemorySessions)
    tools: dict[str, ScriptedTool] = field(default_factory=lambda: {"work": ScriptedTool("work")})
    clock: ManualClock = field(default_factory=ManualClock)
    ids: NumberedIds = field(default_factory=NumberedIds)
    validator: ScriptedValidator = field(default_factory=ScriptedValidator)
    script: Script = field(default_factory=Script)
    limits: RunLimits = field(default_factory=RunLimits)
    bounds: Bounds = field(default_factory=lambda: Bounds(Budget(), Budget(ttl=100)))
    templates: tuple[Template, ...] = ()
    roots: tuple[Path, ...] = (Path("/"),)
    protected: tuple[Path, ...] = ()
    policy: AskingPolicy = field(default_factory=lambda: AskingPolicy({}))
    facts: NamedFacts = field(default_factory=NamedFacts)
    rules: ApprovalRules = field(default_factory=ApprovalRules)
    preview: Preview = named_preview

    def __post_init__(self) -> None:
        self.engine = ScriptedEngine(ScriptedLLM(self.script), self.clock)
        self.feed = HotFeed()
        self.admission = Admission()
        self.folding = RunFolding(self.journal, fold)
        self.watching = RunWatching(self.journal, self.feed)
        self.boundary = RunBoundary(journal=self.journal, feed=self.feed, clock=self.clock, ids=self.ids)
        self.planner = FixedPlanner(ONE_STEP)
        self.answerer = PlainAnswerer()
        self.workspaces = Workspaces(
            own=self.own_folder, roots=self.roots, protected=self.protected, user_id=USER.uid
        )
        self.scheduler = RunScheduler(
            journal=self.journal,
            feed=self.feed,
            folding=self.folding,
            boundary=self.boundary,
            admission=self.admission,
            make_loop=self.make_loop,
            clock=self.clock,
            limits=self.limits,
            workspaces=self.workspaces,
        )
        self.requests = ApprovalRequests(
            folding=self.folding,
            policy=self.policy,
            inspector=self.facts,
            preview=self.preview,
            planned=PlannedCalls(ScriptedRegistry(*self.tools.values()), self.validator),
            sources=Trust().sources,
            clock=self.clock,
            rules=self.rules,
        )
        self.feed.listen(self.requests.hear)
        self.records = SessionRecords(store=self.sessions, journal=self.journal, folding=self.folding)
        self.replays = Replays(self.journal, decide, fold)
        self.undo = RecordedUndo()
        self.stored = CountedStorage()
        self.storage = StorageLimit({"runs": self.stored}, limit_bytes=1_000)
        self.runs = Runs(
            profiles=ToolProfiles({"look": ("read_*", "list_dir")}),
            asking_tools=lambda: ("asking",),
            journal=self.journal,
            folding=self.folding,
            owners=RunOwners(self.journal),
            scheduler=self.scheduler,
            watching=self.watching,
            tree_watching=TreeWatching(self.journal, self.feed),
            answers=Answers(
                folding=self.folding,
                scheduler=self.scheduler,
                validator=PlanValidator(ScriptedRegistry(), ()),
            ),
            approvals=ApprovalDecisions(folding=self.folding, scheduler=self.scheduler),
            validator=self.validator,
            workspaces=self.workspaces,
            sessions=self.records,
            clock=self.clock,
            ids=self.ids,
            bounds=self.bounds,
            in_order=in_order,
            forks=Forks(
                journal=self.journal,
                folding=self.folding,
                replays=self.replays,
                scheduler=self.scheduler,
                engine=self.engine,
                clock=self.clock,
                ids=self.ids,
                validator=self.validator,
                workspaces=self.workspaces,
                in_order=in_order,
                storage=self.storage,
            ),
            replays=self.replays,
            undoing=RunUndo(self.journal, self.folding, self.undo),
            deletion=RunDeletion(
                self.journal,
                cast("RunRemoval", self.journal),
                self.sessions,
                self.workspaces,
                self.admission,
            ),
            storage=self.storage,
            engine=self.engine,
        )

    def make_loop(self, snapshot: RunSnapshot) -> RunLoop:
        children = RunChildren(
            journal=self.journal,
            feed=self.feed,
            folding=self.folding,
            scheduler=self.scheduler,
            clock=self.clock,
        )
        invoker = AskingInvoker(self.tools, self.policy, self.facts, self.requests)
        executor = StepExecutor(
            invoker, FixedReasoner(), ScriptedRepairer(), self.clock, children, NamedTemplates()
        )
        return Orchestrator(
            snapshot,
            RunPorts(
                self.journal,
                self.feed,
                phases(self.planner, self.answerer),
                WorldIntents(self.tools, TemplateLibrary(self.templates), self.ids),
                InlineExecutor(invoker, self.clock),
                executor,
                self.clock,
            ),
        )

    def reborn(self) -> "World":
        """The next daemon: it has the journal, the sessions and the tools, and nothing else of this one."""
        return World(
            self.own_folder,
            journal=self.journal,
            sessions=self.sessions,
            tools=self.tools,
            ids=self.ids,
            limits=self.limits,
            templates=self.templates,
            bounds=self.bounds,
            clock=self.clock,
            policy=self.policy,
            facts=self.facts,
            rules=self.rules,
            preview=self.preview,
        )

    @asynccontextmanager
    async def working(self) -> AsyncIterator["World"]:
        """Takes up what is in the journal and admits work, until the block ends."""
        async with self.scheduler:
            await self.scheduler.resume()
            self.admission.open()
            yield self

    async def items(self, run_id: str, after_seq: int = 0) -> list[Event | LiveUpdate]:
        """Everything that a watcher of the run gets until its end."""
        with anyio.fail_after(DEADLINE_SECONDS):
            return [item async for batch in self.watching.watch(run_id, after_seq) for item in batch]

    async def ended(self, run_id: str) -> RunSnapshot:
        """The run, once it has ended."""
        await self.items(run_id)
        return await self.runs.get(run_id, ADMIN)

    async def reached(self, run_id: str, *states: RunState) -> RunSnapshot:
        """The run, once an event has brought it into one of these states."""
        with self.feed.watch(run_id) as watcher, anyio.fail_after(DEADLINE_SECONDS):
            while (run := await self.runs.get(run_id, ADMIN)).state not in states:
                if watcher.go_hot(run.seq):
                    await watcher.take()
        return run


def asking(text: str = "do it", **fields: object) -> RunRequest:
    """A request of the usual user."""
    return RunRequest(text, owner=USER, **fields)  # type: ignore[arg-type]  # a test gives the right ones
