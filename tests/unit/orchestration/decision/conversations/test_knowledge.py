"""Answers from general knowledge: which these are, and what reaches the client of them."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, ScriptedLLM
from aeond.capabilities.tools.registry import Registry
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Effect, ToolCall, ToolSpec
from aeond.orchestration.decision.conversations.knowledge import repeats_a_fact
from aeond.orchestration.decision.decider import Decider
from aeond.orchestration.interfaces import discard_text
from tests.support.deciders import INTENT, SMALL_TALK, Composing, WholeTool, decider_of
from tests.support.judging import after_pass, ran
from tests.support.strategy import LOOK, TEXT, calls, grant, run_of, spec

FACTS = Situation(facts=(("boat", "Ida"), ("berth", 12)))
KNOWN = replace(LOOK, candidates=("path",))
SUBJECT = "Say in one word what a request"
TALK = "you can only talk"
TELL = "from what is shown above it"
Likely = Mapping[str, float]
OPEN: Likely = {"do": -0.5, "know": -1.5}
TELLS: Likely = {"tell": -0.1, "ask": -3.0}
ACTS: Likely = {"act": -0.3, "tell": -1.5}
KNOWS = Rule(contains="from general knowledge alone", text="Salt", likely={"Salt": -0.1, "?": -2.5})


def decider(
    decision: object,
    likely: Mapping[str, float],
    reply: str = "Rivers carry salts.",
    situation: Situation = FACTS,
    in_view: str = "",
    tool: ToolSpec = KNOWN,
) -> tuple[Decider, ScriptedLLM]:
    rules = (
        Rule(contains=SUBJECT, text=next(iter(likely), "do"), likely=dict(likely)),
        Rule(contains=TALK, text=reply),
        Rule(contains=TELL, text=in_view),
        KNOWS,
        Rule.model_validate({"json": decision}),
    )
    tools = Registry()
    tools.register(WholeTool(tool))
    return decider_of(rules, tools, situation, Composing({}))


async def chosen(subject: Decider, calls: int = 10) -> tuple[str, str]:
    """The text of the answer, and the text that a client has seen at its end."""
    seen: list[str] = []
    decided = await subject.choose(
        run_of(), grant(calls), lambda text: seen.append(text) if text else seen.clear()
    )
    answer = decided.value.answer
    return answer.text if answer else "", "".join(seen)


async def test_general_knowledge_is_answered_in_a_conversation_of_its_own() -> None:
    """The client sees the plain reply as it comes; no decision is asked for."""
    subject, llm = decider({"cannot": "I cannot look that up."}, {"know": -0.3, "files": -2.0})
    assert await chosen(subject) == ("Rivers carry salts.", "Rivers carry salts.")
    assert llm.in_flight == 0


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("What is a robots.txt?", "Rivers carry salts."),
        ("Write why seas are salty into sea.md", "From the decision."),
    ],
)
async def test_a_file_to_be_made_is_no_general_knowledge(request_: str, expected: str) -> None:
    """A request that names a file which does not exist is answered from general knowledge only if it is a question."""
    situation = Situation(files=(("boat.txt", "built 1988"),))
    subject, _ = decider({"answer": "From the decision."}, {"know": -0.3, "files": -2.0}, situation=situation)
    decided = await subject.choose(run_of(request=request_), grant(10), lambda _: None)
    assert decided.value.answer is not None
    assert decided.value.answer.text == expected


async def test_a_reply_that_asks_back_gives_way_to_a_look() -> None:
    """Where files share words with the request, a plain reply that ends with a question is withdrawn, and a look is made."""
    near = Situation(lines=(("boat.txt", "built 1988"),))
    rules = (
        Rule(contains=SUBJECT, text="know", likely={"know": -0.3, "files": -2.0}),
        Rule(contains=TALK, text="Which boat?"),
        Rule(contains=TELL, text="?"),
        KNOWS,
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
    """It is that of a conversation about facts and names of files in view; a look follows if these do not show it."""
    lines = Situation(files=(("club.md", "Rules"),), lines=(("club.md", "The fee is due in May."),))
    subject, llm = decider(
        {"answer": "In June."}, {"files": -0.1}, situation=lines, in_view="It is due in May."
    )
    assert await chosen(subject) == ("It is due in May.", "It is due in May.")
    assert "1 files:\nclub.md\n\nRequest" in str(llm.requests[-1].messages[-1].content)
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


@pytest.mark.parametrize(
    ("request_", "about", "intent", "likely", "replies"),
    [
        ("Thanks, that was quick.", OPEN, TELLS, {"chat": -0.05, "fact": -3.0}, True),
        ("Good night.", OPEN, ACTS, {"chat": -0.01, "fact": -6.0}, True),
        ("Call Greta.", OPEN, ACTS, {"chat": -0.02, "fact": -4.0}, False),
        ("I take no sugar.", OPEN, TELLS, {"chat": -0.15, "fact": -2.0}, False),
        ("the length of the boat", {"files": -0.1, "do": -3.0}, TELLS, {"chat": -0.05, "fact": -3.0}, False),
        ("Was that quick? I am curious.", OPEN, TELLS, {"chat": -0.05, "fact": -3.0}, False),
        ("Thanks, that was quick.", OPEN, TELLS, {}, False),
    ],
)
async def test_who_only_talks_gets_a_plain_reply(
    request_: str, about: Likely, intent: Likely, likely: Likely, replies: bool
) -> None:
    """Thanks and remarks are answered, also with a question where a file shares a word; facts, orders and questions are decided about."""
    rules = (
        Rule(contains=SUBJECT, text="?", likely=dict(about)),
        Rule(contains=INTENT, text="?", likely=dict(intent)),
        Rule(contains=SMALL_TALK, text="?", likely=dict(likely)),
        Rule(contains=TALK, text="You are welcome! What else?"),
        Rule(contains="from general knowledge alone", text="?"),
        Rule.model_validate({"json": {"look": {"path": "a"}}}),
    )
    tools = Registry()
    tools.register(WholeTool(KNOWN))
    near = Situation(lines=(("boat.txt", "quick"),))
    subject, llm = decider_of(rules, tools, near, Composing({}, values=("a",)))
    decided = await subject.choose(run_of(request=request_), grant(10), discard_text)
    answer = decided.value.answer
    assert (answer is not None and answer.text == "You are welcome! What else?") is replies
    asked = [one for one in llm.requests if SMALL_TALK in str(one.messages[0].content)]
    assert len(asked) == (0 if "?" in request_ or "files" in about else 1)


async def test_an_answer_from_elsewhere_stays() -> None:
    """An answer from files is that of the decision itself, where what is in view gives none."""
    subject, _ = decider({"answer": "The fee is due in May."}, {"files": -0.1, "know": -4.0})
    assert await chosen(subject) == ("The fee is due in May.", "The fee is due in May.")


async def test_a_tool_that_may_know_is_chosen_first() -> None:
    """Where a tool is offered of which only its author knows what it is about, the model may call it; an answer is replaced."""
    subject, _ = decider({"look": {"path": "a"}}, {"know": -0.1}, tool=LOOK)
    assert await chosen(subject) == ("", "")
    subject, _ = decider({"answer": "Salt."}, {"know": -0.1}, tool=LOOK)
    assert await chosen(subject) == ("Rivers carry salts.", "Rivers carry salts.")


async def test_general_knowledge_is_answered_without_facts_in_view() -> None:
    """The conversation shows the request alone, and no decision is asked for."""
    subject, llm = decider({"look": {"path": "a"}}, {"know": -0.1}, reply="Rivers carry salts.")
    assert await chosen(subject, calls=3) == ("Rivers carry salts.", "Rivers carry salts.")
    assert str(llm.requests[-1].messages[-1].content) == run_of().text
    assert len(llm.requests) == 3


async def test_an_answer_that_is_not_needed_is_not_awaited() -> None:
    """Where it is given from what is in view, the one that a decision begins is cancelled; it is generated again if the view gives none,
    and a client sees it whole, once."""
    text = " ".join(f"word{number}" for number in range(400))
    subject, llm = decider({"answer": text}, {"files": -0.1}, in_view="It is due in May.")
    assert await chosen(subject) == ("It is due in May.", "It is due in May.")
    subject, llm = decider({"answer": text}, {"files": -0.1})
    assert await chosen(subject) == (text, text)
    assert llm.in_flight == 0


async def test_an_empty_reply_leaves_the_decision() -> None:
    """Where the plain conversation gives nothing, the first answer counts."""
    subject, _ = decider({"answer": "It is salty."}, {"know": -0.1}, reply="")
    assert await chosen(subject) == ("It is salty.", "It is salty.")


async def test_without_a_call_for_its_subject_a_request_is_decided_about() -> None:
    """A run with one model call left takes the decision itself."""
    subject, _ = decider({"look": {"path": "a"}}, {})
    decided = await subject.choose(run_of(), grant(2), lambda _: None)
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


@pytest.mark.parametrize(
    ("reply", "answer"), [("That is 22.5 metres.", "That is 22.5 metres."), ("That is 20.", "9 * 2.5 = 22.5")]
)
async def test_what_was_computed_is_stated(reply: str, answer: str) -> None:
    """A calculation is answered from in a conversation that shows it without facts; where its result is not stated, the calculation
    itself is the answer."""
    add = spec("add", {"sum": TEXT}, ("sum",), Effect.PURE)
    tools = Registry()
    tools.register(WholeTool(replace(add, candidates=("sum",))))
    rules = (
        Rule(contains=SUBJECT, text="compute", likely={"compute": -0.1}),
        Rule(contains=TALK, text=reply),
    )
    subject, llm = decider_of(rules, tools, FACTS, Composing({}))
    run = after_pass(1, ran(calls("s1", "add", sum="9 * 2.5"), output={"result": 22.5}))
    assert (await subject.evaluate(run, grant(10))).value.evaluation.final_output == answer
    assert llm.requests[-1].messages[-1].content == f"9 * 2.5 = 22.5\n\n{run.text}"


async def test_an_order_behind_a_question_of_general_knowledge_is_decided_about() -> None:
    """Where the words behind the question want a change, the run does not end with what the model knows."""
    order = (
        Rule(contains=INTENT, text="?", likely={"ask": -2.0, "tell": -0.8}),
        Rule(contains="Request: Put it into a.txt.", text="?", likely={"do": -0.3, "files": -1.0}),
        Rule(contains=SUBJECT, text="know", likely={"know": -0.1, "files": -3.0}),
        Rule(contains=TALK, text="Rivers carry salts."),
        Rule.model_validate({"json": {"keep": {"note": "salts"}}}),
    )
    tools = Registry()
    tools.register(WholeTool(spec("keep", {"note": TEXT}, ("note",), Effect.WRITE_CONTAINED)))
    subject, _ = decider_of(order, tools, FACTS, Composing({}))
    asked = run_of(request="Why is the sea salty? Put it into a.txt.")
    decided = await subject.choose(asked, grant(10), discard_text)
    assert decided.value.tool_call == ToolCall("keep", {"note": "salts"})
