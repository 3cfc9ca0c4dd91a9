"""Steps that are executed at once, without waiting for the disk."""

from collections.abc import Mapping
from dataclasses import replace

from aeond.domain.plans.plan import Plan, PlanStep, StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts, Budget
from aeond.domain.runs.questions import InputRequest
from aeond.domain.runs.reservations import ANSWERING, NOTHING, TOOL_STEP
from aeond.domain.runs.run import RunRequest, RunSnapshot
from aeond.domain.tools import Recovery, ToolCall, ToolContext, ToolResult
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import ToolError
from aeond.orchestration.execution.inline_executor import InlineExecutor
from aeond.ports.policy import Decided, ignore_decision
from tests.support.doubles import ManualClock, PlainInvoker, ScriptedTool
from tests.support.folding import fold_all

STEP = PlanStep("s1", "add one", ToolCall("add", {"n": 1}, call_id="run/s1"))
STARTED = e.StepStarted(STEP, 1, StepMode.TOOL, Recovery.RERUN, TOOL_STEP)


def run_before(*kinds: e.EventKind) -> RunSnapshot:
    """The run with STEP as its plan, after these events."""
    created = e.RunCreated(RunRequest("add", workspace="/w"), Budget(), Plan("add", (STEP,)))
    all_kinds = (created, e.RunStarted(), e.PassStarted(1), *kinds)
    return fold_all(
        RunSnapshot("run"),
        [e.Event("run", seq, 0.0, 0.0, kind) for seq, kind in enumerate(all_kinds, start=1)],
    )


def add_one(arguments: JsonObject, _context: ToolContext) -> JsonValue:
    n = arguments["n"]
    if not isinstance(n, int):
        raise ToolError("that is no number", reason="NOT_A_NUMBER")
    return {"n": n + 1}


def at_once(**tools: ScriptedTool) -> InlineExecutor:
    return InlineExecutor(
        PlainInvoker(tools or {"add": ScriptedTool("add", computed=add_one)}), ManualClock()
    )


def test_a_computing_step_ends_where_it_is_intended() -> None:
    """A step of a tool that only computes gives its output, and counts one ttl and one tool call."""
    (ended,) = at_once().perform(STARTED, run_before(STARTED))
    assert ended == e.StepEnded(
        "s1", StepState.SUCCEEDED, StepMode.TOOL, output={"n": 2}, used=Amounts(ttl=1, tool_calls=1)
    )


def test_a_computing_step_fails_as_any_other() -> None:
    """A ToolError is the error and the reason of the step, which counts as a call all the same."""
    started = replace(STARTED, step=replace(STEP, tool_call=ToolCall("add", {"n": "one"})))
    (ended,) = at_once().perform(started, run_before(started))
    assert isinstance(ended, e.StepEnded)
    assert (ended.state, ended.reason, ended.error) == (StepState.FAILED, "NOT_A_NUMBER", "that is no number")
    assert ended.used == Amounts(ttl=1, tool_calls=1)


def test_the_tool_sees_its_own_call() -> None:
    """A tool that computes receives the run, the step, the call and the workspace it computes for."""
    tool = ScriptedTool("add", computed=add_one)
    run = run_before(STARTED)
    at_once(add=tool).perform(STARTED, run)
    assert tool.calls == [run.tool_context("s1", "run/s1")]


def test_steps_that_wait_are_not_executed_inline() -> None:
    """A step of any other tool, of a model, of a repair, or whose references failed is not begun."""
    waiting = ScriptedTool("add")
    assert at_once(add=waiting).perform(STARTED, run_before(STARTED)) == ()
    assert waiting.calls == []
    for mode in (StepMode.AGENT, StepMode.REPAIR, StepMode.FALLBACK):
        started = replace(STARTED, mode=mode)
        assert at_once().perform(started, run_before(started)) == ()
    unresolved = replace(STARTED, step=replace(STEP, errors=("$s0 leads nowhere",)))
    assert at_once().perform(unresolved, run_before(unresolved)) == ()
    assert at_once().perform(e.PlanningStarted(NOTHING), run_before()) == ()


def test_a_tool_that_asks_is_waited_for() -> None:
    """A computing tool that wants a person is left to the step's usual way, where asking is known."""

    class Asking(PlainInvoker):
        def compute(
            self, call: ToolCall, context: ToolContext, decided: Decided = ignore_decision
        ) -> ToolResult | None:
            return ToolResult(True, request=InputRequest("How many?"))

    tools: Mapping[str, ScriptedTool] = {}
    assert InlineExecutor(Asking(tools), ManualClock()).perform(STARTED, run_before(STARTED)) == ()


def test_an_answer_without_a_model_is_there_at_once() -> None:
    """An answer for which no model call is reserved is composed from the steps; one with a model is waited for."""
    (ended,) = at_once().perform(STARTED, run_before(STARTED))
    run = run_before(STARTED, ended, e.PassEnded(1))
    (composed,) = at_once().perform(e.AnswerStarted(NOTHING), run)
    assert isinstance(composed, e.AnswerComposed)
    assert (composed.answer.text, composed.answer.step_ids) == ('{"n": 2}', ("s1",))
    assert at_once().perform(e.AnswerStarted(ANSWERING), run) == ()
