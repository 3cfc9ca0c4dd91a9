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
the run waits; with nothing in flight the dimension is exhausted, and the run goes to its answer. So it is
when a step, the planning or the answer found what was left too little for its prompt (BUDGET_SPENT).

Every run ends: each command leads to an event; each event either consumes ttl, calls or passes, which
only fall, or moves the run forward through its phases, where only ADAPT goes back to EXECUTE, for a pass.

state           phase     when                                   commands
-------------   -------   ------------------------------------   ---------------------------------------
any live                  cancelled, work in flight              Interrupt what is harmless to cut
any live                  cancelled, nothing in flight           Record RunEnded CANCELLED
PENDING                                                          Record RunStarted
RUNNING                   live in three crashes                  Record RunSuspended
RUNNING                   budget exhausted, work in flight       wait (out of wall time: Interrupt)
AWAITING_INPUT            budget exhausted before it asked       Record BudgetExhausted, which asks nobody
RUNNING                   what is left did not suffice           Record BudgetExhausted
RUNNING                   budget exhausted                       Operate ANSWER without a model
RUNNING                   budget exhausted, answered             Record RunEnded EXPIRED
RUNNING         PROFILE   in a session, not resolved             Operate RESOLVE
RUNNING         PROFILE   no route                               Operate ROUTE
RUNNING         PROFILE   the route is PLAN                      Operate PROFILE
RUNNING         PLAN      no plan                                Operate PLAN
RUNNING         PLAN      a plan that is not judged              Operate EVALUATE, as pass 0
RUNNING         PLAN      judged, to be refined                  Operate REFINE
as AWAITING     EXECUTE   an UNKNOWN step, none running          Record RunSuspended
as AWAITING     EXECUTE   no pass is open                        Record PassStarted
as AWAITING     EXECUTE   steps READY, fewer than limit running  ExecuteStep for each
RUNNING         EXECUTE   nothing ready or running               Record PassEnded
RUNNING         ADAPT     the pass is not judged                 Operate EVALUATE
RUNNING         ADAPT     judged, not converged                  Operate REFINE
RUNNING         ANSWER    no answer                              Operate ANSWER
RUNNING         ANSWER    answered                               Record RunEnded SUCCEEDED or FAILED
AWAITING_INPUT            nothing ready or running               wait for a person
SUSPENDED                                                        wait for a person or for room on the disk

