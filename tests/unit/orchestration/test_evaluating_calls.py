import json
from dataclasses import replace
from typing import Any

import pytest

from aeond.domain.budgets import Budget, BudgetLedger, Grant
from aeond.domain.evaluations import RefinementOperation
from aeond.domain.outcome import Outcome
from aeond.domain.plans import MAX_REFINEMENTS, StepState
from aeond.domain.profiles import Route
from aeond.domain.runs import RunSnapshot
from aeond.domain.steps import StepSnapshot
from aeond.domain.tools import ToolCall
from aeond.orchestration.contracts import Judgement
from aeond.orchestration.evaluating_calls import MAX_FAILURES, CallEvaluator
from aeond.orchestration.repair import ModelSupervisor
from tests.support.strategy import calls, ended, grant, registry, run_with, says, validator

NEXT = {"route": "direct", "tool": "store", "arguments": {"key": "flower", "value": "rose"}}
LOOKED = ended(calls("s1", "look", path="garden"), "a rose")
FAILED = ended(calls("s1", "look", path="gardn"), state=StepState.FAILED, error="there is no gardn")


def direct(*steps: StepSnapshot, **more: Any) -> RunSnapshot:
    return run_with(*steps, route=Route.DIRECT, pass_index=len(steps), **more)


class Desk:
    """An evaluator with its model and its grant."""

    def __init__(self, *answers: Any, llm_calls: int = 2, tokens: int = 12_000, **model: Any) -> None:
        texts = (json.dumps(a) if isinstance(a, dict) and "text" not in a else a for a in answers)
        self.llm = says(*texts, **model)
        self.grant: Grant = grant(llm_calls, tokens)

    async def judge(self, run: RunSnapshot) -> Outcome[Judgement]:
        check = validator()
        evaluator = CallEvaluator(self.llm, registry(), ModelSupervisor(self.llm, check), check)
        outcome = await evaluator.evaluate(run, self.grant)
        assert self.grant.used.exceeding(self.grant.reservation) == ""
        return outcome


async def test_a_result_that_says_it_all_ends_the_run() -> None:
    """Done without a final output: the raw result is the answer."""
    outcome = await Desk({"done": True}).judge(direct(LOOKED))
    judged = outcome.value.evaluation
    assert (judged.converged, judged.final_output, judged.pass_index) == (True, "", 1)
    assert outcome.value.actions == ()


async def test_an_answer_is_the_final_output() -> None:
    """What the model writes from the result is kept as such."""
    outcome = await Desk({"answer": " A rose grows there. "}).judge(direct(LOOKED))
    judged = outcome.value.evaluation
    assert (judged.converged, judged.final_output, judged.reasons) == (
        True,
        "A rose grows there.",
        ("ANSWERED",),
    )


async def test_an_answer_that_only_repeats_the_user_is_none() -> None:
    """What the user was asked for is not told them again: the answer is still to be written from it."""
    told = ended(calls("s1", "request_user_input", prompt="Which sentence?"), "The house is old.")
    outcome = await Desk({"answer": "the house is old"}).judge(direct(told))
    assert (outcome.value.evaluation.final_output, outcome.value.evaluation.reasons) == ("", ("DONE",))
    outcome = await Desk({"answer": "Das Haus ist alt."}).judge(direct(told))
    assert outcome.value.evaluation.final_output == "Das Haus ist alt."
    outcome = await Desk({"answer": "a rose"}).judge(direct(told, replace(LOOKED, step=calls("s2", "look"))))
    assert outcome.value.evaluation.final_output == "a rose"


async def test_the_next_call_is_one_more_step() -> None:
    """A call that can be made is added behind the ones that ran, which stay as they are."""
    outcome = await Desk(NEXT).judge(direct(LOOKED))
    assert not outcome.value.evaluation.converged
    (action,) = outcome.value.actions
    assert (action.operation, action.step_id) == (RefinementOperation.ADD, "s2")
    assert action.step is not None
    assert action.step.tool_call == ToolCall("store", {"key": "flower", "value": "rose"})
    assert action.step.depends_on == ()


async def test_the_conversation_of_the_routing_goes_on() -> None:
    """The model sees the request, its call and the result as turns, behind the same beginning."""
    desk = Desk({"done": True})
    await desk.judge(direct(LOOKED))
    *_, request, call, result = (m.content for m in desk.llm.requests[0].messages)
    assert request == "What grows in the garden?"
    assert json.loads(str(call)) == {"route": "direct", "tool": "look", "arguments": {"path": "garden"}}
    assert result == 'Result: "a rose"'


