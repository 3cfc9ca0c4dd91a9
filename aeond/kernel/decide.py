"""What a run does next: a pure function of what is known of it.

Theory of operation
-------------------
A run is a list of events. `fold` turns them into a RunSnapshot; `decide` looks at the snapshot and asks
for what comes next with commands; the host journals the intent of each command *before* performing it,
and answers with an event. Nothing else changes a run: durability, replay and recovery are `fold` over
the journal and going on.

Bounds hold because every command that costs anything carries a reservation, taken from the ledger when
its intent is folded and settled when its end is. What is not left is not reserved; what is not reserved
is not used. While other work is in flight a lack may be temporary (reservations are larger than use), so
the run waits; with nothing in flight the dimension is exhausted, and the run goes to its answer.

Every run ends: each command leads to an event; each event either consumes ttl, calls or passes, which
only fall, or moves the run forward through PLAN, EXECUTE and ANSWER, which never goes back.

state       phase     when                                   commands
---------   -------   ------------------------------------   ---------------------------------------
any live              cancelled, work in flight              Interrupt what is harmless to cut
any live              cancelled, nothing in flight           Record RunEnded CANCELLED
PENDING                                                      Record RunStarted
RUNNING               live in three crashes                  Record RunSuspended
RUNNING               budget exhausted, work in flight       wait (out of wall time: Interrupt)
RUNNING               budget exhausted                       ComposeAnswer without a model
RUNNING               budget exhausted, answered             Record RunEnded EXPIRED
RUNNING     PLAN                                             DraftPlan
RUNNING     EXECUTE   an UNKNOWN step, none running          Record RunSuspended
RUNNING     EXECUTE   no pass is open                        Record PassStarted
RUNNING     EXECUTE   steps READY, fewer than limit running  ExecuteStep for each
RUNNING     EXECUTE   nothing ready or running               Record PassEnded
RUNNING     ANSWER    no answer                              ComposeAnswer
RUNNING     ANSWER    answered                               Record RunEnded SUCCEEDED or FAILED
SUSPENDED                                                    wait for a person or for room on the disk

A command that lacks something in the ledger becomes Record BudgetExhausted. Which events a state admits
is in `domain/transitions.py`; `fold` refuses all others.
"""

from collections.abc import Iterator
from typing import Final

from aeond.domain import events as e
from aeond.domain.budgets import Amounts
from aeond.domain.outcome import Problem
from aeond.domain.plans import StepState
from aeond.domain.runs import Phase, PlanSource, RunSnapshot, RunState, SuspendReason
from aeond.domain.tools import Recovery
from aeond.kernel.commands import Command, ComposeAnswer, DraftPlan, ExecuteStep, Interrupt, Record

MAX_CRASHES: Final = 3

# What one operation may cost at most, and the least that makes it worth starting.
PLANNING: Final = Amounts(llm_calls=3, tokens=18_000)
PLANNING_MINIMUM: Final = Amounts(llm_calls=1, tokens=1)
TOOL_STEP: Final = Amounts(ttl=1, tool_calls=1, llm_calls=2, tokens=8_000)
TOOL_STEP_MINIMUM: Final = Amounts(ttl=1, tool_calls=1)
AGENT_STEP: Final = Amounts(ttl=1, llm_calls=3, tokens=12_000)
AGENT_STEP_MINIMUM: Final = Amounts(ttl=1, llm_calls=1, tokens=1)
ANSWERING: Final = Amounts(llm_calls=2, tokens=12_000)
NOTHING: Final = Amounts()


def decide(run: RunSnapshot) -> tuple[Command, ...]:
    """The commands that are due now; empty when the run has ended, waits for a person, or for work in flight."""
    if run.seq == 0 or run.state.ended:
        return ()
    if run.cancel_requested:
        return _cancel(run)
    if run.state is RunState.PENDING:
        return (Record(e.RunStarted()),)
    if run.state is not RunState.RUNNING:
        return ()
    if run.crashes >= MAX_CRASHES:
        message = f"the daemon crashed {run.crashes} times while this run was live"
        return (Record(e.RunSuspended(SuspendReason.REPEATED_CRASHES, message)),)
    if run.exhausted:
        return _expire(run)
    if run.phase is Phase.PLAN:
        return _plan(run)
    if run.phase is Phase.EXECUTE:
        return tuple(_execute(run))
    return _answer(run)


