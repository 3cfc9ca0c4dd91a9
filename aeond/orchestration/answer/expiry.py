"""Where a run expired: which budget ran out, in which phase, and whether during the phase or at its end."""

from aeond.domain.plans.plan import StepState
from aeond.domain.plans.profiles import Route
from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.run import Phase, RunSnapshot

WALL_SECONDS = "wall_seconds"


def expiry_note(run: RunSnapshot) -> str:
    """The note of an expired run; "" if no budget ran out. All passes and their results stay in the run.

    Works for a run in any state: parts that are missing count as not started.
    """
    if not run.exhausted:
        return ""
    phase = _phase_of(run)
    # Time runs out while an operation is in progress; other budgets run out when the next operation reserves its share.
    interrupted = run.pass_open or run.exhausted == WALL_SECONDS
    place = "before it ended" if interrupted else "at its boundary"
    words = run.exhausted.replace("_", " ")
    where = f"the run's budget of {words} ran out in phase {phase}, {place}"
    if phase == "E" and not run.steps:
        return where
    done = f"{run.pass_index} {'pass' if run.pass_index == 1 else 'passes'}"
    succeeded = len(run.steps_in(StepState.SUCCEEDED))
    return f"{where}, after {done}: {succeeded} of {len(run.steps)} steps gave a result"


def _phase_of(run: RunSnapshot) -> str:
    """The phase as docs/orchestration.md names it: A profile, B draft and refine, C execute and evaluate, D adapt, E answer."""
    # The answer of an expired run reserves nothing, so an operation without a reservation is not phase E.
    writing = run.operation not in (None, Amounts()) or run.route is Route.REPLY
    if run.phase is Phase.ANSWER and writing:
        return "E"
    if run.plan is None:
        return "A" if run.profile is None and run.logic_version > 1 else "B"
    judged = run.evaluation
    if run.pass_index == 0:  # a plan that the daemon made may still be judged or refined
        drafting = judged is None or (not judged.converged and run.exhausted == WALL_SECONDS)
        return "B" if drafting and run.route is Route.PLAN else "C"
    return "C" if run.pass_open or judged is None else "D"
