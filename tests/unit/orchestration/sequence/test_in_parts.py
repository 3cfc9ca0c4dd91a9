"""Requests for several things, carried out part by part."""

from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, ScriptedLLM
from aeond.capabilities.tools.registry import Registry
from aeond.domain.plans.profiles import Route
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import Effect, Recovery, ToolCall
from aeond.orchestration.decision.decider import ANSWERED, CANNOT
from aeond.orchestration.interfaces import Judgement, RouteChoice, discard_text
from aeond.orchestration.sequence.in_parts import InParts
from tests.support.deciders import INTENT, WholeTool, decider_of
from tests.support.judging import after_pass, ran
from tests.support.strategy import LOOK, TEXT, calls, grant, run_of, spec

KEEP = replace(spec("keep", {"note": TEXT}, ("note",), Effect.MEMORY), candidates=("note",))
REQUEST = "mow the lawn, then wash the car"
SECOND = "Request: then wash the car"
SEVERAL = Rule(contains="one thing or for several", text="several", likely={"several": -0.1, "one": -2.5})
ONE = Rule(contains="one thing or for several", text="one", likely={"one": -0.1, "several": -2.5})
SUBJECT = Rule(contains="Say in one word what a request", text="do", likely={"do": -0.1, "files": -3.0})
UNSURE = Rule(contains="Say in one word what a request", text="do", likely={"do": -0.9, "files": -0.6})
EDITS = Rule(contains=INTENT, text="edit", likely={"edit": -0.1, "ask": -4.0})
PARTS = Rule(
    contains="Say where each further thing begins", text='["then wash the"]', likely={'["': -0.1, "[]": -2.5}
)
UNSURE_PARTS = PARTS.model_copy(update={"likely": {'["': -1.5, "[]": -0.3}})
TELLS = Rule(contains=INTENT, text="tell", likely={"tell": -0.1, "ask": -4.0})
FIRST_STEP = replace(ran(calls("s1", "keep", note="lawn"), output="lawn = mown"), recovery=Recovery.RECONCILE)
SECOND_STEP = replace(ran(calls("s2", "keep", note="car"), output="car = clean"), recovery=Recovery.RECONCILE)


def in_parts(*rules: Rule, about: tuple[Rule, ...] = (SUBJECT, EDITS)) -> tuple[InParts, ScriptedLLM]:
    tools = Registry()
    for one in (LOOK, KEEP):
        tools.register(WholeTool(one))
    decider, llm = decider_of((*about, *rules), tools)
    return InParts(decider), llm


def said(contains: str, **decision: object) -> Rule:
    """The decision about a request that ends so."""
    return Rule.model_validate({"contains": contains, "json": decision})


def asked(llm: ScriptedLLM, rule: Rule) -> bool:
    """Whether the model was asked what this rule answers."""
    return any(rule.contains in str(request.messages[0].content) for request in llm.requests)


async def chosen(subject: InParts, run: RunSnapshot) -> RouteChoice:
    return (await subject.choose(run, grant(), discard_text)).value


async def judged(subject: InParts, *steps: StepSnapshot) -> Judgement:
    run = after_pass(1, *steps, request=REQUEST)
    return (await subject.evaluate(run, grant())).value


async def test_each_part_is_decided_about_as_a_request_of_its_own() -> None:
    """The first part is decided about, and after its last step the next one, with what was said about the first in view; the steps of
    both are numbered one after another, and the answer says what came of all parts."""
    subject, llm = in_parts(
        SEVERAL,
        PARTS,
        said("Request: mow the lawn", keep={"note": "lawn"}),
        said(SECOND, keep={"note": "car"}),
    )
    first = await chosen(subject, run_of(request=REQUEST))
    assert first == RouteChoice(Route.DIRECT, ToolCall("keep", {"note": "lawn"}))
    after_first = await judged(subject, FIRST_STEP)
    [action] = after_first.actions
    assert action.step is not None
    assert (action.step.step_id, action.step.tool_call) == ("s2", ToolCall("keep", {"note": "car"}))
    last = [str(request.messages[-1].content) for request in llm.requests]
    before = "Said before:\nUser: mow the lawn\nAssistant: lawn = mown"
    assert any(before in text and text.endswith(SECOND) for text in last)
    ended = (await judged(subject, FIRST_STEP, SECOND_STEP)).evaluation
    assert (ended.reasons, ended.final_output) == ((ANSWERED,), "lawn = mown\ncar = clean")


async def test_a_part_that_cannot_be_done_ends_the_run() -> None:
    """The answer says what the parts before it did, and those behind it are not begun."""
    subject, _ = in_parts(
        SEVERAL,
        PARTS,
        said("Request: mow the lawn", keep={"note": "lawn"}),
        said(SECOND, cannot="No car here."),
    )
    await chosen(subject, run_of(request=REQUEST))
    ended = (await judged(subject, FIRST_STEP)).evaluation
    assert (ended.reasons, ended.final_output) == ((CANNOT,), "lawn = mown\nNo car here.")


