"""What a plan or a pass was judged to be, and how a plan is changed for it."""

from enum import StrEnum

from aeond.domain.plans import PlanStep
from aeond.frozen import frozen


class Severity(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@frozen
class Issue:
    """Something wrong with a step, or with the plan as a whole (`step_id` "").

    `reason` is a stable UPPER_SNAKE word, `message` plain words, `proposal` a repair in plain words.
    """

    reason: str
    severity: Severity
    step_id: str
    message: str
    proposal: str = ""


@frozen
class Evaluation:
    """A plan before its first pass (`pass_index` 0) or a pass, judged.

    The three scores are 0 to 1. `reasons` are codes of why it did or did not converge. A non-empty
    `final_output` is the answer, written by the model from the results.
    """

    pass_index: int
    converged: bool
    reasons: tuple[str, ...] = ()
    issues: tuple[Issue, ...] = ()
    completeness: float = 0.0
    coherence: float = 0.0
    consistency: float = 0.0
    final_output: str = ""


class RefinementOperation(StrEnum):
    ADD = "add"
    MODIFY = "modify"
    REMOVE = "remove"
    REPLACE = "replace"


@frozen
class RefinementAction:
    """One change to a plan: of one step that has not run.

    `step_id` names the step that is added, modified, removed or replaced; `step` is how it is to be
    (None for REMOVE).
    """

    operation: RefinementOperation
    step_id: str
    step: PlanStep | None = None
    rationale: str = ""
