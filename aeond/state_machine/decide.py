"""Decides what a run does next: a pure function of the run's snapshot.

Theory of operation
-------------------
A run is a list of events. `fold` turns them into a RunSnapshot; `decide` examines the snapshot and returns
commands; the host journals the intent of each command *before* performing it, and answers with an event.
Nothing else changes a run: durability, replay and recovery consist of `fold` over the journal, after which the
run continues.

Limits hold because every command that costs anything has a reservation, taken from the ledger when its intent
is folded and settled when its end is. Amounts that are not left are not reserved, and amounts that are not
reserved are not used. While other work is in flight, a shortage may be temporary (reservations exceed use), so
the run waits. With nothing in flight, the dimension is exhausted, and the run proceeds to its answer. The same
happens if a step, the planning or the answer found the remaining amount too small for its prompt (BUDGET_SPENT).

Every run ends: each command leads to an event; each event either consumes ttl, calls or passes, which only
decrease, or moves the run forward through its phases, where only ADAPT returns to EXECUTE, which costs a pass.

state           phase     when                                   commands
-------------   -------   ------------------------------------   ---------------------------------------
any active                cancelled, work in flight              Interrupt work that is safe to interrupt
any active                cancelled, nothing in flight           Record RunEnded CANCELLED
PENDING                                                          Record RunStarted
RUNNING                   active in three crashes                Record RunSuspended
RUNNING                   budget exhausted, work in flight       wait (out of wall time: Interrupt)
AWAITING_INPUT            budget exhausted before it asked       Record BudgetExhausted, withdraw question
RUNNING                   remaining amount did not suffice       Record BudgetExhausted
RUNNING                   budget exhausted                       Operate ANSWER without a model
RUNNING                   budget exhausted, answered             Record RunEnded EXPIRED
RUNNING         PROFILE   in a session, not resolved             Operate RESOLVE
RUNNING         PROFILE   no route                               Operate ROUTE
RUNNING         PROFILE   the route is PLAN                      Operate PROFILE
RUNNING         PLAN      no plan                                Operate PLAN
RUNNING         PLAN      a plan not yet evaluated               Operate EVALUATE, as pass 0
RUNNING         PLAN      evaluated, to be refined               Operate REFINE
as AWAITING     EXECUTE   an UNKNOWN step, none running          Record RunSuspended
as AWAITING     EXECUTE   no pass is open                        Record PassStarted
as AWAITING     EXECUTE   steps READY, fewer than limit running  ExecuteStep for each
RUNNING         EXECUTE   nothing ready or running               Record PassEnded
RUNNING         ADAPT     the pass is not evaluated              Operate EVALUATE
RUNNING         ADAPT     evaluated, not converged               Operate REFINE
RUNNING         ANSWER    no answer                              Operate ANSWER
RUNNING         ANSWER    answered                               Record RunEnded SUCCEEDED or FAILED
AWAITING_INPUT            nothing ready or running               wait for a person
SUSPENDED                 for approval, none is open             Record RunResumed
SUSPENDED                                                        wait for a person or for disk space

`fold` determines the effect of an operation: a plan given by the client is neither evaluated nor refined, and
journals of logic version 1 contain neither PROFILE nor ADAPT. A command for which the ledger has too little
becomes Record BudgetExhausted; evaluation and refinement proceed without a model instead. The tables in
`state_machine/transitions.py` list the events that a state admits; `fold` rejects all others.
"""

from collections.abc import Iterator
from typing import Final

from aeond.domain.outcome import BUDGET_SPENT, Problem
from aeond.domain.plans.plan import StepState
from aeond.domain.plans.profiles import Route
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs import events as e
from aeond.domain.runs import reservations as r
from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.commands import Command, ExecuteStep, Interrupt, Operate, Record
from aeond.domain.runs.run import Operation, Phase, PlanSource, RunSnapshot, RunState, SuspendReason
from aeond.domain.tools import Recovery

MAX_CRASHES: Final = 3


def decide(run: RunSnapshot) -> tuple[Command, ...]:
    """The commands that are due now; empty if the run has ended, or waits for a person or for work in
    flight.
    """
    if run.seq == 0 or run.state.ended:
        return ()
    if run.cancel_requested:
        return (_interrupt(run) if run.in_flight else Record(e.RunEnded(RunState.CANCELLED)),)
    if run.state is RunState.PENDING:
        return (Record(e.RunStarted()),)
    if run.state is RunState.SUSPENDED:
        decided = run.suspend_reason is SuspendReason.APPROVAL and not run.approvals
        return (Record(e.RunResumed()),) if decided else ()
    if run.crashes >= MAX_CRASHES:
        message = f"the daemon crashed {run.crashes} times during this run"
        return (Record(e.RunSuspended(SuspendReason.REPEATED_CRASHES, message)),)
    if run.exhausted:
        return _expire(run)
    if run.phase is Phase.EXECUTE:
        return tuple(_execute(run))
    if run.operation is not None:
        return ()
    if run.phase is Phase.PROFILE:
        return (_evaluated_operation(run, _profiling(run)),)
    if run.phase is Phase.PLAN and run.plan is None:
        return _plan(run)
    if run.phase is Phase.ANSWER:
        return _answer(run)
    return (_evaluated_operation(run, Operation.EVALUATE if run.evaluation is None else Operation.REFINE),)


