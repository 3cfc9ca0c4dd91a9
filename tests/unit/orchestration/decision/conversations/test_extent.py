"""The end of a run after the one change that was wanted."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule
from aeond.capabilities.tools.registry import Registry
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.tools import Effect, Recovery
from aeond.domain.values import JsonValue
from tests.support.deciders import WholeTool, decider_of
from tests.support.judging import after_pass, ran
from tests.support.strategy import LOOK, TEXT, calls, grant, spec

KEEP = replace(spec("keep", {"note": TEXT}, ("note",), Effect.MEMORY), candidates=("note",))
OTHER = spec("send", {"note": TEXT}, ("note",), Effect.MEMORY)
ONE, SEVERAL = {"one": -0.2, "several": -1.8}, {"one": -0.8, "several": -0.6}
LOOKED = ran(calls("s0", "look", path="a"), output="7")


def step(tool: str = "keep", output: JsonValue = "gate code = 7714", error: str = "") -> StepSnapshot:
    made = ran(calls("s1", tool, note="7714"), output=None if error else output, error=error)
    return replace(made, recovery=Recovery.RECONCILE)


async def answer(
    *steps: StepSnapshot, likely: Mapping[str, float] = ONE, instructions: str = "", found: str = ""
) -> str:
    rules = (
        Rule(contains="one thing or for several", text="one", likely=dict(likely)),
        Rule(contains="Say in one word what a request", text="do", likely={"do": -0.1}),
        Rule.model_validate({"json": {"answer": "From the decision."}}),
    )
    tools = Registry()
    for one in (LOOK, KEEP, OTHER):
        tools.register(WholeTool(one))
    subject, _ = decider_of(rules, tools)
    run = after_pass(1, *steps)
    run = replace(run, request=replace(run.request, instructions=instructions))
    subject.findings[run.run_id] = found
    return (await subject.evaluate(run, grant(10))).value.evaluation.final_output


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("gate code = 7714", "gate code = 7714"),
        ({"path": "a.md", "change": "now: red", "note": ""}, "a.md: now: red"),
    ],
)
async def test_the_report_of_the_one_change_is_the_answer(output: JsonValue, expected: str) -> None:
    """After a change that was all the request was for, also after a look, the run ends with what the tool reports."""
    assert await answer(step(output=output)) == expected
    assert await answer(LOOKED, step(output=output)) == expected


async def test_what_was_found_out_stands_above_the_report() -> None:
    """A run that found something out for its change says both."""
    assert await answer(LOOKED, step(output="fee = 84"), found="12 * 7 = 84") == "12 * 7 = 84\nfee = 84"


async def test_other_runs_go_on_with_a_decision() -> None:
    """A request for several things, a failed change, a report that is empty or long, a tool of which nothing is known and a run with
    instructions are decided about."""
    assert await answer(step(), likely=SEVERAL) == "From the decision."
    assert await answer(step(), likely={"yes": -0.1}) == "From the decision."
    assert await answer(step(error="no room")) == "From the decision."
    assert await answer(step(output="")) == "From the decision."
    assert await answer(step(output="x" * 500)) == "From the decision."
    assert await answer(step("send")) == "From the decision."
    assert await answer(step(), instructions="Be brief.") == "From the decision."
