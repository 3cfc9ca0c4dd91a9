"""Fixtures for tests of the phases: passes with various outcomes, and a model that evaluates them."""

from collections.abc import Mapping
from typing import Any

from aeond.domain.plans.plan import Clarity, PlanStep, StepState
from aeond.domain.plans.profiles import Route
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.values import JsonValue
from aeond.orchestration.prompts.preamble import Preamble
from aeond.orchestration.repair.supervisor import Supervisor
from aeond.ports import LLMAdapter
from tests.support.strategy import registry, run_with, validator


def ran(
    step: PlanStep,
    in_pass: int = 1,
    output: JsonValue = "done",
    *,
    error: str = "",
    clarity: Clarity | None = None,
    **more: Any,
) -> StepSnapshot:
    """A step that ran in that pass: it failed with the error, or was blocked, or succeeded with the output."""
    state, reason = StepState.SUCCEEDED, ""
    if error:
        state, reason = StepState.FAILED, "TOOL_FAILED"
    if clarity is Clarity.BLOCKED:
        state, reason, error = StepState.INVALID, "BLOCKED", "the model says that it cannot do this step"
    given = None if error else output
    more = {"reason": reason, **more}
    return StepSnapshot(
        step, state, attempt=1, pass_index=in_pass, output=given, error=error, clarity=clarity, **more
    )


def after_pass(pass_index: int, *steps: StepSnapshot, **more: Any) -> RunSnapshot:
    """A planned run whose last pass is over; steps that did not run are as they are given."""
    return run_with(*steps, route=Route.PLAN, pass_index=pass_index, **more)


def model_of(llm: LLMAdapter) -> Supervisor:
    return Supervisor(llm, validator())


def preamble() -> Preamble:
    return Preamble(registry(), validator())


def judgement(
    *issues: Mapping[str, str], complete: int = 100, coherent: int = 100, consistent: int = 100
) -> Any:
    """A pass as a model judges it; each issue needs no more than what is special about it."""
    usual = {"step": "all", "kind": "vague", "severity": "high", "problem": "p", "repair": "r"}
    return {
        "issues": [{**usual, **issue} for issue in issues],
        "completeness": complete,
        "coherence": coherent,
        "consistency": consistent,
    }