def _expire(run: RunSnapshot) -> tuple[Command, ...]:
    if run.in_flight:
        return (_interrupt(run),) if run.exhausted == "wall_seconds" else ()
    if run.asks_person:  # by a step that ended after the budget was exhausted: the question is withdrawn
        return (Record(e.BudgetExhausted(run.exhausted)),)
    if any(s.state is StepState.UNKNOWN for s in run.steps.values()):
        return _suspend_for_unknown(run)
    if run.answer is None:
        return (Operate(Operation.ANSWER, r.NOTHING),)
    problem = Problem("BUDGET_EXHAUSTED", f"the run's budget for {run.exhausted} is exhausted")
    return (Record(e.RunEnded(RunState.EXPIRED, problem)),)


def _profiling(run: RunSnapshot) -> Operation:
    if run.request.session_id and run.resolved_text is None:
        return Operation.RESOLVE
    return Operation.ROUTE if run.route is None else Operation.PROFILE


def _evaluated_operation(run: RunSnapshot, operation: Operation) -> Operate:
    # The answer has priority: its share is not spent on evaluation.
    spare = run.ledger.left - r.ANSWERING.at_most(run.ledger.left)
    most = r.before_answer(run.logic_version, operation, direct=run.route is Route.DIRECT)
    return Operate(operation, most.at_most(spare))


def _plan(run: RunSnapshot) -> tuple[Command, ...]:
    if short := r.PLANNING_MINIMUM.exceeding(run.ledger.left):
        return (Record(e.BudgetExhausted(short)),)
    return (Operate(Operation.PLAN, r.PLANNING.at_most(run.ledger.left)),)


def _execute(run: RunSnapshot) -> Iterator[Command]:
    running = len(run.running)
    ready = run.startable
    if run.steps_in(StepState.UNKNOWN):
        if not running:
            yield from _suspend_for_unknown(run)
    elif not run.pass_open:
        if run.ledger.left.passes < 1:
            yield Record(e.BudgetExhausted("passes"))
        else:
            yield Record(e.PassStarted(run.pass_index + 1))
    elif not ready and not running:
        if not run.asks_person:
            lack = _lack_of_steps(run)
            yield Record(e.BudgetExhausted(lack) if lack else e.PassEnded(run.pass_index))
    else:
        ledger = run.ledger
        for step in ready[: max(0, run.request.parallel_steps - running)]:
            want, minimum = _costs(run, step)
            if short := minimum.exceeding(ledger.left):
                if ledger.reserved == r.NOTHING:
                    yield Record(e.BudgetExhausted(short))
                return
            reservation = want.at_most(ledger.left)
            ledger = ledger.reserve(reservation)
            yield ExecuteStep(step.step_id, reservation)


def _costs(run: RunSnapshot, step: StepSnapshot) -> tuple[Amounts, Amounts]:
    """The cost of a step, and the minimum with which it starts."""
    call = step.step.tool_call
    if call is None:
        return r.AGENT_STEP, r.AGENT_STEP_MINIMUM
    return r.tool_step(run.ledger.left, asks=call.tool in run.asking_tools), r.TOOL_STEP_MINIMUM


def _lack_of_steps(run: RunSnapshot) -> str:
    """The dimension exhausted for a step of this pass, or ""."""
    failed = (s for s in run.steps_in(StepState.FAILED) if s.pass_index == run.pass_index)
    lacks = (r.lacking(run.ledger.left, _costs(run, s)[0]) for s in failed if s.reason == BUDGET_SPENT)
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
    by_rule = run.problem is not None or run.plan_source is PlanSource.CLIENT
    return (Operate(Operation.ANSWER, r.NOTHING if by_rule else r.ANSWERING.at_most(run.ledger.left)),)


def _end(run: RunSnapshot) -> e.RunEnded:
    if run.problem is not None:
        return e.RunEnded(RunState.FAILED, run.problem)
    missing = run.steps_in(StepState.FAILED, StepState.INVALID, StepState.SKIPPED)
    made_good = run.evaluation is not None and run.evaluation.converged
    if missing and not made_good:
        names = ", ".join(s.step_id for s in missing)
        return e.RunEnded(RunState.FAILED, Problem("STEPS_FAILED", f"steps without a result: {names}"))
    if run.route is Route.REPLY and run.answer is not None and not run.answer.synthesized:
        return e.RunEnded(RunState.FAILED, Problem("NOT_ANSWERED", "the model gave no answer"))
    return e.RunEnded(RunState.SUCCEEDED)


def _interrupt(run: RunSnapshot) -> Interrupt:
    # A step with effects is never interrupted: it ends by itself or at its tool's deadline.
    harmless = (s.step_id for s in run.running if s.recovery is Recovery.RERUN)
    return Interrupt(tuple(harmless), operation=run.operation is not None)


def _suspend_for_unknown(run: RunSnapshot) -> tuple[Command, ...]:
    names = ", ".join(s.step_id for s in run.steps_in(StepState.UNKNOWN))
    message = f"the outcome of these steps is unknown: {names}"
    return (Record(e.RunSuspended(SuspendReason.UNKNOWN_STEP, message)),)
