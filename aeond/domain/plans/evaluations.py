"""Evaluations of plans and passes, and the refinements they request."""

from enum import StrEnum

from aeond.domain.plans.plan import PlanStep
from aeond.frozen import frozen


class Severity(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@frozen
class Issue:
    """A problem with a step, or with the plan as a whole (`step_id` "").

    `reason` is a stable UPPER_SNAKE word, `message` describes the problem, `proposal` suggests a repair.
    """

    reason: str
    severity: Severity
    step_id: str
    message: str
    proposal: str = ""


@frozen
class Evaluation:
    """The evaluation of a plan before its first pass (`pass_index` 0), or of a pass.

    The three scores are 0 to 1, or None if no model judged. `reasons` are codes that explain why it did or did
    not converge. A non-empty `final_output` is the answer, written by the model from the results.
    """

    pass_index: int
    converged: bool
    reasons: tuple[str, ...] = ()
    issues: tuple[Issue, ...] = ()
    completeness: float | None = None
    coherence: float | None = None
    consistency: float | None = None
    final_output: str = ""

    @property
    def scored(self) -> bool:
        """Whether a model gave the scores."""
        return None not in (self.completeness, self.coherence, self.consistency)


class RefinementOperation(StrEnum):
    ADD = "add"
    MODIFY = "modify"
    REMOVE = "remove"
    REPLACE = "replace"


@frozen
class RefinementAction:
    """A change to one step of a plan that has not run.

    `step_id` names the step that is added, modified, removed or replaced; `step` is its new definition (None
    for REMOVE).
    """

    operation: RefinementOperation
    step_id: str
    step: PlanStep | None = None
    rationale: str = ""