async def test_parts_that_need_no_step_are_answered_together() -> None:
    """A request all of whose parts are answered at once is answered in the words of all, each line once."""
    shows = Rule(contains="from what is shown above it", text="Both are done.")
    answers = (said("Request: mow the lawn", answer="Mown."), said(SECOND, answer="Washed."))
    subject, _ = in_parts(SEVERAL, PARTS, shows, *answers, about=(UNSURE,))
    shown: list[str] = []
    choice = (await subject.choose(run_of(request=REQUEST), grant(), shown.append)).value
    assert choice.route is Route.REPLY
    assert choice.answer is not None
    assert shown == [choice.answer.text] == ["Both are done."]


async def test_a_request_for_one_thing_is_decided_about_at_once() -> None:
    """No parts are asked for where one thing is wanted, where only something is asked, or where the run has instructions."""
    whole = said("Request: mow the lawn, then wash the car", keep={"note": "both"})
    expected = RouteChoice(Route.DIRECT, ToolCall("keep", {"note": "both"}))
    subject, llm = in_parts(ONE, PARTS, whole)
    assert await chosen(subject, run_of(request=REQUEST)) == expected
    assert not asked(llm, PARTS)
    subject, llm = in_parts(SEVERAL, PARTS, whole)
    run = run_of(request=REQUEST)
    instructed = replace(run, request=replace(run.request, instructions="Be brief."))
    assert await chosen(subject, instructed) == expected
    assert not asked(llm, SEVERAL)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("is the lawn mown, or do I have to mow it today?", False),
        ("show me the lawn", False),
        ("look up when the lawn was mown, then put the day into the log", True),
        ("when was the lawn mown? It should be in the log.", False),
    ],
)
async def test_a_question_is_not_asked_for_its_parts(request_: str, *, expected: bool) -> None:
    """Where nothing seems to be changed, only a request that is no question and has many words may still be for several things."""
    looks = Rule(contains="Say in one word what a request", text="files", likely={"files": -0.1, "do": -4.0})
    subject, llm = in_parts(ONE, said("", answer="Yes."), about=(looks,))
    await chosen(subject, run_of(request=request_))
    assert asked(llm, ONE) is expected


async def test_a_request_is_whole_unless_it_surely_has_parts() -> None:
    """Neither an uncertain cut nor a first part that only says why the second is wanted divides a request; its first change is then the
    only one, and the tool's report the answer."""
    whole = said("Request: mow the lawn, then wash the car", keep={"note": "both"})
    expected = RouteChoice(Route.DIRECT, ToolCall("keep", {"note": "both"}))
    for rules in ((SEVERAL, UNSURE_PARTS, whole), (SEVERAL, PARTS, whole)):
        subject, _ = in_parts(*rules, about=(SUBJECT, TELLS if UNSURE_PARTS not in rules else EDITS))
        assert await chosen(subject, run_of(request=REQUEST)) == expected
        assert (await judged(subject, FIRST_STEP)).evaluation.final_output == "lawn = mown"


@pytest.mark.parametrize(
    ("order", "parts"),
    [
        ("Then note it.", True),
        ("It should be in the book.", False),
    ],
)
async def test_a_question_with_an_order_behind_it_has_two_parts(order: str, *, parts: bool) -> None:
    """What stands behind a question is a part of its own if it is to change something, whatever the model says of the whole request."""
    subject, llm = question_and_order(order, is_order=parts)
    choice = await chosen(subject, run_of(request=f"When was it mown? {order}"))
    assert choice.tool_call == (ToolCall("keep", {"note": "part"}) if parts else None)
    assert not asked(llm, ONE)
    shown = [str(request.messages[-1].content) for request in llm.requests]
    assert any("User: When was it mown?\nAssistant: In May." in text for text in shown) is parts


def question_and_order(order: str, *, is_order: bool) -> tuple[InParts, ScriptedLLM]:
    """A question that is answered from what is in view, and what stands behind it."""
    return in_parts(
        Rule(
            contains=f"Request: {order}",
            text="?",
            likely={"do": -0.1, "files": -3.0} if is_order else {"files": -0.1, "do": -3.0},
            times=1,
        ),
        Rule(contains=INTENT, text="edit", likely={"edit": -0.1, "ask": -4.0}),
        Rule(contains="Say in one word what a request", text="files", likely={"files": -0.1, "do": -4.0}),
        Rule(contains="from what is shown above it", text="In May."),
        said(f"Request: {order}", keep={"note": "part"}),
        said(f"mown? {order}", answer="In May."),
        said("Request: When was it mown?", answer="In May."),
        about=(),
    )


async def test_a_run_that_changed_nothing_is_divided_again_after_a_restart() -> None:
    """A daemon that does not know how far a run is begins with the first part, for which the results of its steps are in view."""
    looked = ran(calls("s1", "look", path="book"), output="mown in May")
    subject, _ = question_and_order("Then note it.", is_order=True)
    run = after_pass(1, looked, request="When was it mown? Then note it.")
    [action] = (await subject.evaluate(run, grant())).value.actions
    assert action.step is not None
    assert action.step.tool_call == ToolCall("keep", {"note": "part"})


async def test_a_run_of_another_daemon_goes_on_undivided() -> None:
    """After a restart the rest of a request that has changed something is decided about as a whole."""
    subject, llm = in_parts(SEVERAL, PARTS, said("", keep={"note": "car"}))
    after = await judged(subject, FIRST_STEP)
    assert after.actions[0].step is not None
    assert after.actions[0].step.step_id == "s2"
    assert f"Request: {REQUEST}" in str(llm.requests[-1].messages)
