"""Which tool of another author fits a request."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule
from aeond.capabilities.tools.registry import Registry
from aeond.domain.runs.run import Answer
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Effect, ToolCall
from aeond.orchestration.interfaces import discard_text
from aeond.orchestration.last_runs import MAX_RUNS
from tests.support.deciders import ARGUMENTS, EXACT, FITTING, Composing, WholeTool, decider_of
from tests.support.judging import after_pass, ran
from tests.support.strategy import LOOK, TEXT, calls, grant, run_of, spec

TIDES = replace(LOOK, name="tides")
NEAR = Situation(files=(("a.txt", "Ida"),), nearest=("a.txt",))
READ, ASKED = ToolCall("look", {"path": "a.txt"}), ToolCall("tides", {"path": "Kiel"})
CODE = "source code of the program is to be changed"
ASKED_ABOUT_FILES = Rule(
    contains="Say in one word what a request", text="?", likely={"files": -0.1, "do": -3.0}
)


def tools() -> Registry:
    """A tool that is known to look here, and one of which only its author knows what it does."""
    registry = Registry()
    for one in (replace(LOOK, candidates=("path",)), TIDES):
        registry.register(WholeTool(one))
    return registry


EXACTLY, NEARLY = (Rule(contains=EXACT, text="yes", likely={"yes": -0.1, "no": -n}) for n in (3.0, 0.5))


def named(text: str, **likely: float) -> Rule:
    return Rule(contains=FITTING, text=text, likely=likely)


@pytest.mark.parametrize(
    ("rule", "exact", "call"),
    [
        (named("tides", ti=-0.01, none=-4.0), EXACTLY, ASKED),
        (named("tides", ti=-0.2, none=-1.7), EXACTLY, READ),
        (named("tides", ti=-0.01, none=-4.0), NEARLY, READ),
        (named("none", none=-0.1, ti=-3.0), EXACTLY, READ),
        (named("lamp", la=-0.1), EXACTLY, ASKED),
    ],
)
async def test_a_tool_that_fits_is_called(rule: Rule, exact: Rule, call: ToolCall) -> None:
    """The tool that is surely named and does just what is wanted is called; if likely none does, the request is decided as if there were none;
    where the model names nothing that is offered it chooses among all tools."""
    rules = (rule, exact, ASKED_ABOUT_FILES, Rule.model_validate({"json": {"tides": {"path": "Kiel"}}}))
    decider, llm = decider_of(rules, tools(), NEAR, Composing({}, ("a.txt",)))
    chosen = await decider.choose(run_of(request="Who?"), grant(10), discard_text)
    assert chosen.value.tool_call == call
    asked = str(llm.requests[0].messages[-1].content)
    assert asked == "Tools:\ntides(path, depth?): The look tool.\nRequest: Who?"


PROGRAMMER = replace(
    spec("change_code", {"task": TEXT}, ("task",), Effect.EXEC_CONTAINED),
    source_code=("*.py",),
    request_argument="task",
)


@pytest.mark.parametrize(
    ("odds", "file", "call"),
    [
        ({"yes": -0.1, "no": -2.5}, "src/a.py", ToolCall("change_code", {"task": "Who?"})),
        ({"yes": -0.9, "no": -0.6}, "src/a.py", READ),
        ({"yes": -0.1, "no": -2.5}, "a.pyc", READ),
    ],
)
async def test_a_change_of_source_code_goes_to_its_tool(
    odds: Mapping[str, float], file: str, call: ToolCall
) -> None:
    """Where there is source code, a request that wants it changed goes to the tool for it in the person's words; any other is decided without
    that tool."""
    rules = (Rule(contains=CODE, text="yes", likely=dict(odds)), named("none", none=-0.1), ASKED_ABOUT_FILES)
    registry = Registry()
    for one in (replace(LOOK, candidates=("path",)), PROGRAMMER):
        registry.register(WholeTool(one))
    situation = replace(NEAR, files=((file, "x = 1"), *NEAR.files))
    decider, _ = decider_of(rules, registry, situation, Composing({}, ("a.txt",)))
    assert (await decider.choose(run_of(request="Who?"), grant(10), discard_text)).value.tool_call == call


async def test_a_proposal_of_the_tool_that_fits_is_made() -> None:
    """What the tool proposes that was chosen for the whole request is made, though the request also reads as a question."""
    rules = (Rule(contains=CODE, text="yes", likely={"yes": -0.1, "no": -2.5}), ASKED_ABOUT_FILES)
    registry = Registry()
    apply = spec("apply", {"proposal": TEXT}, ("proposal",), Effect.WRITE_CONTAINED)
    for one in (replace(PROGRAMMER, private=True, followed_by="apply"), apply):
        registry.register(WholeTool(one))
    decider, _ = decider_of(rules, registry, replace(NEAR, files=(("a.py", "x = 1"),)), Composing({}, ()))
    made = ran(calls("s1", "change_code", task="Who?"), output={"proposal": "2f", "ready": True})
    judged = (await decider.evaluate(after_pass(1, made), grant(10))).value
    assert [action.step.tool_call for action in judged.actions if action.step] == [
        ToolCall("apply", {"proposal": "2f"})
    ]


async def test_it_is_asked_once_in_a_run() -> None:
    """The judgement after a step does not ask again, and offers no tool that does not fit."""
    rules = (
        named("none", none=-0.1, ti=-3.0),
        ASKED_ABOUT_FILES,
        Rule(contains="from what is shown above it", text="Ida."),
    )
    decider, llm = decider_of(rules, tools(), NEAR, Composing({}, ("a.txt",)))
    run = run_of(request="Who?")
    await decider.choose(run, grant(10), discard_text)
    looked = ran(calls("s1", "look", path="a.txt"), output="Ida")
    judged = (await decider.evaluate(replace(after_pass(1, looked), request=run.request), grant(10))).value
    assert judged.evaluation.final_output == "Ida."
    assert sum(FITTING in str(one.messages[0].content) for one in llm.requests) == 1


async def test_runs_are_forgotten() -> None:
    """The answers are kept for the last runs; where the budget was spent there is none, and it is asked again."""
    decider, llm = decider_of((named("none", none=-0.1),), tools())
    offer = await decider.means.offers.first(run_of(), Situation())
    assert await decider.means.answered.fitting.of(llm, run_of(), Situation(), offer, grant(0)) == ""
    for number in (*range(MAX_RUNS + 1), 0):
        await decider.means.answered.fitting.of(
            llm, replace(run_of(), run_id=f"run {number}"), Situation(), offer, grant(2)
        )
    assert len(llm.requests) == MAX_RUNS + 2


@pytest.mark.parametrize(("calls_left", "instructions"), [(1, ""), (10, "Ask the tides.")])
async def test_where_it_is_not_asked(calls_left: int, instructions: str) -> None:
    """The question is not asked with too few calls for what comes after it, nor in a run that was given its tools and instructions."""
    rules = (ASKED_ABOUT_FILES, Rule.model_validate({"json": {"answer": "Ida."}}))
    decider, llm = decider_of(rules, tools())
    run = run_of(request="Who?")
    run = replace(run, request=replace(run.request, instructions=instructions))
    chosen = await decider.choose(run, grant(calls_left), discard_text)
    assert isinstance(chosen.value.answer, Answer)
    assert not any(FITTING in str(one.messages[0].content) for one in llm.requests)


def tides_at(*harbours: str) -> Rule:
    """The arguments of a call for each harbour."""
    return Rule.model_validate({"contains": ARGUMENTS, "json": [{"path": one} for one in harbours]})


async def test_all_calls_that_a_request_needs_are_made() -> None:
    """A small model writes the arguments of all calls at once, each different one is made, and then the tool is not offered again."""
    rules = (
        named("tides", ti=-0.01, none=-4.0),
        EXACTLY,
        tides_at("Kiel", "Oban", "Kiel", "Lerwick"),
        Rule.model_validate({"json": {"answer": "At six."}}),
    )
    decider, llm = decider_of(rules, tools(), replace(NEAR, time="Monday", facts=(("home", "Kiel"),)))
    run = run_of(request="When is high water in Kiel, Oban and Lerwick?")
    first = (await decider.choose(run, grant(10), discard_text)).value.tool_call
    assert first == ASKED
    asked = str(llm.requests[-1].messages[-1].content)
    assert asked.startswith(
        "tides: The look tool.\n- path (text)\n- depth? (whole number)\nRemembered: home = Kiel\nNow: Monday"
    )
    after_first = replace(
        after_pass(1, ran(calls("s1", "tides", path="Kiel"), output="6")), request=run.request
    )
    further = (await decider.evaluate(after_first, grant(10))).value
    made = [
        action.step.tool_call.arguments for action in further.actions if action.step and action.step.tool_call
    ]
    assert made == [{"path": "Oban"}, {"path": "Lerwick"}]
    assert [action.step_id for action in further.actions] == ["s2", "s3"]
    last = (await decider.evaluate(after_first, grant(10))).value
    assert (last.actions, last.evaluation.final_output) == ((), "At six.")
    assert "tides" not in str(llm.requests[-1].schema)


@pytest.mark.parametrize(
    "written",
    [
        Rule.model_validate({"contains": ARGUMENTS, "json": [{"depth": 3}]}),
        Rule(contains=ARGUMENTS, text="["),
    ],
)
async def test_arguments_that_the_tool_does_not_take(written: Rule) -> None:
    """Where no call can be made of what was written, the call is decided in the usual way."""
    rules = (
        named("tides", ti=-0.01, none=-4.0),
        EXACTLY,
        written,
        Rule.model_validate({"json": {"tides": {"path": "Kiel"}}}),
    )
    decider, _ = decider_of(rules, tools(), NEAR)
    chosen = await decider.choose(run_of(request="When?"), grant(10), discard_text)
    assert chosen.value.tool_call == ASKED
