"""Changing a plan step by step: only what has not run, and only what leaves the plan sound."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.outcome import Problem
from aeond.domain.plans.evaluations import RefinementAction, RefinementOperation
from aeond.domain.plans.plan import MAX_PLAN_STEPS, MAX_REFINEMENTS, Plan, PlanStep, fragment_of, nesting_of
from aeond.domain.runs.run import RunSnapshot
from aeond.orchestration.interfaces import Refinement

MAX_FRAGMENT_ROUNDS: Final = 3  # in which one fragment is changed
MAX_NESTING: Final = 5
MAX_ACTIONS: Final = 16  # in one round

Validate = Callable[[Plan], Sequence[Problem]]


def apply_actions(
    run: RunSnapshot, actions: Sequence[RefinementAction], validate: Validate, tools: Collection[str]
) -> Refinement:
    """The run's plan with those actions applied that can be; each other one is a problem that says why.

    Steps that were executed stay as they are, and every step keeps its id and its place. An action is
    skipped when its step ran, is not there or is there already, nests too deep or was changed too often;
    when it calls a tool that the run may not use, or makes a call that was made before; or when the plan
    would have a problem that it has not now. Actions that need each other may come in any order. Without a plan nothing is applied.
    """
    if run.plan is None:
        return Refinement(Plan(""), skipped=(Problem("PLAN_MISSING", "there is no plan to refine"),))
    if run.refinement_count >= MAX_REFINEMENTS:
        message = f"the plan was refined {MAX_REFINEMENTS} times: it is executed unchanged"
        return Refinement(run.plan, skipped=(Problem("REFINEMENT_LIMIT", message),) if actions else ())
    plan = run.plan
    waiting = list(actions[:MAX_ACTIONS])
    applied: list[RefinementAction] = []
    problems: list[Problem] = []
    moved = True
    while moved and waiting:
        moved, problems, refused = False, [], []
        for action in waiting:
            problem, changed = _try(run, plan, action, applied, validate, tools)
            if problem is None:
                plan, moved = changed, True
                applied.append(action)
            else:
                problems.append(problem)
                refused.append(action)
        waiting = refused
    left_out = len(actions) - MAX_ACTIONS
    if left_out > 0:
        problems.append(Problem("REFINEMENT_LIMIT", f"{left_out} more changes than {MAX_ACTIONS} at once"))
    return Refinement(plan, tuple(applied), tuple(problems))


def _try(
    run: RunSnapshot,
    plan: Plan,
    action: RefinementAction,
    applied: Sequence[RefinementAction],
    validate: Validate,
    tools: Collection[str],
) -> tuple[Problem | None, Plan]:
    """Why the action cannot be applied, or the plan with it."""
    problem = (
        _inadmissible(run, plan, action, applied) or _unusable(action.step, tools) or _repeated(run, action)
    )
    if problem is not None:
        return problem, plan
    changed = _changed(plan, action)
    known = {(found.reason, found.message) for found in validate(plan)}
    for found in validate(changed):
        if (found.reason, found.message) not in known:
            return Problem(found.reason, f"{action.operation} {action.step_id}: {found.message}"), plan
    return None, changed


def _inadmissible(
    run: RunSnapshot, plan: Plan, action: RefinementAction, applied: Sequence[RefinementAction]
) -> Problem | None:
    step_id, operation = action.step_id, action.operation
    there = any(step.step_id == step_id for step in plan)
    current = run.steps.get(step_id)
    if current is not None and current.executed:
        return _problem("STEP_EXECUTED", action, "it was executed and cannot change")
    if any(step_id == other.step_id for other in applied):
        return _problem("STEP_CHANGED_TWICE", action, "it was already changed in this round")
    if run.refinements.get(fragment_of(step_id), 0) >= MAX_FRAGMENT_ROUNDS:
        return _problem("FRAGMENT_LIMIT", action, f"it was refined {MAX_FRAGMENT_ROUNDS} times")
    if nesting_of(step_id) > MAX_NESTING:
        return _problem("NESTING_TOO_DEEP", action, f"plans nest to a depth of {MAX_NESTING}")
    if operation is not RefinementOperation.REMOVE and (
        action.step is None or action.step.step_id != step_id
    ):
        return _problem("STEP_MISSING", action, "it does not define the step")
    if operation is RefinementOperation.ADD:
        if there:
            return _problem("STEP_ID_DUPLICATE", action, "the step exists already")
        if len(plan.steps) >= MAX_PLAN_STEPS:
            return _problem("PLAN_TOO_LONG", action, f"a plan has at most {MAX_PLAN_STEPS} steps")
    elif not there:
        return _problem("STEP_UNKNOWN", action, "there is no such step")
    elif operation is RefinementOperation.REMOVE and len(plan.steps) == 1:
        return _problem("PLAN_EMPTY", action, "it is the only step")
    return None


def _unusable(step: PlanStep | None, tools: Collection[str]) -> Problem | None:
    call = None if step is None else step.tool_call
    if call is None or call.tool in tools:
        return None
    return Problem("TOOL_UNKNOWN", f"there is no tool '{call.tool:.64}' for this run")


def _repeated(run: RunSnapshot, action: RefinementAction) -> Problem | None:
    """A call that was made: its result stands, and so does its failure, unless something is to happen before it."""
    step = action.step
    if step is None or step.tool_call is None:
        return None
    if any(name not in run.steps or not run.steps[name].executed for name in step.depends_on):
        return None
    asked = replace(step.tool_call, call_id="")
    for other in run.steps.values():
        made = other.step.tool_call
        if other.executed and made and replace(made, call_id="") == asked:
            return _problem("CALL_REPEATED", action, f"{other.step_id} made the same call: {other.state}")
    return None


def _changed(plan: Plan, action: RefinementAction) -> Plan:
    steps = list(plan.steps)
    step = action.step
    if step is None:
        kept = (s for s in steps if s.step_id != action.step_id)
        return replace(plan, steps=tuple(_without(s, action.step_id) for s in kept))
    if action.operation is RefinementOperation.ADD:
        # A fragment's steps stand before the one that they were made for, everything else at the end.
        head = fragment_of(step.step_id)
        steps.insert(next((i for i, s in enumerate(steps) if s.step_id == head), len(steps)), step)
    else:
        place = next(i for i, s in enumerate(steps) if s.step_id == action.step_id)
        modified = action.operation is RefinementOperation.MODIFY
        steps[place] = _modified(steps[place], step) if modified else step
    return replace(plan, steps=tuple(steps))


def _modified(step: PlanStep, change: PlanStep) -> PlanStep:
    """The step with what the change says; what it leaves empty stays."""
    acts = change.tool_call is not None or change.agent is not None
    return replace(
        step,
        description=change.description or step.description,
        tool_call=change.tool_call if acts else step.tool_call,
        agent=change.agent if acts else step.agent,
        depends_on=change.depends_on or step.depends_on,
        handoff_to_next=change.handoff_to_next or step.handoff_to_next,
        errors=(),
    )


def _without(step: PlanStep, step_id: str) -> PlanStep:
    """The step, no longer waiting for that one: a reference to it would still be a problem."""
    if step_id not in step.depends_on:
        return step
    return replace(step, depends_on=tuple(name for name in step.depends_on if name != step_id))


def _problem(reason: str, action: RefinementAction, why: str) -> Problem:
    return Problem(reason, f"{action.operation} {action.step_id:.64}: {why}")
