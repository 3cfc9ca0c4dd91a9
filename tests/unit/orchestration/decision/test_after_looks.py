"""How a run goes on whose calculations came to nothing."""

from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, ScriptedLLM
from aeond.capabilities.tools.registry import Registry
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Effect, ToolCall
from aeond.orchestration.decision.decider import Decider
from aeond.orchestration.interfaces import discard_text
from tests.support.deciders import Composing, WholeTool, decider_of
from tests.support.judging import after_pass, ran
from tests.support.strategy import LOOK, TEXT, calls, grant, run_of, spec

ADD = spec("add", {"sum": TEXT}, ("sum",), Effect.PURE)
NEAR = Situation(files=(("sun.log", "20 June"),), nearest=("sun.log",))
OTHER, GIVEN = "100-50", "26-20"
REQUEST = "How much sun was there from 20 to 26 June?"
READ = ToolCall("look", {"path": "sun.log"})


def decider(*decisions: object) -> tuple[Decider, ScriptedLLM]:
    """A decider whose model says that a request needs a calculation, and answers with what is shown in "sun.log"."""
    rules = [
        Rule(contains="Say in one word what a request", text="compute", likely={"compute": -0.01}),
        Rule(contains="from what is shown above it", text="99 hours."),
    ]
    rules += [Rule.model_validate({"json": one, "times": 1}) for one in decisions]
    tools = Registry()
    for one, name in ((LOOK, "path"), (ADD, "sum")):
        tools.register(WholeTool(replace(one, candidates=(name,))))
    return decider_of(tuple(rules), tools, NEAR, Composing({}, values=("sun.log", OTHER, GIVEN)))


async def test_a_calculation_that_is_not_written_leads_to_a_look() -> None:
    """Where the tools that compute are not called, the request is looked up."""
    subject, _ = decider({"answer": "10 hours."})
    chosen = (await subject.choose(run_of(request=REQUEST), grant(20), discard_text)).value
    assert chosen.tool_call == READ


@pytest.mark.parametrize(("expression", "call"), [(OTHER, READ), (GIVEN, ToolCall("add", {"sum": GIVEN}))])
async def test_a_calculation_has_numbers_of_the_request(expression: str, call: ToolCall) -> None:
    """One that has none of them is made up, and leads to a look."""
    subject, _ = decider({"add": {"sum": expression}})
    chosen = (await subject.choose(run_of(request=REQUEST), grant(20), discard_text)).value
    assert chosen.tool_call == call


async def test_after_a_failed_calculation_its_numbers_are_looked_for() -> None:
    """The nearest file is read, and no tool that computes is tried again."""
    subject, llm = decider()
    failed = ran(calls("s1", "add", sum="sun[20:26]"), error="sun is no number")
    run = after_pass(1, failed)
    judged = (
        await subject.evaluate(replace(run, request=replace(run.request, text=REQUEST)), grant(20))
    ).value
    (action,) = judged.actions
    assert action.step is not None
    assert action.step.tool_call == READ
    assert not any(one.schema for one in llm.requests)


@pytest.mark.parametrize("sums", [1, 2])
async def test_the_answer_comes_from_what_was_read_then(sums: int) -> None:
    """The calculations that failed before are not in view of the answer."""
    subject, llm = decider()
    failed = [
        ran(calls(f"s{number}", "add", sum=f"sun[{number}]"), error="no number") for number in range(sums)
    ]
    run = after_pass(1, *failed, ran(calls("s9", "look", path="sun.log"), output="99 hours"))
    judged = (
        await subject.evaluate(replace(run, request=replace(run.request, text=REQUEST)), grant(20))
    ).value
    assert judged.evaluation.final_output.startswith("99 hours.")
    assert "no number" not in str(llm.requests[-1].messages[-1].content)
