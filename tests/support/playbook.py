"""Kernel transcripts: `Playbook() >> what happened << what is asked for`, one line of a story after another."""

from aeond.domain.plans.plan import Plan, PlanStep, StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts, Budget
from aeond.domain.runs.commands import Command
from aeond.domain.runs.events import Event, EventKind
from aeond.domain.runs.questions import InputRequest, Question
from aeond.domain.runs.reservations import TOOL_STEP
from aeond.domain.runs.run import RunRequest, RunSnapshot
from aeond.domain.tools import Recovery, ToolCall
from aeond.state_machine.decide import decide
from aeond.state_machine.fold import fold


class Playbook:
    """Feeds events with `>>` and checks with `<<` that decide asks for exactly these commands."""

    def __init__(self, run_id: str = "run") -> None:
        self.run = RunSnapshot(run_id)

    def __rshift__(self, kind: EventKind) -> "Playbook":
        seq = self.run.seq + 1
        self.run = fold(
            self.run, Event(self.run.run_id, seq, time=float(seq), elapsed_seconds=0.0, kind=kind)
        )
        return self

    def __lshift__(self, commands: Command | tuple[Command, ...]) -> "Playbook":
        expected = commands if isinstance(commands, tuple) else (commands,)
        assert decide(self.run) == expected
        return self


WAIT: tuple[Command, ...] = ()

ONE_STEP = Amounts(ttl=1, tool_calls=1)


def tool_step(step_id: str, *depends_on: str) -> PlanStep:
    return PlanStep(step_id, f"do {step_id}", tool_call=ToolCall("echo"), depends_on=depends_on)


def plan(*steps: PlanStep) -> Plan:
    return Plan("a goal", steps)


CHAIN = plan(tool_step("s1"), tool_step("s2", "s1"))


def created(given: Plan | None = None, budget: Budget | None = None, parallel_steps: int = 4) -> e.RunCreated:
    """As the first version of the logic began runs: they are neither routed nor judged."""
    request = RunRequest("a request", parallel_steps=parallel_steps)
    return e.RunCreated(request, budget or Budget(), given, logic_version=1)


def started(
    step: PlanStep, recovery: Recovery = Recovery.RERUN, attempt: int = 1, reservation: Amounts = TOOL_STEP
) -> e.StepStarted:
    return e.StepStarted(step, attempt, StepMode.TOOL, recovery, reservation)


def ended(step_id: str, state: StepState = StepState.SUCCEEDED) -> e.StepEnded:
    return e.StepEnded(step_id, state, StepMode.TOOL, output="x", used=ONE_STEP)


def executing(given: Plan, parallel_steps: int = 4) -> Playbook:
    """A run whose given plan is being executed and whose first pass is open."""
    return Playbook() >> created(given, None, parallel_steps) >> e.RunStarted() >> e.PassStarted(1)


def asked(step_id: str) -> e.InputRequested:
    return e.InputRequested(Question(f"{step_id}.1", step_id, InputRequest("Which one?"), 0.0), ONE_STEP)
