"""Answers from general knowledge: which these are, and what reaches the client of them."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, ScriptedLLM
from aeond.capabilities.tools.registry import Registry
from aeond.domain.runs.situations import Situation
from aeond.orchestration.decision.conversations.knowledge import HELD_CHARS, repeats_a_fact
from aeond.orchestration.decision.decider import Decider
from tests.support.deciders import Composing, WholeTool, decider_of
from tests.support.strategy import LOOK, grant, registry, run_of

FACTS = Situation(facts=(("boat", "Ida"), ("berth", 12)))
SUBJECT = "Say in one word what a request"
TALK = "you can only talk"
TELL = "from what is shown above it"


def decider(
    decision: object,
    likely: Mapping[str, float],
    reply: str = "Rivers carry salts.",
    situation: Situation = FACTS,
    in_view: str = "",
) -> tuple[Decider, ScriptedLLM]:
    rules = (
        Rule(contains=SUBJECT, text=next(iter(likely), "do"), likely=dict(likely)),
        Rule(contains=TALK, text=reply),
        Rule(contains=TELL, text=in_view),
        Rule.model_validate({"json": decision}),
    )
    return decider_of(rules, registry(LOOK), situation)


async def chosen(subject: Decider, calls: int = 10) -> tuple[str, str]:
    """The text of the answer, and the text that a client has seen at its end."""
    seen: list[str] = []
    decided = await subject.choose(
        run_of(), grant(calls), lambda text: seen.append(text) if text else seen.clear()
    )
    answer = decided.value.answer
    return answer.text if answer else "", "".join(seen)


async def test_general_knowledge_is_answered_in_a_conversation_of_its_own() -> None:
    """The refusal of the first decision is not seen; the plain reply is, as it comes."""
    subject, llm = decider({"cannot": "I cannot look that up."}, {"know": -0.3, "files": -2.0})
    assert await chosen(subject) == ("Rivers carry salts.", "Rivers carry salts.")
    assert llm.in_flight == 0


async def test_a_reply_that_asks_back_gives_way_to_a_look() -> None:
    """Where files share words with the request, a plain reply that ends with a question is withdrawn, and a look is made."""
    near = Situation(lines=(("boat.txt", "built 1988"),))
    rules = (
        Rule(contains=SUBJECT, text="know", likely={"know": -0.3, "files": -2.0}),
        Rule(contains=TALK, text="Which boat?"),
        Rule.model_validate({"json": {"cannot": "I cannot."}, "times": 1}),
        Rule.model_validate({"json": {"look": {"path": "a"}}}),
    )
    tools = Registry()
    tools.register(WholeTool(replace(LOOK, candidates=("path",))))
    subject, _ = decider_of(rules, tools, near, Composing({}, values=("a",)))
    assert await chosen(subject) == ("", "")
    subject, _ = decider({"answer": "Hello."}, {"know": -0.3}, "Hello! How are you?")
    assert await chosen(subject) == ("Hello! How are you?", "Hello! How are you?")


async def test_an_answer_from_elsewhere_is_given_from_what_is_in_view() -> None:
    """It is that of a conversation about facts, names and lines in view; a look follows if these do not show it."""
    lines = Situation(files=(("club.md", "Rules"),), lines=(("club.md", "The fee is due in May."),))
    subject, llm = decider(
        {"answer": "In June."}, {"files": -0.1}, situation=lines, in_view="It is due in May."
    )
    assert await chosen(subject) == ("It is due in May.", "It is due in May.")
    assert "Files:\nclub.md\n\nclub.md:\nThe fee is due in May." in str(llm.requests[-1].messages[-1].content)
    rules = (
        Rule(contains=SUBJECT, text="files", likely={"files": -0.1}),
        Rule(contains=TELL, text="?"),
        Rule.model_validate({"json": {"answer": "In June."}, "times": 1}),
        Rule.model_validate({"json": {"look": {"path": "a"}}}),
    )
    tools = Registry()
    tools.register(WholeTool(replace(LOOK, candidates=("path",))))
    subject, _ = decider_of(rules, tools, lines, Composing({}, values=("a",)))
    assert await chosen(subject) == ("", "")


async def test_an_answer_from_elsewhere_stays() -> None:
    """An answer from files is that of the decision itself, where what is in view gives none."""
    subject, _ = decider({"answer": "The fee is due in May."}, {"files": -0.1, "know": -4.0})
    assert await chosen(subject) == ("The fee is due in May.", "The fee is due in May.")


async def test_an_answer_with_a_remembered_value_stays_without_a_question() -> None:
    """An answer that repeats a fact in view needs no further call."""
    subject, _ = decider({"answer": "Your boat is Ida."}, {"know": -0.1})
    assert await chosen(subject, calls=1) == ("Your boat is Ida.", "Your boat is Ida.")


async def test_a_long_answer_is_stopped_for_the_question() -> None:
    """It is replaced if it is general knowledge; otherwise the client sees it whole, once."""
    text = "word " * HELD_CHARS + "end"
    subject, llm = decider({"answer": text}, {"know": -0.1})
    assert await chosen(subject) == ("Rivers carry salts.", "Rivers carry salts.")
    subject, llm = decider({"answer": text}, {"files": -0.1})
    assert await chosen(subject) == (text, text)
    assert llm.in_flight == 0


async def test_an_empty_reply_leaves_the_decision() -> None:
    """Where the plain conversation gives nothing, the first answer counts."""
    subject, _ = decider({"answer": "It is salty."}, {"know": -0.1}, reply="")
    assert await chosen(subject) == ("It is salty.", "It is salty.")


async def test_a_call_is_no_answer() -> None:
    """A decision for a tool asks for no source."""
    subject, _ = decider({"look": {"path": "a"}}, {"know": -0.1})
    decided = await subject.choose(run_of(), grant(1), lambda _: None)
    assert decided.value.tool_call is not None


@pytest.mark.parametrize(
    ("answer", "request_", "repeats"),
    [
        ("Your boat is called Ida.", "what's my boat called", True),
        ("You have berth 12.", "which berth?", True),
        ("It is 1212 km.", "how far?", False),
        ("Ida is a fine name.", "is Ida a good name?", False),
    ],
)
def test_a_fact_is_repeated_if_its_value_is_new_in_the_answer(
    answer: str, request_: str, repeats: bool
) -> None:
    """A value counts as a whole word, and only if the request does not hold it."""
    assert repeats_a_fact(answer, request_, FACTS) is repeats


async def test_a_run_with_instructions_keeps_its_own_answer() -> None:
    """The conversation about what is in view does not know the instructions of a run, and so does not replace its answer."""
    subject, _ = decider({"answer": "In June."}, {"files": -0.1}, in_view="It is due in May.")
    run = run_of()
    run = replace(run, request=replace(run.request, instructions="Be brief."))
    answered = (await subject.choose(run, grant(10), lambda _: None)).value.answer
    assert answered is not None
    assert answered.text == "In June."
