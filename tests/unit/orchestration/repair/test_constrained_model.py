import json

import pytest

from aeond.domain.messages import Message, Role
from aeond.domain.values import JsonObject
from tests.support.judging import model_of
from tests.support.strategy import grant, says

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"count": {"type": "integer"}},
    "required": ["count"],
    "additionalProperties": False,
}
ASKED = (Message(Role.USER, "How many?"),)


async def test_one_call_under_the_schema() -> None:
    """An answer that satisfies the schema is taken as it is, for one call."""
    llm, purse = says('{"count":3}'), grant()
    assert (await model_of(llm).ask(ASKED, SCHEMA, 50, purse)).value == {"count": 3}
    assert llm.requests[0].schema == SCHEMA
    assert purse.used.llm_calls == 1


async def test_malformed_output_is_repaired_and_not_asked_for_again() -> None:
    """JSON in a code fence is read by rule: the model is not asked twice."""
    llm = says('```json\n{"count": 3}\n```')
    outcome = await model_of(llm).ask(ASKED, SCHEMA, 50, grant())
    assert (outcome.ok, outcome.value) == (True, {"count": 3})
    assert len(llm.requests) == 1


async def test_output_beyond_repair_goes_to_the_supervisor() -> None:
    """Output that no rule repairs is shown to the model with the problem, within the rest of the grant."""
    llm, purse = says('{"number": 3}', '{"count": 3}'), grant()
    assert (await model_of(llm).ask(ASKED, SCHEMA, 50, purse)).value == {"count": 3}
    assert '{"number": 3}' in str(llm.requests[1].messages[-1].content)
    assert purse.used.llm_calls == 2


@pytest.mark.parametrize(
    ("answer", "calls", "reason"),
    [
        ({"text": '{"count":"many"}'}, 2, "REPAIR_FAILED"),
        ({"text": json.dumps({"count": 3}) + " " * 200 + "x" * 900}, 2, "ANSWER_CUT"),
        ({"fail": "BAD_ANSWER"}, 2, "BAD_ANSWER"),
        ({"gone": True}, 2, "LLM_GONE"),
        ({"text": '{"count":3}'}, 0, "BUDGET_SPENT"),
    ],
)
async def test_each_failure_is_a_problem(answer: dict[str, object], calls: int, reason: str) -> None:
    """Another shape, a cut answer, a failing model, a spent grant: a problem with its reason, and no value."""
    purse = grant(calls, 4_000)
    outcome = await model_of(says(answer)).ask(ASKED, SCHEMA, 50, purse)
    assert (outcome.ok, outcome.value) == (False, None)
    assert outcome.problem is not None
    assert outcome.problem.reason == reason
    assert purse.used.exceeding(purse.reservation) == ""
