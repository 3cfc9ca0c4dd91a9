"""Work: whole requests through routing, tools and answer, judged by what they led to.

The same requests also go the plain way, where every one is planned and carried out without a judgement:
what routing is worth is the difference. Harder ones, which lead astray at first, are planned with and
without profile, judgement and refinement: the difference is what depth is worth.
"""

import json
import os
import re
import tempfile
import tomllib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
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
from aeond.orchestration.assembling import phases_over
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
from tests.eval.verdicts import Verdict

CASES: Final = Path(__file__).parent / "work.toml"
HARD_CASES: Final = Path(__file__).parent / "hard_work.toml"
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
HARD_FILES: Final = {
    "notes.md": "# Notes\n\nCall the printer on Monday. Water the plants. Book the train to Vienna.\n",
    "invoice.txt": "Invoice 17: 2400.00 EUR, due at the end of the month.\n",
    "letter_anna.md": "Dear Tom,\nI would be grateful for my book when it suits you.\nKind regards, Anna\n",
    "letter_tom.md": "Anna,\nstop nagging. You get your book when I feel like it.\nTom\n",
    "travel/spring.md": "In spring I went to Paris and saw the Louvre.\n",
    "numbers.txt": "12\n30\n58\n",
    "reports/q3.txt": "Third quarter. Revenue was 81250 EUR. Costs were 64000 EUR.\n",
    "budget.csv": "item,eur\nrent,900\nfood,350\nsport,60\n",
}


class Way(StrEnum):
    """How a request is worked on."""

    ROUTED = "routed"
    JUDGED = "judged"  # planned in any case; profile, judgement and refinement as in the daemon
    PLAIN = "plain"  # planned in any case, carried out and answered


class Case(BaseModel):
    """A request, the routes that fit it or what makes it hard, and by which patterns it is known whether it
    was fulfilled."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    says: str
    routes: tuple[str, ...] = ()
    group: str = ""
    answer: tuple[str, ...] = ()
    files: Mapping[str, str] = {}
    memory: tuple[str, ...] = ()
    remembered: Mapping[str, str | int] = {}


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
        return replace(
            whole, router=AlwaysPlan(), depth=FixedDepth(), evaluator=AcceptAll(), refiner=NeverRefine()
        )


def read_cases(path: Path = CASES) -> tuple[Case, ...]:
    return tuple(Case.model_validate(case) for case in tomllib.loads(path.read_text("utf-8"))["case"])


async def judge_work(llm: LLMAdapter) -> AsyncIterator[Verdict]:
    """Each case routed, and another verdict on the route that it took."""
    async for case, run, missed in _worked(llm, Way.ROUTED):
        route = run.route.value if run.route else "none"
        wrong = () if route in case.routes else (f"took {route}, not {' or '.join(case.routes)}",)
        yield Verdict(case.says, "route", route, wrong)
        yield Verdict(case.says, f"work meant for {case.routes[0]}", _told(run), missed)


async def judge_plain(llm: LLMAdapter) -> AsyncIterator[Verdict]:
    """Each case planned and carried out."""
    async for case, run, missed in _worked(llm, Way.PLAIN):
        yield Verdict(case.says, f"work meant for {case.routes[0]}", _told(run), missed)


async def judge_depth(llm: LLMAdapter) -> AsyncIterator[Verdict]:
    """Each hard case planned, judged and refined."""
    async for verdict in _hard(llm, Way.JUDGED):
        yield verdict


async def judge_shallow(llm: LLMAdapter) -> AsyncIterator[Verdict]:
    """Each hard case planned and carried out."""
    async for verdict in _hard(llm, Way.PLAIN):
        yield verdict


async def _hard(llm: LLMAdapter, way: Way) -> AsyncIterator[Verdict]:
    async for case, run, missed in _worked(llm, way, HARD_CASES, HARD_FILES):
        yield Verdict(case.says, case.group, _told(run), missed)


async def _worked(
    llm: LLMAdapter, way: Way, cases: Path = CASES, files: Mapping[str, str] = FILES
) -> AsyncIterator[tuple[Case, RunSnapshot, tuple[str, ...]]]:
    for case in read_cases(cases):
        with tempfile.TemporaryDirectory(prefix="aeond-eval-work-") as folder:
            place = Workplace(llm, Path(folder), way, files)
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
    cost = f"{used.llm_calls} calls, {used.tokens} tokens, {used.passes} passes"
    return f"{run.answer.text if run.answer else run.state!s:.300} [{run.state}, {cost}]"
