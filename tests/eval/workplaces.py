"""A place to work in: the real kernel, orchestration and built-in tools in this process, over any model."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

import anyio

from aeond.capabilities.journal.in_memory_journal import InMemoryJournal
from aeond.capabilities.llm.agent import LLMAgent
from aeond.capabilities.memory.in_memory_memory import InMemoryMemory
from aeond.capabilities.tools.beneath import best_resolver
from aeond.capabilities.tools.builtin import builtin_tools
from aeond.capabilities.tools.contained_files import ContainedFiles
from aeond.capabilities.tools.invoking import AcceptAll as AuthoriseAll
from aeond.capabilities.tools.invoking import GuardedInvoker
from aeond.capabilities.tools.registry import Registry
from aeond.capabilities.tools.threads import WorkerThreads
from aeond.daemon.clocks import SystemClock, TimeSortedIds
from aeond.domain.budgets import Budget
from aeond.domain.events import LOGIC_VERSION, Event, InputAnswered, RunCreated
from aeond.domain.messages import Message
from aeond.domain.plans import StepState
from aeond.domain.runs import Owner, RunRequest, RunSnapshot, RunState
from aeond.kernel.executor import StepExecutor
from aeond.kernel.fold import fold
from aeond.kernel.orchestrator import Orchestrator, RunPorts
from aeond.orchestration.assembling import phases_over, usual_openings
from aeond.orchestration.immediate import AtOnce
from aeond.orchestration.intents import PreparedIntents
from aeond.orchestration.mending import StepMender
from aeond.orchestration.phases import PhaseOrchestrator
from aeond.orchestration.readiness import StepReadiness
from aeond.orchestration.reasoning import AgentReasoner
from aeond.orchestration.repair import ModelSupervisor
from aeond.orchestration.trivial import AcceptAll, AlwaysPlan, AsSaid, FixedDepth, NeverRefine, NoTemplates
from aeond.orchestration.validation import PlanValidator
from aeond.ports import LLMAdapter
from aeond.service.children import NoChildren
from aeond.service.feed import HotFeed
from aeond.service.story import tell
from tests.eval.flat_planning import FlatPlanner
from tests.eval.verdicts import RUN_SECONDS

PATIENCE_SECONDS: Final = 1_800.0
MAX_ANSWERS: Final = 2  # of the person that a run asks
ASKING: Final = "request_user_input"
FILES: Final = {
    "measurements.csv": "time,value\n" + "".join(f"{n},{n * n % 97}\n" for n in range(2_000)),
    "invoice.txt": "Invoice 17: 2400.00 EUR, due at the end of the month.\n",
    "notes.md": "# Notes\n\n" + "Call the printer. Water the plants. Book the train.\n" * 20,
    "a.txt": "apples\npears\nplums\n",
    "letter.txt": "Dear Paula,\nthe weather in Lisbon is lovely. See you in June.\nYours, Hugo\n",
    "b.txt": "apples\npears\ncherries\n",  # the newest
}


class Way(StrEnum):
    """How a request is worked on."""

    ROUTED = "routed"
    JUDGED = "judged"  # planned in any case; profile, judgement and refinement as in the daemon
    PLAIN = "plain"  # planned in any case, carried out and answered
    FLAT = "flat"  # a whole plan in one flat schema, as one would ask any model; carried out and answered


@dataclass(frozen=True)
class Workplace:
    """A folder with files, a memory, and a model to work with them."""

    llm: LLMAdapter
    folder: Path
    way: Way
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

    def openings(self) -> tuple[tuple[Message, ...], ...]:
        """What the prompts of its runs usually begin with."""
        registry = self._registry()
        validator = PlanValidator(registry, {"llm": LLMAgent(self.llm)})
        return tuple(opening() for opening in usual_openings(registry, validator))

    def _registry(self) -> Registry:
        registry, files = Registry(), ContainedFiles(best_resolver(), (), ())
        for tool in builtin_tools(SystemClock(), self.memory, files, WorkerThreads()):
            registry.register(tool)
        return registry

    def _ports(self) -> RunPorts:
        llm, clock, registry = self.llm, SystemClock(), self._registry()
        agents = {"llm": LLMAgent(llm)}
        validator = PlanValidator(registry, agents)
        supervisor = ModelSupervisor(llm, validator)
        reasoner = AgentReasoner(agents, llm)
        invoker = GuardedInvoker(registry, clock, AuthoriseAll())
        mender = StepMender(registry, supervisor, validator)
        return RunPorts(
            journal=InMemoryJournal(),
            feed=HotFeed(tell),
            phases=self._phases(registry, supervisor, validator),
            intents=PreparedIntents(
                registry, reasoner, validator, StepReadiness(), NoTemplates(), TimeSortedIds(clock)
            ),
            executor=StepExecutor(invoker, reasoner, mender, clock, NoChildren()),
            clock=clock,
            immediate=AtOnce(invoker, clock),
        )

    def _phases(
        self, registry: Registry, supervisor: ModelSupervisor, validator: PlanValidator
    ) -> PhaseOrchestrator:
        whole = phases_over(self.llm, registry, supervisor, validator, AsSaid())
        if self.way is Way.ROUTED:
            return whole
        if self.way is Way.JUDGED:
            return replace(whole, router=AlwaysPlan())
        bare = replace(
            whole, router=AlwaysPlan(), depth=FixedDepth(), evaluator=AcceptAll(), refiner=NeverRefine()
        )
        if self.way is Way.PLAIN:
            return bare
        return replace(bare, planner=FlatPlanner(self.llm, registry))


def asked_in(run: RunSnapshot) -> tuple[str, ...]:
    """What a run asked its user, answered or not."""
    open_steps = {question.step_id for question in run.questions}
    calls = (
        step.step.tool_call
        for step in run.steps.values()
        if step.state is StepState.SUCCEEDED or step.step.step_id in open_steps
    )
    return tuple(str(call.arguments.get("prompt")) for call in calls if call and call.tool == ASKING)
