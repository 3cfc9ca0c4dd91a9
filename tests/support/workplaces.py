"""A place to work in: the real kernel, orchestration and built-in tools in this process, over any model."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.llm.agent import LLMAgent
from aeond.capabilities.policy.authorising import PolicyAuthoriser
from aeond.capabilities.policy.inspecting import ToolInspector
from aeond.capabilities.policy.loading import Profile, load_policy
from aeond.capabilities.policy.trust import Trust
from aeond.capabilities.tools.builtin.tool_set import builtin_tools
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import best_resolver
from aeond.capabilities.tools.invoker import GuardedInvoker
from aeond.capabilities.tools.registry import Registry
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.daemon.clocks import SystemClock, TimeSortedIds
from aeond.domain.plans.plan import StepState
from aeond.domain.runs.budgets import Budget
from aeond.domain.runs.events import LOGIC_VERSION, Event, InputAnswered, RunCreated
from aeond.domain.runs.run import Owner, RunRequest, RunSnapshot, RunState
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
from aeond.ports import LLMAdapter
from aeond.service.watching.feed import HotFeed
from aeond.service.watching.run_log import log_events
from aeond.state_machine.fold import fold
from tests.eval.own_sets import FILES
from tests.eval.verdicts import RUN_SECONDS
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.memory import InMemoryMemory
from tests.support.no_children import NoChildren
from tests.support.null_objects import AsSaid, NamedTemplates, NoApprover, NoSituations, NoTemplates
from tests.support.undo import InMemoryUndoLog

PATIENCE_SECONDS: Final = 1_800.0
MAX_ANSWERS: Final = 2  # of the person that a run asks
ASKING: Final = "request_user_input"


@dataclass(frozen=True)
class Workplace:
    """A folder with files, a memory, and a model to work with them."""

    llm: LLMAdapter
    folder: Path
    files: Mapping[str, str] = field(default_factory=lambda: FILES)
    memory: InMemoryMemory = field(default_factory=InMemoryMemory)

    def furnish(self) -> None:
        for age, (name, text) in enumerate(self.files.items()):
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text(text, encoding="utf-8")
            os.utime(self.folder / name, (1.7e9 + age, 1.7e9 + age))

    def texts(self) -> Mapping[str, str]:
        """Every file in the folder and below."""
        paths = (path for path in sorted(self.folder.rglob("*")) if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_text("utf-8", "replace") for path in paths}

    async def remembered(self) -> str:
        """All that is remembered, as JSON text."""
        return json.dumps(dict(await self.memory.search("")), ensure_ascii=False)

    async def work(self, text: str, tells: str = "", wall_seconds: float = RUN_SECONDS) -> RunSnapshot:
        """The run as it ended. The first two questions that it asks get `tells` for an answer; without that,
        or beyond them, the run stays where it waits."""
        ports, clock = self._ports(), SystemClock()
        run_id, budget = TimeSortedIds(clock).new_id(), Budget(wall_seconds=wall_seconds)
        kind = RunCreated(RunRequest(text, workspace=str(self.folder)), budget, None, LOGIC_VERSION)
        created = Event(run_id, 1, clock.time(), 0.0, kind)
        await ports.journal.append([created])
        with anyio.fail_after(PATIENCE_SECONDS):
            run = await Orchestrator(fold(RunSnapshot(run_id), created), ports).execute()
            while run.state is RunState.AWAITING_INPUT and tells and len(asked_in(run)) <= MAX_ANSWERS:
                again = Orchestrator(run, ports)
                for question in run.questions:
                    again.deliver(InputAnswered(question.question_id, tells, Owner(os.getuid(), os.getpid())))
                run = await again.execute()
        return run

    def _registry(self) -> Registry:
        registry, files = Registry(), ContainedFiles(best_resolver(), (), ())
        undo_log = InMemoryUndoLog()
        tools = builtin_tools(SystemClock(), self.memory, files, WorkerThreads(), NoEmbedder(), undo_log)
        for tool in tools:
            registry.register(tool)
        return registry

    def _ports(self) -> RunPorts:
        llm, clock, registry = self.llm, SystemClock(), self._registry()
        agents = {"llm": LLMAgent(llm)}
        validator = PlanValidator(registry, agents)
        supervisor = Supervisor(llm, validator)
        reasoner = AgentReasoner(agents, llm)
        policy = load_policy(Profile.TRUSTED_FOLDER, None)
        authoriser = PolicyAuthoriser(ToolInspector(registry), policy, NoApprover(), Trust())
        invoker = GuardedInvoker(registry, clock, authoriser)
        repairer = StepRepairer(registry, supervisor)
        return RunPorts(
            journal=InMemoryJournal(),
            feed=HotFeed(log_events),
            phases=phases_over(
                supervisor,
                registry,
                invoker,
                AsSaid(),
                NoSituations(),
                TextRanking(NoEmbedder()),
            ),
            intents=PreparedIntents(registry, reasoner, validator, NoTemplates(), TimeSortedIds(clock)),
            executor=StepExecutor(invoker, reasoner, repairer, clock, NoChildren(), NamedTemplates()),
            clock=clock,
            immediate=InlineExecutor(invoker, clock),
        )


def asked_in(run: RunSnapshot) -> tuple[str, ...]:
    """The questions of a run to its user, answered or not."""
    open_steps = {question.step_id for question in run.questions}
    calls = (
        step.step.tool_call
        for step in run.steps.values()
        if step.state is StepState.SUCCEEDED or step.step.step_id in open_steps
    )
    return tuple(str(call.arguments.get("prompt")) for call in calls if call and call.tool == ASKING)
