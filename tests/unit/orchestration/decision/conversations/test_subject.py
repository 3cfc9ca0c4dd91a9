"""What a request is about: what follows for changes, and which words count."""

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, ScriptedLLM
from aeond.capabilities.tools.registry import Registry
from aeond.domain.llm import LikelyToken
from aeond.domain.plans.plan import PlanStep, StepState
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Effect, Recovery, ToolCall
from aeond.orchestration.decision.conversations.subject import Subject, Subjects, subject_of
from aeond.orchestration.decision.decider import Decider
from aeond.orchestration.interfaces import discard_text
from aeond.orchestration.last_runs import MAX_RUNS
from aeond.orchestration.prompts.subject_prompts import FILE, MEMORY
from aeond.orchestration.purpose.purposes import Purpose
from tests.support.deciders import INTENT, IS_WANTED, Composing, WholeTool, decider_of, words
from tests.support.judging import after_pass, ran
from tests.support.strategy import LOOK, TEXT, calls, grant, registry, run_of, says, spec

KEEP = spec("keep", {"note": TEXT}, ("note",), Effect.MEMORY)
SUBJECT, PLACE = "Say in one word what a request", "Say in one word where"
WANTED, UNWANTED = words(do=0.9, edit=0.9), words(files=0.8, do=0.2, ask=0.9)
SOMEWHERE = words(do=0.8, files=0.2, edit=0.4, tell=0.4)  # a change in files or in the memory
LOOKED = ran(calls("s1", "look", path="a"), output="7")


def decider(*decisions: object, likely: Mapping[str, float]) -> tuple[Decider, ScriptedLLM]:
    """A decider over a model that answers these words when it is asked what a request is about, and when it is asked what the person
    does."""
    rules = [
        Rule(contains=INTENT, text=next(iter(likely), "?"), likely=dict(likely)),
        Rule(contains=SUBJECT, text=next(iter(likely), "?"), likely=dict(likely)),
        Rule(contains=PLACE, text="?"),
    ]
    rules += [Rule.model_validate({"json": one, "times": 1}) for one in decisions]
    return decider_of(tuple(rules), registry(LOOK, KEEP))


async def first(*decisions: object, likely: Mapping[str, float]) -> ToolCall | None:
    subject, _ = decider(*decisions, likely=likely)
    return (await subject.choose(run_of(), grant(10), discard_text)).value.tool_call


async def after(run: RunSnapshot, *decisions: object, likely: Mapping[str, float]) -> PlanStep | str | None:
    """The next step, or the text of the answer."""
    subject, _ = decider(*decisions, likely=likely)
    judged = (await subject.evaluate(run, grant(10))).value
    return judged.actions[0].step if judged.actions else judged.evaluation.final_output


async def test_nothing_is_changed_that_is_only_asked_about() -> None:
    """A first call that would change something is decided again without such tools where no change is likely wanted."""
    keep, look = {"keep": {"note": "red"}}, {"look": {"path": "a"}}
    assert await first(keep, look, likely=UNWANTED) == ToolCall("look", {"path": "a"})
    assert await first(keep, look, likely=WANTED) == ToolCall("keep", {"note": "red"})
    assert await first(keep, look, likely={}) == ToolCall("keep", {"note": "red"})


async def test_general_knowledge_is_answered_in_place_of_a_change() -> None:
    """Where general knowledge may be enough, a plain reply is given, and no action is chosen."""
    rules = [
        Rule(contains=SUBJECT, text="know", likely={"know": -0.2, "do": -2.0}),
        Rule(contains="you can only talk", text="A rhyme on red."),
        Rule(contains="from general knowledge alone", text="Red", likely={"Red": -0.1, "?": -2.5}),
        Rule.model_validate({"json": {"keep": {"note": "red"}}}),
    ]
    tools = Registry()
    tools.register(WholeTool(replace(KEEP, candidates=("note",))))
    subject, _ = decider_of(tuple(rules), tools, invoker=Composing({}))
    chosen = (await subject.choose(run_of(), grant(10), discard_text)).value
    assert chosen.answer is not None
    assert chosen.answer.text == "A rhyme on red."


async def test_a_run_does_not_end_before_what_was_wanted() -> None:
    """An answer after steps that changed nothing is decided again with the tools that change, where a change is surely wanted."""
    run = after_pass(1, LOOKED)
    answer, keep = {"answer": "It is 7."}, {"keep": {"note": "red"}}
    step = await after(run, answer, keep, likely=WANTED)
    assert isinstance(step, PlanStep)
    assert step.tool_call == ToolCall("keep", {"note": "red"})
    assert await after(run, answer, keep, likely=UNWANTED) == "It is 7."
    assert await after(run, answer, keep, likely=words(do=0.3, files=0.7, ask=0.9)) == "It is 7."
    assert await after(run, {"cannot": "No."}, keep, likely=WANTED) == "No."


