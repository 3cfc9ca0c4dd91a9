"""A storm: runs of every effect class, a daemon killed repeatedly, and one oracle at the end.

The oracle compares three sources: the events that watchers received, the journal afterwards, and the records
of the tools.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random

from aeond_client.calls.run_calls import RunOptions
from aeond_client.client import Client
from aeond_client.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    RunResumed,
    RunSuspended,
    StepEnded,
    StepResolved,
    StepStarted,
)
from aeond_client.records.runs import Budget, Plan, PlanStep, Resolution, Run, RunState, StepState
from tests.support.collecting import Collector
from tests.support.daemon_process import DaemonProcess
from tests.support.ledger_tools import CLASSES
from tests.support.ledgers import Ledger, deed

STEPS = 20
LONGEST_SECONDS = 0.2
# Enough for every repetition in a storm: an interrupted step's reservation counts as used.
ROOM = Budget(ttl=500, tool_calls=500, llm_calls=400, tokens=2_000_000, passes=50, wall_seconds=3_600)
AT_MOST_ONCE = frozenset(CLASSES) - {"pure", "look", "put"}


def random_plan(random: Random) -> Plan:
    """A graph of deeds of all classes, each after up to two earlier ones."""
    steps: list[PlanStep] = []
    for number in range(1, STEPS + 1):
        earlier = [step.step_id for step in steps]
        before = random.sample(earlier, k=min(len(earlier), random.randint(0, 2)))
        tool = random.choice(sorted(CLASSES))
        steps.append(deed(f"s{number}", tool, *before, seconds=random.uniform(0, LONGEST_SECONDS)))
    return Plan("a storm", tuple(steps))


@dataclass
class Storm:
    """Keeps so many runs going, strikes, and decides what only a person can decide.

    `strike` ends the daemon and starts it again.
    """

    daemon: DaemonProcess
    random: Random
    live_runs: int = 2
    strike: Callable[[DaemonProcess], object] = DaemonProcess.restart
    seen: dict[str, Collector] = field(default_factory=dict)
    live: set[str] = field(default_factory=set)

    def blow(self, strikes: int) -> None:
        """That many kills at random times; then all runs continue to their end."""
        with Client(self.daemon.socket) as client:
            for _ in range(strikes):
                while len(self.live) < self.live_runs:
                    self._begin(client)
                self._decide_all(client)
                self._let_happen(self.random.choice(sorted(self.live)), self.random.randint(1, 20))
                self.strike(self.daemon)
                self.live = {run_id for run_id in self.live if not self.seen[run_id].has_ended}
            while self.live:
                self._decide_all(client)
                self._let_happen(min(self.live), 10_000)
                self.live = {run_id for run_id in self.live if not self.seen[run_id].has_ended}

    def _begin(self, client: Client) -> None:
        plan = random_plan(self.random)
        run = client.create_run("a storm", RunOptions(plan=plan, budget=ROOM, parallel_steps=4))
        self.seen[run.run_id] = Collector(str(self.daemon.socket), run.run_id).__enter__()
        self.live.add(run.run_id)

    def _let_happen(self, run_id: str, events: int) -> None:
        """Waits until so much more has happened in the run, or nothing more can."""
        seen = self.seen[run_id]
        enough = len(seen.events) + events
        came = seen.wait(
            lambda s: len(s.events) >= enough or s.has_ended or _is_suspended(s) or _needs_approval(s)
        )
        if not came:  # the state at the daemon, and the last that a client has seen
            with Client(self.daemon.socket) as client:
                raise AssertionError(
                    f"{client.get_run(run_id)}\n{seen.events[-6:]}\n{self.daemon.log[-4_000:]}"
                )

    def _decide_all(self, client: Client) -> None:
        for run_id in self.live:
            run = client.get_run(run_id)
            for approval in run.approvals:
                client.decide_approval(run_id, approval.approval_id, approval.digest, True)
            if run.state is not RunState.SUSPENDED:
                continue
            seen = self.seen[run_id]
            known = len(seen.numbered)
            unknown = [s.plan_step.step_id for s in run.steps if s.state is StepState.UNKNOWN]
            for step_id in unknown or [""]:
                choices = [Resolution.RETRY, Resolution.DONE] if step_id else [Resolution.RETRY]
                client.decide_run(run_id, self.random.choice(choices), step_id)
            assert seen.wait(partial(_knows_more, known))


def _knows_more(known: int, seen: Collector) -> bool:
    return len(seen.numbered) > known


def _needs_approval(seen: Collector) -> bool:
    kinds = [type(event.kind) for event in seen.numbered]
    return kinds.count(ApprovalRequested) > kinds.count(ApprovalDecided)


def _is_suspended(seen: Collector) -> bool:
    """Whether it was suspended and not resumed; an approval may be given meanwhile."""
    kinds = [type(event.kind) for event in seen.numbered if not isinstance(event.kind, ApprovalDecided)]
    return kinds[-1:] == [RunSuspended]


@dataclass
class Finding:
    """The oracle's findings about one run; all empty if there are none."""

    run_id: str
    faults: list[str] = field(default_factory=list)

    def check(self, holds: bool, fault: str) -> None:
        if not holds:
            self.faults.append(f"{self.run_id}: {fault}")


def judge(run: Run, received: list[Event], journal: list[Event], ledger: Ledger) -> list[str]:
    """Everything that is wrong with one run of a storm."""
    finding = Finding(run.run_id)
    tools = {step.plan_step.step_id: step.plan_step.tool for step in run.steps}
    begun = ledger.begun(run.run_id)
    starts, successes, retries, done = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    in_flight: set[str] = set()
    unknown: set[str] = set()
    for event in journal:
        match event.kind:
            case StepStarted(step=step):
                finding.check(successes[step.step_id] == 0, f"{step.step_id} started after it had succeeded")
                finding.check(
                    step.step_id not in unknown, f"{step.step_id} was repeated without a person's word"
                )
                starts[step.step_id] += 1
                in_flight.add(step.step_id)
            case ApprovalRequested(step_id=step_id):
                in_flight.discard(step_id)
            case StepEnded(step_id=step_id, state=state):
                in_flight.discard(step_id)
                successes[step_id] += state is StepState.SUCCEEDED
            case RunResumed():
                unknown |= {step_id for step_id in in_flight if tools[step_id] in AT_MOST_ONCE}
                in_flight.clear()
            case StepResolved(resolution=resolution, step_id=step_id):
                finding.check(step_id in unknown or not step_id, f"{step_id} was decided and was not UNKNOWN")
                unknown.discard(step_id)
                retries[step_id] += resolution == Resolution.RETRY
                done[step_id] += resolution == Resolution.DONE
            case _:
                pass
    finding.check(
        [e.seq for e in received] == list(range(1, len(received) + 1)), "a gap or a duplicate was seen"
    )
    finding.check(received == journal, "an event that was seen is not in the journal, or the other way round")
    finding.check(run.state is RunState.SUCCEEDED, f"it ended {run.state}: {run.problem}")
    for step_id, tool in tools.items():
        finding.check(
            successes[step_id] + done[step_id] == 1, f"{step_id} succeeded {successes[step_id]} times"
        )
        finding.check(begun[step_id] <= starts[step_id], f"{step_id} began more often than it was journaled")
        if tool in AT_MOST_ONCE:
            allowed = 1 + retries[step_id]
            finding.check(begun[step_id] <= allowed, f"{step_id} had its effect {begun[step_id]} times")
        if not done[step_id]:
            finding.check(begun[step_id] >= 1, f"{step_id} succeeded and never ran")
    return finding.faults
