"""Plans: a graph of steps, each with a tool call or an agent."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from aeond.domain.tools import ToolCall
from aeond.frozen import frozen

MAX_PLAN_STEPS = 64
MAX_REFINEMENTS = 10  # refinements in a whole run; after that the plan is executed unchanged
LLM_AGENT = "llm"  # the built-in agent that calls the model


class StepState(StrEnum):
    """The lifecycle state of a step."""

    PENDING = "pending"  # waits for its dependencies
    READY = "ready"  # can start
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    INVALID = "invalid"  # ran, but its output is rejected or unusable
    SKIPPED = "skipped"  # will not run: a dependency failed, or the run is ending
    UNKNOWN = "unknown"  # a step with side effects was interrupted by a crash: a person decides

    @property
    def ended(self) -> bool:
        return self not in (StepState.PENDING, StepState.READY, StepState.RUNNING, StepState.UNKNOWN)


class Clarity(StrEnum):
    """The confidence of a reasoning step in its output."""

    CLEAR = "clear"
    PARTIALLY_CLEAR = "partially_clear"
    BLOCKED = "blocked"


@dataclass(frozen=True)  # without slots, for copying.replace
class PlanStep:
    """One step: a tool call *or* an agent, its dependencies and its handoff.

    `step_index` counts from 1. `incoming_context` is filled from the outputs of the dependencies when the
    step becomes ready. `errors` are set by the Validator and cleared by a successful repair. `provides` are names given by
    the client, returned unchanged and never interpreted.
    """

    step_id: str
    description: str
    tool_call: ToolCall | None = None
    agent: str | None = None
    depends_on: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    handoff_to_next: str = ""
    incoming_context: str = ""
    step_index: int = 0
    total_steps: int = 0
    errors: tuple[str, ...] = ()
    clarity: Clarity | None = None


@frozen
class Plan:
    """A directed acyclic graph of steps with unique ids, in the order in which they were planned."""

    goal: str
    steps: tuple[PlanStep, ...] = field(default=())

    def __iter__(self) -> Iterator[PlanStep]:
        return iter(self.steps)

    def step(self, step_id: str) -> PlanStep:
        """The step with this id; KeyError if it does not exist."""
        for step in self.steps:
            if step.step_id == step_id:
                return step
        raise KeyError(step_id)


def fragment_of(step_id: str) -> str:
    """The id of the step whose nested plan contains this step: `s2_1` for `s2_1_3`; a top-level step stands
    for itself.
    """
    return step_id.rpartition("_")[0] or step_id


def nesting_of(step_id: str) -> int:
    """The nesting depth of a step: 0 for `s2`, 2 for `s2_1_3`."""
    return step_id.count("_")