async def test_a_run_that_has_changed_something_is_not_asked_about() -> None:
    """After a change the decisions stay as they are."""
    kept = ran(calls("s2", "keep", note="red"), output="kept", recovery=Recovery.RECONCILE)
    run = after_pass(1, LOOKED, kept)
    assert await after(run, {"answer": "Kept."}, likely=WANTED) == "Kept."


async def test_an_announced_change_is_made() -> None:
    """A first answer is decided again with the tools that change, where a change is surely wanted; a refusal stays."""
    keep = {"keep": {"note": "red"}}
    assert await first({"answer": "I will keep it."}, keep, likely=WANTED) == ToolCall(
        "keep", {"note": "red"}
    )
    assert await first({"answer": "It is 7."}, keep, likely=UNWANTED) is None
    assert await first({"cannot": "I cannot."}, keep, likely=WANTED) is None
    assert await first({"answer": "I will."}, {"cannot": "I cannot."}, likely=WANTED) is None


@pytest.mark.parametrize(("answer", "order"), [(-3.5, True), (-1.5, False)])
async def test_what_may_be_an_order_is_one_if_something_is_to_be_done(answer: float, *, order: bool) -> None:
    """Where the words leave open whether a request asks or orders, a third one says it: then no answer is wanted, and what else may be."""
    open_ = words(
        do=0.3, know=0.05, files=0.05, compute=0.03, facts=0.01, ask=0.5, act=0.05, tell=0.05, edit=0.05
    )
    wanted = {"done": -0.4, "both": -1.3, "answer": answer}
    said = ((SUBJECT, open_), (INTENT, open_), (IS_WANTED, wanted))
    rules = tuple(Rule(contains=one, text=next(iter(likely)), likely=likely) for one, likely in said)
    _, llm = decider_of(rules, registry(LOOK))
    subjects, run = Subjects(), run_of(request="Mark it as red")
    assert not (
        await subjects.of(llm, run, Situation(), grant(3))
    ).is_order  # no call is left for the third one yet
    subject = await subjects.of(llm, run, Situation(), grant(10))
    assert (subject.wants_no_change, subject.is_order) == (not order, order)
    assert math.isclose(sum(subject.purposes.values()), 1.0)
    await subjects.of(llm, run, Situation(), grant(10))
    assert len(llm.requests) == 3


@pytest.mark.parametrize("likely", [UNWANTED, SOMEWHERE])
async def test_a_question_is_not_refused_before_a_look(likely: Mapping[str, float]) -> None:
    """A refusal is decided again with the tools that look into what exists here, unless it is known where something is to be done."""
    tools = registry(KEEP)
    tools.register(WholeTool(replace(LOOK, candidates=("path",))))
    rules = [
        Rule(contains=INTENT, text=next(iter(likely), "?"), likely=dict(likely)),
        Rule(contains=SUBJECT, text=next(iter(likely), "?"), likely=dict(likely)),
        Rule(contains=PLACE, text="?"),
        Rule(contains="from what is shown above it", text="?"),
    ]
    rules += [
        Rule.model_validate({"json": one, "times": 1})
        for one in ({"cannot": "I cannot."}, {"look": {"path": "a"}})
    ]
    subject, _ = decider_of(tuple(rules), tools, invoker=Composing({}, values=("a",)))
    chosen = (await subject.choose(run_of(), grant(10), discard_text)).value
    assert chosen.tool_call == ToolCall("look", {"path": "a"})


async def test_numbers_are_computed_by_a_tool() -> None:
    """A request for a calculation that gives the numbers is offered only tools that compute; one that does not give them is
    decided about."""
    add, look = {"add": {"sum": "12*8.5"}}, {"look": {"path": "a"}}
    assert await computed("12 lamps at 8.50 each", add) == ToolCall("add", {"sum": "12*8.5"})
    assert await computed("all 12 lamps", look) == ToolCall("look", {"path": "a"})


async def computed(request: str, *decisions: object) -> ToolCall | None:
    """The first call for a request of which the model says that it needs a calculation."""
    tools = registry(KEEP)
    for one, name in ((LOOK, "path"), (spec("add", {"sum": TEXT}, ("sum",), Effect.PURE), "sum")):
        tools.register(WholeTool(replace(one, candidates=(name,))))
    rules = [Rule(contains=SUBJECT, text="compute", likely={"compute": -0.1, "know": -2.5})]
    rules += [Rule.model_validate({"json": one, "times": 1}) for one in decisions]
    decider, _ = decider_of(tuple(rules), tools, invoker=Composing({}))
    return (await decider.choose(run_of(request=request), grant(10), discard_text)).value.tool_call


async def test_what_tools_without_known_values_do_not_do_is_refused() -> None:
    """A refusal stays where no tool is known to look into what exists here."""
    assert await first({"cannot": "I cannot."}, {"look": {"path": "a"}}, likely=UNWANTED) is None


