"""Whether the states of a run and of its steps follow the transition tables over a whole journal."""

from collections.abc import Iterable

from aeond.domain.plans.plan import StepState
from aeond.domain.runs.events import Event
from aeond.domain.runs.run import RunSnapshot, RunState
from aeond.state_machine.fold import fold
from aeond.state_machine.transitions import RUN_TRANSITIONS, STEP_TRANSITIONS
from tests.support.step_consequences import STEP_CONSEQUENCES

FIRST_STATES = {StepState.PENDING, StepState.READY, StepState.SKIPPED}


def unlisted_changes(journal: Iterable[Event]) -> list[str]:
    """Every change of a state that the tables do not list, in words."""
    found, run = [], RunSnapshot("")
    for event in journal:
        before = run if run.seq else RunSnapshot(event.run_id)
        run = fold(before, event)
        kind = type(event.kind)
        if run.state not in RUN_TRANSITIONS[before.state][kind]:
            found.append(f"run: {before.state} > {run.state} by {kind.__name__}")
        working = run.state in (RunState.RUNNING, RunState.AWAITING_INPUT)
        if working and (run.state is RunState.AWAITING_INPUT) != run.asks_person:
            found.append(f"run: {run.state} with {len(run.questions)} open questions after {kind.__name__}")
        for step_id, step in run.steps.items():
            if step_id not in before.steps:
                listed = FIRST_STATES
            else:
                old = before.steps[step_id].state
                tables = (STEP_TRANSITIONS, STEP_CONSEQUENCES)
                listed = {old, *(to for table in tables for to in table.get(old, {}).get(kind, ()))}
            if step.state not in listed:
                found.append(f"{step_id}: > {step.state} by {kind.__name__}")
    return found
