"""Plans: a graph of steps, each with a tool call or an agent."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from aeond.domain.tools import ToolCall
from aeond.frozen import frozen

MAX_PLAN_STEPS = 64
MAX_REFINEMENTS = 10  # rounds in a whole run: then the plan goes as it is
LLM_AGENT = "llm"  # the agent that is the model itself


class StepState(StrEnum):
    """The place of a step in its life."""

    PENDING = "pending"  # waits for its dependencies
    READY = "ready"  # may start
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    INVALID = "invalid"  # ran, but its output is blocked or unusable
    SKIPPED = "skipped"  # will not run: a dependency failed, or the run is ending
    UNKNOWN = "unknown"  # cut short by a crash with effects: a person decides

    @property
    def ended(self) -> bool:
        return self not in (StepState.PENDING, StepState.READY, StepState.RUNNING, StepState.UNKNOWN)


class Clarity(StrEnum):
    """How sure a reasoning step is of its output."""

    CLEAR = "clear"
    PARTIALLY_CLEAR = "partially_clear"
    BLOCKED = "blocked"


@dataclass(frozen=True)  # without slots, for copying.replace
class PlanStep:
    """One step: a tool call *or* an agent, what it waits for, and what it hands on.

    `step_index` counts from 1. `incoming_context` is filled from the outputs of its dependencies when
    the step becomes ready; `errors` by the Validator, and cleared by a repair that worked.
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
    """A directed acyclic graph of steps with unique ids, in the order they were planned."""

    goal: str
    steps: tuple[PlanStep, ...] = field(default=())

    def __iter__(self) -> Iterator[PlanStep]:
        return iter(self.steps)

    def step(self, step_id: str) -> PlanStep:
        """The step of that id; KeyError when there is none."""
        for step in self.steps:
            if step.step_id == step_id:
                return step
        raise KeyError(step_id)


def fragment_of(step_id: str) -> str:
    """The step whose plan a step is part of: `s2_1` of `s2_1_3`. One that stands alone is its own: `s2` of `s2`."""
    return step_id.rpartition("_")[0] or step_id


def nesting_of(step_id: str) -> int:
    """How deep a step is nested: 0 for `s2`, 2 for `s2_1_3`."""
    return step_id.count("_")
