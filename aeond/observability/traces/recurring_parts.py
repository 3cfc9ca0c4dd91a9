"""Encoded parts of spans that come back in many of them: to look them up takes a fraction of the time."""

from functools import lru_cache
from typing import Final

from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode
from aeond.observability.traces.encoding import attribute, attributes_of, encoded_name

AGENT: Final = "aeond"
OF_AGENT: Final = attributes_of({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": AGENT})
NAME_OF_STEP: Final = {mode: f"step {mode}" for mode in StepMode}


@lru_cache(maxsize=2_048)
def step_attributes(step_id: str, mode: str, attempt: int) -> bytes:
    """The attributes of a step that began."""
    return attributes_of({"aeond.step.id": step_id, "aeond.step.mode": mode, "aeond.step.attempt": attempt})


@lru_cache(maxsize=256)
def decision_attributes(verdict: str, rule: str, effect: str) -> bytes:
    """The attributes of a step about whose call the policy decided."""
    return attributes_of(
        {"aeond.policy.verdict": verdict, "aeond.policy.rule": rule, "aeond.policy.effect": effect}
    )


@lru_cache(maxsize=256)
def tool_attributes(tool: str) -> bytes:
    """The attributes of a call."""
    return attributes_of(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "gen_ai.tool.type": "function",
        }
    )


@lru_cache(maxsize=2_048)
def rest_of_step(step_id: str, attempt: int) -> bytes:
    """Name and attributes of a step that called a tool and succeeded."""
    attributes = step_attributes(step_id, StepMode.TOOL, attempt)
    return (
        encoded_name(NAME_OF_STEP[StepMode.TOOL]) + attributes + attribute("aeond.state", StepState.SUCCEEDED)
    )


@lru_cache(maxsize=256)
def rest_of_tool(tool: str) -> bytes:
    """Name and attributes of a call, but for its id."""
    return encoded_name(f"execute_tool {tool}") + tool_attributes(tool)
