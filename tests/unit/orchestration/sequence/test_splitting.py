"""Where a request for several things is cut."""

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.domain.values import JsonValue
from aeond.orchestration.sequence.splitting import MAX_WORDS, Cut, cut_of
from tests.support.strategy import grant, run_of, says

REQUEST = "mow the lawn, then wash the car and tell me when it is done"


async def parts(beginnings: JsonValue, request: str = REQUEST) -> tuple[str, ...]:
    llm = ScriptedLLM(Script(rules=(Rule.model_validate({"json": beginnings}),)))
    return (await cut_of(llm, run_of(request=request), grant(1))).parts


async def test_parts_are_the_words_of_the_request() -> None:
    """The request is cut where the model says that a part begins, and no word of it is lost."""
    assert await parts(["then wash the", "and tell me"]) == (
        "mow the lawn",
        "then wash the car",
        "and tell me when it is done",
    )


async def test_the_order_in_which_beginnings_are_given_does_not_matter() -> None:
    """Parts are in the order of the request, each once."""
    given = await parts(["and tell me", "then wash the", "and tell me"])
    assert given == await parts(["then wash the", "and tell me"])


@pytest.mark.parametrize("given", [[], ["paint the fence"], [7], "then wash the", {}])
async def test_a_request_stays_whole(given: JsonValue) -> None:
    """Without a beginning that stands in the request there are no parts."""
    assert await parts(given) == ()


async def test_a_request_of_one_word_or_of_very_many_is_not_asked_about() -> None:
    """No call is made for what cannot be cut, or is too long for it."""
    llm = says("[]")
    for request in ("hello", " ".join(["word"] * (MAX_WORDS + 1))):
        assert await cut_of(llm, run_of(request=request), grant(1)) == Cut()
    assert not llm.requests


async def test_no_parts_without_a_call_in_the_budget() -> None:
    """With nothing left of the grant the request stays whole."""
    assert await cut_of(says("[]"), run_of(request=REQUEST), grant(0)) == Cut()


async def test_the_first_token_says_how_surely_there_are_parts() -> None:
    """The odds are those of a list with something against an empty one."""
    rule = Rule(text='["then wash the"]', likely={'["': -0.5, "[]": -1.5, "{": -0.1})
    llm = ScriptedLLM(Script(rules=(rule,)))
    cut = await cut_of(llm, run_of(request=REQUEST), grant(1))
    assert cut.several == pytest.approx(1.0)