def _cancel(run: RunSnapshot) -> tuple[Command, ...]:
    if _in_flight(run):
        return (_interrupt(run),)
    return (Record(e.RunEnded(RunState.CANCELLED)),)


def _expire(run: RunSnapshot) -> tuple[Command, ...]:
    if _in_flight(run):
        return (_interrupt(run),) if run.exhausted == "wall_seconds" else ()
    if any(s.state is StepState.UNKNOWN for s in run.steps.values()):
        return _suspend_for_unknown(run)
    if run.answer is None:
        return (ComposeAnswer(NOTHING),)
    return (Record(e.RunEnded(RunState.EXPIRED, _exhausted_problem(run))),)


def _plan(run: RunSnapshot) -> tuple[Command, ...]:
    if run.operation is not None:
        return ()
    short = PLANNING_MINIMUM.exceeding(run.ledger.left)
    if short:
        return (Record(e.BudgetExhausted(short)),)
    return (DraftPlan(PLANNING.at_most(run.ledger.left)),)


def _execute(run: RunSnapshot) -> Iterator[Command]:
    running = len(run.steps_in(StepState.RUNNING))
    ready = run.steps_in(StepState.READY)
    if run.steps_in(StepState.UNKNOWN):
        if not running:
            yield from _suspend_for_unknown(run)
    elif not run.pass_open:
        if run.ledger.left.passes < 1:
            yield Record(e.BudgetExhausted("passes"))
        else:
            yield Record(e.PassStarted(run.pass_index + 1))
    elif not ready and not running:
        yield Record(e.PassEnded(run.pass_index))
    else:
        ledger = run.ledger
        for step in ready[: max(0, run.request.parallel_steps - running)]:
            calls_tool = step.step.tool_call is not None
            want, minimum = (TOOL_STEP, TOOL_STEP_MINIMUM) if calls_tool else (AGENT_STEP, AGENT_STEP_MINIMUM)
            short = minimum.exceeding(ledger.left)
            if short:
                if ledger.reserved == NOTHING:
                    yield Record(e.BudgetExhausted(short))
                return
            reservation = want.at_most(ledger.left)
            ledger = ledger.reserve(reservation)
            yield ExecuteStep(step.step_id, reservation)


def _answer(run: RunSnapshot) -> tuple[Command, ...]:
    if run.operation is not None:
        return ()
    if run.answer is not None:
        return (Record(_end(run)),)
    if run.problem is not None or run.plan_source is PlanSource.CLIENT:
        return (ComposeAnswer(NOTHING),)
    return (ComposeAnswer(ANSWERING.at_most(run.ledger.left)),)


def _end(run: RunSnapshot) -> e.RunEnded:
    if run.problem is not None:
        return e.RunEnded(RunState.FAILED, run.problem)
    missing = run.steps_in(StepState.FAILED, StepState.INVALID, StepState.SKIPPED)
    if missing:
        names = ", ".join(s.step_id for s in missing)
        return e.RunEnded(RunState.FAILED, Problem("STEPS_FAILED", f"these steps gave no result: {names}"))
    return e.RunEnded(RunState.SUCCEEDED)


def _in_flight(run: RunSnapshot) -> bool:
    return run.operation is not None or bool(run.steps_in(StepState.RUNNING))


def _interrupt(run: RunSnapshot) -> Interrupt:
    # A step with effects is never cut: it ends by itself or by its tool's own deadline.
    harmless = (s.step_id for s in run.steps_in(StepState.RUNNING) if s.recovery is Recovery.RERUN)
    return Interrupt(tuple(harmless), operation=run.operation is not None)


def _suspend_for_unknown(run: RunSnapshot) -> tuple[Command, ...]:
    names = ", ".join(s.step_id for s in run.steps_in(StepState.UNKNOWN))
    message = f"it is not known whether these steps did their work: {names}"
    return (Record(e.RunSuspended(SuspendReason.UNKNOWN_STEP, message)),)


def _exhausted_problem(run: RunSnapshot) -> Problem:
    return Problem("BUDGET_EXHAUSTED", f"the run's budget of {run.exhausted} ran out")