async def test_a_change_that_failed_is_not_demanded_again() -> None:
    """After a call that was to change something an answer ends the run."""
    failed = replace(
        ran(calls("s2", "keep", note="red"), recovery=Recovery.RECONCILE), state=StepState.FAILED
    )
    run = after_pass(1, LOOKED, failed, failed, failed)
    assert await after(run, {"answer": "It could not be kept."}, likely=WANTED) == "It could not be kept."


async def test_a_spent_budget_leaves_the_decision() -> None:
    """Without a call left to decide again the first decision counts."""
    subject, _ = decider({"keep": {"note": "red"}}, likely=UNWANTED)
    chosen = (await subject.choose(run_of(), grant(2), discard_text)).value
    assert chosen.tool_call == ToolCall("keep", {"note": "red"})
    subject, _ = decider({"answer": "It is 7."}, likely=WANTED)
    judged = (await subject.evaluate(after_pass(1, LOOKED), grant(2))).value
    assert judged.evaluation.final_output == "It is 7."


@pytest.mark.parametrize(
    ("likely", "wanted", "unwanted"),
    [
        ({"know": -0.5, "files": -1.5}, False, True),
        ({"know": -2.0, "do": -0.1, "x": -0.1}, True, False),
        ({"do": -0.2}, True, False),
        ({"x": -0.1}, False, False),
        ({}, False, False),
    ],
)
def test_words_that_name_no_subject_do_not_count(
    likely: dict[str, float], wanted: bool, unwanted: bool
) -> None:
    """The odds are those of one subject against the others; without any nothing follows."""
    subject = subject_of(tuple(LikelyToken(*one) for one in likely.items()), (), "Is the harbour closed")
    assert (subject.wants_change, subject.wants_no_change) == (wanted, unwanted)


@pytest.mark.parametrize(
    ("know", "some", "expected", "calls"),
    [
        (-0.8, -0.1, True, 2),  # the word leaves it open, and there is an answer
        (-0.8, -1.0, False, 2),  # and the answer is not known
        (-0.1, -1.0, True, 2),  # the word alone says enough, unless the answer is surely not known
        (-0.1, -6.0, False, 2),
        (-1.0, -0.03, True, 2),  # the word is against it, and there surely is an answer
        (-1.0, -0.4, False, 2),
        (-4.0, -0.01, False, 1),  # it is about something else
    ],
)
async def test_general_knowledge_is_what_the_model_can_answer(
    know: float, some: float, expected: bool, calls: int
) -> None:
    """Whether it has an answer without a look counts beside the word for the subject; both are asked once."""
    answered = {"Lima": some, "?": math.log(1 - math.exp(some))}
    likely = {"know": know, "files": math.log(1 - math.exp(know))}
    llm = says(
        {"contains": "from general knowledge alone", "text": "Lima", "likely": answered, "times": 0},
        {"text": "know", "likely": likely, "times": 0},
    )
    subjects, run = Subjects(), run_of(request="Where is it")
    for _ in range(2):
        subject = await subjects.of(llm, run, Situation(), grant())
        assert await subjects.is_knowledge(subject, llm, run, grant()) is expected
    assert len(llm.requests) == calls


async def test_a_request_is_asked_about_once() -> None:
    """The subject of a run's request, as it is understood, is known until many other runs have come; one that the model did not give is
    asked for again."""
    llm = says({"text": "do", "likely": {"do": -0.1}, "times": 0})
    subjects, run = Subjects(), run_of(request="Keep it.")
    assert (await subjects.of(llm, run, Situation(), grant(1))).wants_change
    assert (await subjects.of(llm, run, Situation(), grant(0))).wants_change
    assert len(llm.requests) == 1
    await subjects.of(llm, replace(run, resolved_text="it"), Situation(), grant(1))
    assert str(llm.requests[-1].messages[-1].content) == "Request: it"
    for number in range(MAX_RUNS):
        await subjects.of(llm, replace(run, run_id=f"other {number}"), Situation(), grant(1))
    await subjects.of(llm, run, Situation(), grant(1))
    assert len(llm.requests) == MAX_RUNS + 3
    silent = Subjects()
    assert not (await silent.of(llm, run, Situation(), grant(0))).wants_change
    assert (await silent.of(llm, run, Situation(), grant(1))).wants_change


def test_what_looks_like_a_question_is_not_surely_for_the_memory() -> None:
    """The place of an order that looks like a question is never surely the memory; it may surely be a file."""
    for purpose, place, of_order in ((Purpose.TELL, MEMORY, ""), (Purpose.EDIT, FILE, FILE)):
        subject = Subject((), purposes={purpose: 0.9, Purpose.LOOK: 0.1})
        assert subject.place == place
        assert subject.as_order().place == of_order