What an operation leads to is in `fold`: a plan given by the client is neither judged nor refined, and
the journals of logic version 1 know neither PROFILE nor ADAPT. A command that lacks something in the
ledger becomes Record BudgetExhausted; judging and refining go without a model instead. Which events a
state admits is in `domain/transitions.py`; `fold` refuses all others.
"""

from collections.abc import Iterator
from typing import Final

from aeond.domain import events as e
from aeond.domain import reservations as r
from aeond.domain.budgets import Amounts
from aeond.domain.commands import Command, ExecuteStep, Interrupt, Operate, Record
from aeond.domain.outcome import BUDGET_SPENT, Problem
from aeond.domain.plans import StepState
from aeond.domain.profiles import Route
from aeond.domain.runs import Operation, Phase, PlanSource, RunSnapshot, RunState, SuspendReason
from aeond.domain.steps import StepSnapshot
from aeond.domain.tools import Recovery

MAX_CRASHES: Final = 3
_CHATTING: Final = 3  # the logic version since which a chat comes before the choice of a route


def decide(run: RunSnapshot) -> tuple[Command, ...]:
    """The commands that are due now; empty when the run has ended, waits for a person, or for work in flight."""
    if run.seq == 0 or run.state.ended:
        return ()
    if run.cancel_requested:
        return _cancel(run)
    if run.state is RunState.PENDING:
        return (Record(e.RunStarted()),)
    if run.state is RunState.SUSPENDED:
        return ()
    if run.crashes >= MAX_CRASHES:
        message = f"the daemon crashed {run.crashes} times while this run was live"
        return (Record(e.RunSuspended(SuspendReason.REPEATED_CRASHES, message)),)
    if run.exhausted:
        return _expire(run)
    if run.phase is Phase.EXECUTE:
        return tuple(_execute(run))
    if run.operation is not None:
        return ()
    if run.phase is Phase.PROFILE:
        return (_judge(run, _profiling(run)),)
    if run.phase is Phase.PLAN and run.plan is None:
        return _plan(run)
    if run.phase is Phase.ANSWER:
        return _answer(run)
    return (_judge(run, Operation.EVALUATE if run.evaluation is None else Operation.REFINE),)


def _cancel(run: RunSnapshot) -> tuple[Command, ...]:
    if _in_flight(run):
        return (_interrupt(run),)
    return (Record(e.RunEnded(RunState.CANCELLED)),)


def _expire(run: RunSnapshot) -> tuple[Command, ...]:
    if _in_flight(run):
        return (_interrupt(run),) if run.exhausted == "wall_seconds" else ()
    if run.questions:  # asked by a step that ended after the budget had: nobody is asked any more
        return (Record(e.BudgetExhausted(run.exhausted)),)
    if any(s.state is StepState.UNKNOWN for s in run.steps.values()):
        return _suspend_for_unknown(run)
    if run.answer is None:
        return (Operate(Operation.ANSWER, r.NOTHING),)
    return (Record(e.RunEnded(RunState.EXPIRED, _exhausted_problem(run))),)


def _profiling(run: RunSnapshot) -> Operation:
    if run.request.session_id and run.resolved_text is None:
        return Operation.RESOLVE
    return Operation.ROUTE if run.route is None else Operation.PROFILE


def _judge(run: RunSnapshot, operation: Operation) -> Operate:
    # The answer comes first: what it needs is not spent on judging.
    spare = run.ledger.left - r.ANSWERING.at_most(run.ledger.left)
    chats = operation is Operation.ROUTE and run.logic_version >= _CHATTING
    return Operate(operation, (r.ROUTING if chats else r.JUDGING).at_most(spare))


def _plan(run: RunSnapshot) -> tuple[Command, ...]:
    short = r.PLANNING_MINIMUM.exceeding(run.ledger.left)
    if short:
        return (Record(e.BudgetExhausted(short)),)
    return (Operate(Operation.PLAN, r.PLANNING.at_most(run.ledger.left)),)


def _execute(run: RunSnapshot) -> Iterator[Command]:
    running = len(_running(run))
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
        if not run.questions:
            lack = _lack_of_steps(run)
            yield Record(e.BudgetExhausted(lack) if lack else e.PassEnded(run.pass_index))
    else:
        ledger = run.ledger
        for step in ready[: max(0, run.request.parallel_steps - running)]:
            want, minimum = _costs(step)
            short = minimum.exceeding(ledger.left)
            if short:
                if ledger.reserved == r.NOTHING:
                    yield Record(e.BudgetExhausted(short))
                return
            reservation = want.at_most(ledger.left)
            ledger = ledger.reserve(reservation)
            yield ExecuteStep(step.step_id, reservation)


def _costs(step: StepSnapshot) -> tuple[Amounts, Amounts]:
    """What a step wants, and the least that it begins with."""
    if step.step.tool_call is None:
        return r.AGENT_STEP, r.AGENT_STEP_MINIMUM
    return r.TOOL_STEP, r.TOOL_STEP_MINIMUM


def _lack_of_steps(run: RunSnapshot) -> str:
    """What ran out for a step of this pass, or ""."""
    failed = (s for s in run.steps_in(StepState.FAILED) if s.pass_index == run.pass_index)
    lacks = (r.lacking(run.ledger.left, _costs(s)[0]) for s in failed if s.reason == BUDGET_SPENT)
    return next(filter(None, lacks), "")


def _answer(run: RunSnapshot) -> tuple[Command, ...]:
    lack = ""
    if run.problem is not None and run.problem.reason == BUDGET_SPENT:
        lack = r.lacking(run.ledger.left, r.PLANNING)
    elif run.answer is not None and run.answer.budget_exhausted:
        lack = r.lacking(run.ledger.left, r.ANSWERING)
    if lack:
        return (Record(e.BudgetExhausted(lack)),)
    if run.answer is not None:
        return (Record(_end(run)),)
    if run.problem is not None or run.plan_source is PlanSource.CLIENT:
        return (Operate(Operation.ANSWER, r.NOTHING),)
    return (Operate(Operation.ANSWER, r.ANSWERING.at_most(run.ledger.left)),)


def _end(run: RunSnapshot) -> e.RunEnded:
    if run.problem is not None:
        return e.RunEnded(RunState.FAILED, run.problem)
    missing = run.steps_in(StepState.FAILED, StepState.INVALID, StepState.SKIPPED)
    made_good = run.evaluation is not None and run.evaluation.converged
    if missing and not made_good:
        names = ", ".join(s.step_id for s in missing)
        return e.RunEnded(RunState.FAILED, Problem("STEPS_FAILED", f"these steps gave no result: {names}"))
    if run.route is Route.REPLY and run.answer is not None and not run.answer.synthesized:
        return e.RunEnded(RunState.FAILED, Problem("NOT_ANSWERED", "the model gave no answer"))
    return e.RunEnded(RunState.SUCCEEDED)


def _running(run: RunSnapshot) -> tuple[StepSnapshot, ...]:
    """The steps in flight: one that waits for a person is not."""
    return tuple(s for s in run.steps_in(StepState.RUNNING) if s.question is None)


def _in_flight(run: RunSnapshot) -> bool:
    return run.operation is not None or bool(_running(run))


def _interrupt(run: RunSnapshot) -> Interrupt:
    # A step with effects is never cut: it ends by itself or by its tool's own deadline.
    harmless = (s.step_id for s in _running(run) if s.recovery is Recovery.RERUN)
    return Interrupt(tuple(harmless), operation=run.operation is not None)


def _suspend_for_unknown(run: RunSnapshot) -> tuple[Command, ...]:
    names = ", ".join(s.step_id for s in run.steps_in(StepState.UNKNOWN))
    message = f"it is not known whether these steps did their work: {names}"
    return (Record(e.RunSuspended(SuspendReason.UNKNOWN_STEP, message)),)


def _exhausted_problem(run: RunSnapshot) -> Problem:
    return Problem("BUDGET_EXHAUSTED", f"the run's budget of {run.exhausted} ran out")
