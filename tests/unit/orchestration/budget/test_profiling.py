import json
from typing import Any

import pytest

from aeond.domain.llm import LLMRequest
from aeond.domain.plans.profiles import DEFAULT_PROFILE, ToolUsage
from aeond.domain.runs.budgets import Budget
from aeond.orchestration.budget.adaptation import adapt
from aeond.orchestration.budget.allocation import budget_for
from aeond.orchestration.budget.profiling import PROFILE_SECONDS, AdaptiveDepth
from tests.support.judging import model_of, preamble
from tests.support.strategy import grant, run_of, says

SAID = '{"depth":2,"known":90,"tools":"minimal","breadth":"narrow","confidence":"low","why":"one look"}'


def depth_over(*answers: Any) -> tuple[AdaptiveDepth, Any]:
    llm = says(*answers)
    return AdaptiveDepth(model_of(llm), preamble()), llm


async def test_one_call_tells_how_hard_a_request_is() -> None:
    """The profile comes from one constrained call, behind the same beginning as every other question."""
    depth, llm = depth_over(SAID)
    purse = grant()
    outcome = await depth.infer(run_of(request="What grows there?"), purse)
    assert outcome.ok
    assert outcome.value.reasoning_depth == 2
    assert outcome.value.expected_tool_usage is ToolUsage.MINIMAL
    assert outcome.value.raw_inference == "one look"
    assert purse.used.llm_calls == 1
    messages = llm.requests[0].messages
    assert [m.content for m in messages[:-1]] == [m.content for m in preamble().messages(run_of())]
    assert "What grows there?" in str(messages[-1].content)
    assert llm.requests[0].deadline_seconds == PROFILE_SECONDS < LLMRequest(()).deadline_seconds


async def test_a_malformed_profile_is_repaired_not_asked_for_again() -> None:
    """A profile in a code fence is read by rule: the model is not asked for it twice."""
    depth, llm = depth_over(f"```json\n{SAID}\n```")
    assert (await depth.infer(run_of(), grant())).value.reasoning_depth == 2
    assert len(llm.requests) == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"fail": "BAD_ANSWER"}, "BAD_ANSWER"),
        ({"gone": True}, "LLM_GONE"),
        ({"text": "I think it is hard."}, "REPAIR_FAILED"),
        ({"text": json.dumps({**json.loads(SAID), "depth": 9})}, "REPAIR_FAILED"),
    ],
)
async def test_on_failure_the_task_is_an_average_one(answer: dict[str, Any], reason: str) -> None:
    """A model that fails or says something else gives the default profile and the problem."""
    depth, _ = depth_over(answer)
    outcome = await depth.infer(run_of(), grant(2, 20_000))
    assert not outcome.ok
    assert outcome.value == DEFAULT_PROFILE
    assert outcome.problem is not None
    assert outcome.problem.reason == reason


async def test_without_a_grant_the_model_is_not_asked() -> None:
    """With nothing to spend the default profile is the profile."""
    depth, llm = depth_over(SAID)
    outcome = await depth.infer(run_of(), grant(0, 0))
    assert (outcome.ok, outcome.value, len(llm.requests)) == (False, DEFAULT_PROFILE, 0)


def test_the_budget_is_computed_from_the_profile() -> None:
    """Budget and adaptation are the documented functions of profile, bound and run."""
    depth, _ = depth_over()
    assert depth.allocate(DEFAULT_PROFILE, Budget()) == budget_for(DEFAULT_PROFILE, Budget())
    run = run_of(profile=DEFAULT_PROFILE)
    assert depth.adapt(run) == adapt(run, DEFAULT_PROFILE)
    assert depth.adapt(run_of()) is None
