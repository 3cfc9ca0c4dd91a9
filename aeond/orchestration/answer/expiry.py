"""Where a run expired: the budget that ran out, the phase, and whether at its boundary or within it."""

from enum import StrEnum

from aeond.domain.plans.plan import StepState
from aeond.domain.plans.profiles import Route
from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.run import Phase, RunSnapshot
from aeond.frozen import frozen

WALL_SECONDS = "wall_seconds"


class PhaseLetter(StrEnum):
    """The phases as they are spoken of."""

    A = "A"  # profile
    B = "B"  # draft and refine
    C = "C"  # execute and judge
    D = "D"  # adapt, on the way to the next pass
    E = "E"  # answer: it always does; what it was writing may be cut


class ExpiryPlace(StrEnum):
    BOUNDARY = "at its boundary"  # before it began
    MIDST = "before it ended"  # work in flight ended or was cut


@frozen
class Expiry:
    """Where a budget ran out. All passes and all that they gave stay in the run."""

    dimension: str
    phase: PhaseLetter
    place: ExpiryPlace
    passes: int
    succeeded: int
    total: int

    def __str__(self) -> str:
        words = self.dimension.replace("_", " ")
        done = f"{self.passes} {'pass' if self.passes == 1 else 'passes'}"
        steps = f"{self.succeeded} of {self.total} steps gave a result"
        where = f"in phase {self.phase}, {self.place}"
        if self.phase is PhaseLetter.E and not self.total:
            return f"the run's budget of {words} ran out {where}"
        return f"the run's budget of {words} ran out {where}, after {done}: {steps}"


def expiry_of(run: RunSnapshot) -> Expiry | None:
    """What the snapshot of an expired run tells; None when no budget ran out.

    Works for a run in any state of completeness: what it lacks counts as not begun.
    """
    if not run.exhausted:
        return None
    phase = _phase_of(run)
    # Time runs out while something is in flight; anything else when it is wanted for what comes next.
    midst = run.pass_open or run.exhausted == WALL_SECONDS
    return Expiry(
        dimension=run.exhausted,
        phase=phase,
        place=ExpiryPlace.MIDST if midst else ExpiryPlace.BOUNDARY,
        passes=run.pass_index,
        succeeded=len(run.steps_in(StepState.SUCCEEDED)),
        total=len(run.steps),
    )


def _phase_of(run: RunSnapshot) -> PhaseLetter:
    # An answer that is begun for an expired run has nothing reserved: it is in no phase but that where it expired.
    writing = run.operation not in (None, Amounts()) or run.route is Route.REPLY
    if run.phase is Phase.ANSWER and writing:
        return PhaseLetter.E
    if run.plan is None:
        return PhaseLetter.A if run.profile is None and run.logic_version > 1 else PhaseLetter.B
    judged = run.evaluation
    if run.pass_index == 0:  # a plan of ours may still be judged or refined
        drafting = judged is None or (not judged.converged and run.exhausted == WALL_SECONDS)
        return PhaseLetter.B if drafting and run.route is Route.PLAN else PhaseLetter.C
    return PhaseLetter.C if run.pass_open or judged is None else PhaseLetter.D
