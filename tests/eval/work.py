"""Work: whole requests through routing, tools and answer, judged by what they led to.

The same requests also go the plain way, where every one is planned and carried out without a judgement:
what routing is worth is the difference.
"""

import json
import os
import re
import tempfile
import tomllib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio
from pydantic import BaseModel, ConfigDict

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
from aeond.domain.events import Event, RunCreated
from aeond.domain.runs import RunRequest, RunSnapshot
from aeond.kernel.executor import StepExecutor
from aeond.kernel.fold import fold
from aeond.kernel.orchestrator import Orchestrator, RunPorts
from aeond.orchestration.answering import StepAnswerer
from aeond.orchestration.assembling import phases_over
from aeond.orchestration.immediate import AtOnce
from aeond.orchestration.intents import PreparedIntents
from aeond.orchestration.mending import StepMender
from aeond.orchestration.phases import PhaseOrchestrator
from aeond.orchestration.planning import ModelPlanner
from aeond.orchestration.readiness import StepReadiness
from aeond.orchestration.reasoning import AgentReasoner
from aeond.orchestration.repair import ModelSupervisor
from aeond.orchestration.trivial import AcceptAll, AlwaysPlan, AsSaid, FixedDepth, NeverRefine, NoTemplates
from aeond.orchestration.validation import PlanValidator
from aeond.ports import LLMAdapter
from aeond.service.children import NoChildren
from aeond.service.feed import HotFeed
from aeond.service.story import tell
from tests.eval.verdicts import Verdict

CASES: Final = Path(__file__).parent / "work.toml"
PHASED: Final = 2  # the logic version since which runs are routed
PATIENCE_SECONDS: Final = 1_800.0
FILES: Final = {
    "measurements.csv": "time,value\n" + "".join(f"{n},{n * n % 97}\n" for n in range(2_000)),
    "invoice.txt": "Invoice 17: 2400.00 EUR, due at the end of the month.\n",
    "notes.md": "# Notes\n\n" + "Call the printer. Water the plants. Book the train.\n" * 20,
    "a.txt": "apples\npears\nplums\n",
    "letter.txt": "Dear Paula,\nthe weather in Lisbon is lovely. See you in June.\nYours, Hugo\n",
    "b.txt": "apples\npears\ncherries\n",  # the newest
}


class Case(BaseModel):
    """A request, the routes that fit it, and by which patterns it is known whether it was fulfilled."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    routes: tuple[str, ...]
    says: str
    answer: tuple[str, ...] = ()
    files: Mapping[str, str] = {}
    memory: tuple[str, ...] = ()
    remembered: Mapping[str, str | int] = {}


@dataclass(frozen=True)
class Workplace:
    """A folder with files, a memory, and a model to work with them."""

    llm: LLMAdapter
    folder: Path
    routed: bool
    memory: InMemoryMemory = field(default_factory=InMemoryMemory)

    def furnish(self) -> None:
        for age, (name, text) in enumerate(FILES.items()):
            (self.folder / name).write_text(text, encoding="utf-8")
            os.utime(self.folder / name, (1.7e9 + age, 1.7e9 + age))

    async def work(self, text: str) -> RunSnapshot:
        ports, clock = self._ports(), SystemClock()
        run_id = TimeSortedIds(clock).new_id()
        kind = RunCreated(RunRequest(text, workspace=str(self.folder)), Budget(), None, PHASED)
        created = Event(run_id, 1, clock.time(), 0.0, kind)
        await ports.journal.append([created])
        with anyio.fail_after(PATIENCE_SECONDS):
            return await Orchestrator(fold(RunSnapshot(run_id), created), ports).execute()

    def _ports(self) -> RunPorts:
        llm, clock, registry = self.llm, SystemClock(), Registry()
        files = ContainedFiles(best_resolver(), (), ())
        for tool in builtin_tools(clock, self.memory, files, WorkerThreads()):
            registry.register(tool)
        agents = {"llm": LLMAgent(llm)}
        validator = PlanValidator(registry, agents)
        supervisor = ModelSupervisor(llm, validator)
        reasoner = AgentReasoner(agents, llm)
        invoker = GuardedInvoker(registry, clock, AuthoriseAll())
        mender = StepMender(registry, supervisor, validator)
        planner = ModelPlanner(llm, registry, supervisor, validator)
        plain = PhaseOrchestrator(
            references=AsSaid(),
            router=AlwaysPlan(),
            depth=FixedDepth(),
            planner=planner,
            evaluator=AcceptAll(),
            refiner=NeverRefine(),
            answerer=StepAnswerer(llm),
        )
        return RunPorts(
            journal=InMemoryJournal(),
            feed=HotFeed(tell),
            phases=phases_over(llm, registry, supervisor, validator, AsSaid()) if self.routed else plain,
            intents=PreparedIntents(
                registry, reasoner, validator, StepReadiness(), NoTemplates(), TimeSortedIds(clock)
            ),
            executor=StepExecutor(invoker, reasoner, mender, clock, NoChildren()),
            clock=clock,
            immediate=AtOnce(invoker, clock),
        )


def read_cases() -> tuple[Case, ...]:
    return tuple(Case.model_validate(case) for case in tomllib.loads(CASES.read_text("utf-8"))["case"])


async def judge_work(llm: LLMAdapter) -> AsyncIterator[Verdict]:
    """Each case routed, and another verdict on the route that it took."""
    async for case, run, missed in _worked(llm, routed=True):
        route = run.route.value if run.route else "none"
        wrong = () if route in case.routes else (f"took {route}, not {' or '.join(case.routes)}",)
        yield Verdict(case.says, "route", route, wrong)
        yield Verdict(case.says, f"work meant for {case.routes[0]}", _told(run), missed)


async def judge_plain(llm: LLMAdapter) -> AsyncIterator[Verdict]:
    """Each case planned and carried out."""
    async for case, run, missed in _worked(llm, routed=False):
        yield Verdict(case.says, f"work meant for {case.routes[0]}", _told(run), missed)


async def _worked(
    llm: LLMAdapter, *, routed: bool
) -> AsyncIterator[tuple[Case, RunSnapshot, tuple[str, ...]]]:
    for case in read_cases():
        with tempfile.TemporaryDirectory(prefix="aeond-eval-work-") as folder:
            place = Workplace(llm, Path(folder), routed)
            place.furnish()
            for key, value in case.remembered.items():
                await place.memory.write(key, value)
            run = await place.work(case.says)
            yield case, run, await _missed(case, run, place)


async def _missed(case: Case, run: RunSnapshot, place: Workplace) -> tuple[str, ...]:
    """What is not as it should be afterwards."""
    answer = run.answer.text if run.answer else ""
    memory = json.dumps(dict(await place.memory.search("")))
    lacks = [f"the answer lacks {p}" for p in case.answer if not _found(p, answer)]
    lacks += [f"remembered lacks {p}" for p in case.memory if not _found(p, memory)]
    for name, pattern in case.files.items():
        path = place.folder / name
        if not path.is_file() or not _found(pattern, path.read_text(encoding="utf-8")):
            lacks.append(f"{name} lacks {pattern}")
    return tuple(lacks)


def _found(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE | re.MULTILINE) is not None


def _told(run: RunSnapshot) -> str:
    """The answer, and what it cost."""
    used = run.ledger.used
    cost = f"{used.llm_calls} calls, {used.tokens} tokens"
    return f"{run.answer.text if run.answer else run.state!s:.300} [{run.state}, {cost}]"
