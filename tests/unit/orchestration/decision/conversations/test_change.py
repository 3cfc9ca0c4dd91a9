"""The question whether something is to be changed."""

import math
from collections.abc import Mapping

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.domain.llm import LikelyToken
from aeond.domain.tools import Effect, ToolCall
from aeond.orchestration.decision.constrained import ConstrainedDecisions
from aeond.orchestration.decision.conversations.change import odds_of_change
from aeond.orchestration.decision.conversations.composing import Composer
from aeond.orchestration.decision.decider import Decider
from aeond.orchestration.decision.offers import Offers
from aeond.orchestration.decision.reading import DecisionReading
from aeond.orchestration.interfaces import discard_text
from aeond.orchestration.repair.supervisor import Supervisor
from tests.support.doubles import PlainInvoker
from tests.support.judging import after_pass, ran
from tests.support.null_objects import NoSituations
from tests.support.strategy import LOOK, TEXT, calls, grant, registry, run_of, spec, validator

KEEP = spec("keep", {"note": TEXT}, ("note",), Effect.MEMORY)
SUBJECT = "Say in one word where"
WANTED, UNWANTED = {"do": -0.2, "files": -2.0}, {"files": -0.2, "do": -2.0}
LOOKED = ran(calls("s1", "look", path="a"), output="7")


def decider(*decisions: object, likely: Mapping[str, float]) -> tuple[Decider, ScriptedLLM]:
    rules = [Rule(contains=SUBJECT, text=next(iter(likely), "?"), likely=dict(likely))]
    rules += [Rule.model_validate({"json": one, "times": 1}) for one in decisions]
    llm = ScriptedLLM(Script(rules=tuple(rules)))
    check, tools = validator(LOOK, KEEP), registry(LOOK, KEEP)
    model = ConstrainedDecisions(llm, DecisionReading(Supervisor(llm, check), check))
    invoker = PlainInvoker({})
    return Decider(
        lambda: model, llm, Offers(tools, invoker), NoSituations(), Composer(llm, invoker, check)
    ), llm


async def first(*decisions: object, likely: Mapping[str, float]) -> ToolCall | None:
    subject, _ = decider(*decisions, likely=likely)
    return (await subject.choose(run_of(), grant(10), discard_text)).value.tool_call


async def test_nothing_is_changed_that_is_only_asked_about() -> None:
    """A first call that would change something is decided again without such tools where no change is likely wanted."""
    keep, look = {"keep": {"note": "7"}}, {"look": {"path": "a"}}
    assert await first(keep, look, likely=UNWANTED) == ToolCall("look", {"path": "a"})
    assert await first(keep, look, likely=WANTED) == ToolCall("keep", {"note": "7"})
    assert await first(keep, look, likely={}) == ToolCall("keep", {"note": "7"})


async def test_only_the_first_call_is_asked_about() -> None:
    """After a step the decisions stay as they are: what comes next rests on a result."""
    subject, llm = decider({"keep": {"note": "7"}}, likely=UNWANTED)
    judged = (await subject.evaluate(after_pass(1, LOOKED), grant(10))).value
    assert [action.step and action.step.tool_call for action in judged.actions] == [
        ToolCall("keep", {"note": "7"})
    ]
    assert len(llm.requests) == 1


async def test_a_spent_budget_leaves_the_decision() -> None:
    """Without a call left to decide again the first decision counts."""
    subject, _ = decider({"keep": {"note": "7"}}, likely=UNWANTED)
    chosen = (await subject.choose(run_of(), grant(2), discard_text)).value
    assert chosen.tool_call == ToolCall("keep", {"note": "7"})


@pytest.mark.parametrize(
    ("likely", "odds"),
    [
        ({"do": -0.5, "files": -1.5}, 1.0),
        ({"do": -0.5, "x": -0.1}, math.inf),
        ({"know": -0.1}, -math.inf),
        ({"x": -0.1}, None),
    ],
)
def test_odds_are_those_of_a_change(likely: dict[str, float], odds: float | None) -> None:
    """Words that name no subject do not count."""
    found = odds_of_change([LikelyToken(*one) for one in likely.items()])
    assert found == (None if odds is None else pytest.approx(odds))
