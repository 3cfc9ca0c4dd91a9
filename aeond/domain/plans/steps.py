"""Steps of a plan and their progress."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from aeond.domain.plans.approvals import ApprovalRequest
from aeond.domain.plans.plan import Clarity, PlanStep, StepState
from aeond.domain.plans.subtasks import ChildRun
from aeond.domain.runs.budgets import Amounts, ModelUse
from aeond.domain.runs.questions import Question
from aeond.domain.tools import Recovery
from aeond.domain.values import JsonValue


class StepMode(StrEnum):
    """How a step is executed."""

    TOOL = "tool"
    AGENT = "agent"
    REPAIR = "repair"  # the tool is missing or its arguments are invalid: repair first
    FALLBACK = "fallback"  # no tool was found: the model executes the step's description


@dataclass(frozen=True)  # without slots, for copying.replace
class StepSnapshot:
    """A step and its state. `attempt` counts its starts; 0 means never started. `pass_index` is the pass in
    which it last started.

    A RUNNING step with a `question` waits for a person; one with a `child` waits for that run. A step with an
    `approval` does not start before a person has allowed it.
    """

    step: PlanStep
    state: StepState = StepState.PENDING
    attempt: int = 0
    pass_index: int = 0
    mode: StepMode | None = None
    recovery: Recovery = Recovery.RERUN
    reservation: Amounts = field(default_factory=Amounts)
    output: JsonValue = None
    error: str = ""
    reason: str = ""
    clarity: Clarity | None = None
    duration_seconds: float = 0.0
    model_use: ModelUse | None = None
    question: Question | None = None
    approval: ApprovalRequest | None = None
    child: ChildRun | None = None

    @property
    def executed(self) -> bool:
        """Whether it has started or ended by running, which makes it immutable."""
        return self.attempt > 0 or self.state in (StepState.RUNNING, StepState.UNKNOWN)

    @property
    def lost(self) -> bool:
        """Whether it gave no result and will give none."""
        return self.state in (StepState.FAILED, StepState.INVALID)

    @property
    def step_id(self) -> str:
        return self.step.step_id

    @property
    def tool(self) -> str:
        """The tool that it calls; "" if it calls none."""
        return self.step.tool_call.tool if self.step.tool_call else ""

    @property
    def values(self) -> tuple[JsonValue, ...]:
        """The arguments of its call, without their names."""
        return tuple(self.step.tool_call.arguments.values()) if self.step.tool_call else ()


Steps = Mapping[str, StepSnapshot]  # by step id, in plan order