@pytest.mark.parametrize(
    "bad",
    [
        {"route": "direct", "tool": "fly", "arguments": {}},
        {"route": "direct", "tool": "store", "arguments": {"key": "flower"}},
        {"route": "direct", "tool": "store", "arguments": {"key": "flower", "value": "$s1"}},
        {"route": "direct", "tool": "look", "arguments": {"path": "garden"}},
        {"text": "That went well."},
        {"text": '{"answer":"' + "so " * 2_000},
        {"fail": "BAD_ANSWER", "text": ""},
    ],
)
async def test_an_invalid_next_step_ends_the_run_with_what_there_is(bad: dict[str, Any]) -> None:
    """A call that cannot be made or was made before, a cut answer and a failing model end it: the last result stands."""
    outcome = await Desk(bad).judge(direct(LOOKED))
    judged = outcome.value.evaluation
    assert not outcome.ok
    assert (judged.converged, judged.final_output) == (True, "")
    assert judged.issues
    assert outcome.value.actions == ()


@pytest.mark.parametrize(
    ("said", "final"), [({"done": True}, ""), ({"answer": "There is none."}, "There is none.")]
)
async def test_a_run_whose_only_call_failed_has_not_converged(said: dict[str, Any], final: str) -> None:
    """Without any result nothing is fulfilled, whatever the model says about it."""
    judged = (await Desk(said).judge(direct(FAILED))).value.evaluation
    assert (judged.converged, judged.final_output) == (False, final)


async def test_an_answer_may_rest_on_an_earlier_result() -> None:
    """A failed call is made good by an answer from a result that there is; by nothing else."""
    late = ended(calls("s2", "look", path="park"), state=StepState.FAILED, error="there is no park")
    assert (await Desk({"answer": "A rose."}).judge(direct(LOOKED, late))).value.evaluation.converged
    assert not (await Desk({"done": True}).judge(direct(LOOKED, late))).value.evaluation.converged


@pytest.mark.parametrize("spent", [{"passes": 0}, {"ttl": 0}, {"tool_calls": 0}])
async def test_no_call_is_asked_for_that_the_budget_has_no_room_for(spent: dict[str, int]) -> None:
    """With passes, steps or tool calls spent the model may only end the run, and the last result stands."""
    desk = Desk(NEXT)
    outcome = await desk.judge(direct(LOOKED, ledger=BudgetLedger(Budget(**spent))))
    assert outcome.value.actions == ()
    assert outcome.value.evaluation.converged
    assert "direct" not in json.dumps(desk.llm.requests[0].schema)


async def test_calls_that_fail_again_and_again_are_not_followed_by_others() -> None:
    """After a few failures, or rounds of refinement, no more calls are asked for."""
    failed = [
        ended(calls(f"s{n}", "look", path=f"p{n}"), state=StepState.FAILED) for n in range(MAX_FAILURES)
    ]
    for run in (direct(*failed), direct(LOOKED, refinement_count=MAX_REFINEMENTS)):
        assert (await Desk(NEXT).judge(run)).value.actions == ()


@pytest.mark.parametrize(("llm_calls", "tokens"), [(0, 12_000), (2, 10), (2, 100)])
async def test_without_budget_the_steps_are_the_judgement(llm_calls: int, tokens: int) -> None:
    """A spent grant asks nothing of the model: what succeeded has converged, what failed has not."""
    for step, converged in ((LOOKED, True), (FAILED, False)):
        desk = Desk({"done": True}, llm_calls=llm_calls, tokens=tokens)
        outcome = await desk.judge(direct(step))
        assert (outcome.ok, outcome.value.evaluation.converged) == (False, converged)
        assert not desk.llm.requests


async def test_a_long_result_is_shortened_for_the_model() -> None:
    """A result beyond the room in the prompt is shown in part, and said to be."""
    desk = Desk({"done": True}, tokens=3_000)
    outcome = await desk.judge(direct(ended(calls("s1", "look", path="garden"), "rose " * 9_000)))
    assert outcome.ok
    assert "characters left out" in str(desk.llm.requests[0].messages[-1].content)


async def test_a_next_call_may_use_what_results_said_and_nothing_else() -> None:
    """A number of a result may be stored at once; one out of nowhere is looked at again."""
    store = {"route": "direct", "tool": "store", "arguments": {"key": "sum", "value": 4711}}
    told = Desk(store)
    await told.judge(direct(ended(calls("s1", "look", path="garden"), {"sum": 4711})))
    assert len(told.llm.requests) == 1
    strange = Desk(store, {"answer": "I do not know the sum."})
    outcome = await strange.judge(direct(LOOKED))
    assert outcome.value.evaluation.final_output == "I do not know the sum."
