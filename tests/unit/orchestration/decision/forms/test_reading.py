from typing import Any

import pytest

from aeond.domain.tools import ToolCall
from aeond.orchestration.decision.forms.reading import read_decision
from aeond.orchestration.decision.interfaces import CallTool, GiveAnswer, MakePlan, Offer
from aeond.orchestration.repair.supervisor import Supervisor
from tests.support.strategy import ADD, grant, says, validator

OFFER = Offer((ADD,), plan=True)


def supervisor() -> Supervisor:
    return Supervisor(says(), validator())


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        ({"answer": " Yes. "}, GiveAnswer("Yes.")),
        ({"cannot": "No."}, GiveAnswer("No.", fulfilled=False)),
        ({"plan": True}, MakePlan()),
        ({"add": {"a": 1, "b": 2}}, CallTool(ToolCall("add", {"a": 1, "b": 2}))),
    ],
)
async def test_an_action_is_read(said: Any, decision: object) -> None:
    """Each kind of action has a form of its own."""
    assert (await read_decision(supervisor(), said, OFFER, grant())).value == decision


@pytest.mark.parametrize(
    "said", [None, [], {}, {"answer": ""}, {"answer": "a", "plan": True}, {"dance": {}}, {"add": {"a": "x"}}]
)
async def test_anything_else_is_a_problem(said: Any) -> None:
    """No action is taken that was not offered or whose arguments do not fit."""
    outcome = await read_decision(supervisor(), said, OFFER, grant(0))
    assert (outcome.ok, outcome.value) == (False, None)
    assert outcome.problem is not None


async def test_a_plan_that_is_not_offered_is_not_made() -> None:
    """A later decision cannot ask for a plan."""
    assert not (await read_decision(supervisor(), {"plan": True}, Offer((ADD,)), grant(0))).ok
