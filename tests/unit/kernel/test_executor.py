"""One step in each of its modes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans.plan import Clarity, Plan, PlanStep, StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.plans.subtasks import Subtask, SubtaskRequest
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts, Budget, Grant
from aeond.domain.runs.reservations import AGENT_STEP, TOOL_STEP
from aeond.domain.runs.run import RunRequest, RunSnapshot
from aeond.domain.tools import TOOL_TIMEOUT, Effect, RecordedEffect, Recovery, ToolCall, ToolContext
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import ToolError
from aeond.kernel.executor import StepExecutor, StepOutcome
from aeond.ports import StepOutput, ToolInvoker
from aeond.ports.subtasks import SubtaskChooser
from tests.support.doubles import (
    FixedReasoner,
    ManualClock,
    PlainInvoker,
    ScriptedChildren,
    ScriptedRepairer,
    ScriptedTool,
)
from tests.support.folding import fold_all
from tests.support.null_objects import NamedTemplates
from tests.support.tools import FreeTool, invoker_of

STEP = PlanStep("s1", "say hello", tool_call=ToolCall("echo", {"text": "hello"}))
RUN = fold_all(
    RunSnapshot("run"),
    [e.Event("run", 1, 0.0, 0.0, e.RunCreated(RunRequest("hello"), Budget(), Plan("hello", (STEP,))))],
)


class Bench:
    """An executor and everything it works with."""

    def __init__(self, tool: ScriptedTool | None = None, invoker: ToolInvoker | None = None) -> None:
        self.tool = tool or ScriptedTool("echo")
        self.invoker = invoker or PlainInvoker({self.tool.name: self.tool})
        self.reasoner = FixedReasoner()
        self.repairer = ScriptedRepairer()
        self.children = ScriptedChildren()
        self.chooser: SubtaskChooser = NamedTemplates()
        self.grant = Grant(TOOL_STEP)
        self.texts: list[str] = []

    async def execute(
        self,
        mode: StepMode,
        step: PlanStep = STEP,
        recovery: Recovery = Recovery.RERUN,
        attempt: int = 1,
        reservation: Amounts = TOOL_STEP,
    ) -> StepOutcome:
        executor = StepExecutor(
            invoker=self.invoker,
            reasoner=self.reasoner,
            repairer=self.repairer,
            clock=ManualClock(),
            children=self.children,
            subtasks=self.chooser,
        )
        self.grant = Grant(reservation)
        started = e.StepStarted(step, attempt, mode, recovery, reservation)
        return await executor.execute(RUN, started, self.grant, self.texts.append)


def outcome(kind: StepOutcome) -> e.StepEnded:
    assert isinstance(kind, e.StepEnded)
    return kind


async def test_a_tool_step_gives_the_output_of_its_tool() -> None:
    """A tool step ends with its tool's output, one ttl and one tool call used, in mode TOOL."""
    bench = Bench()
    ended = outcome(await bench.execute(StepMode.TOOL))
    assert (ended.state, ended.mode, ended.output) == (
        StepState.SUCCEEDED,
        StepMode.TOOL,
        {"text": "hello"},
    )
    assert ended.used == Amounts(ttl=1, tool_calls=1)


async def test_a_tool_that_fails_fails_its_step() -> None:
    """The error, the reason and the candidates of a failed tool are those of the step."""

    async def fail(_: JsonObject, __: ToolContext) -> JsonValue:
        raise ToolError("the file is not there", reason="FILE_NOT_FOUND", candidates=("a.txt", "b.txt"))

    bench = Bench(ScriptedTool("echo", fail))
    ended = outcome(await bench.execute(StepMode.TOOL))
    assert (ended.state, ended.error, ended.reason, ended.candidates) == (
        StepState.FAILED,
        "the file is not there",
        "FILE_NOT_FOUND",
        ("a.txt", "b.txt"),
    )


async def test_effects_of_a_failed_call_are_in_its_event() -> None:
    """The event of a step whose tool recorded effects and then failed has these effects."""
    requested = RecordedEffect("http.requested", "http://example.org/", "GET, 404")

    async def work(_arguments: Mapping[str, Any], context: ToolContext) -> Any:
        context.record(requested)
        raise ToolError("status 404", reason="HTTP_STATUS")

    bench = Bench(invoker=invoker_of(FreeTool("echo", work)))
    ended = outcome(await bench.execute(StepMode.TOOL))
    assert (ended.state, ended.reason, ended.effects) == (StepState.FAILED, "HTTP_STATUS", (requested,))


async def test_an_internal_error_fails_its_step_alone() -> None:
    """An unexpected error in a step is its failure, with the reason INTERNAL, and not an exception."""

    async def break_down(_: JsonObject, __: ToolContext) -> JsonValue:
        raise ZeroDivisionError

    ended = outcome(await Bench(ScriptedTool("echo", break_down)).execute(StepMode.TOOL))
    assert (ended.state, ended.reason) == (StepState.FAILED, "INTERNAL")
    assert ended.used == Amounts(ttl=1, tool_calls=1)


async def test_a_step_whose_references_lead_nowhere_does_not_run() -> None:
    """A tool step that carries errors fails with them and its tool is not called."""
    bench = Bench()
    ended = outcome(await bench.execute(StepMode.TOOL, step=replace(STEP, errors=("$s9 names no step",))))
    assert (ended.state, ended.reason, ended.error) == (
        StepState.FAILED,
        "UNRESOLVED_REFERENCE",
        "$s9 names no step",
    )
    assert bench.tool.calls == []


async def test_a_second_attempt_asks_the_tool_first() -> None:
    """A cut idempotent call is reconciled instead of repeated when its tool knows the result."""
    bench = Bench(ScriptedTool("echo", effect=Effect.WRITE_CONTAINED, idempotent=True, done_before="done"))
    ended = outcome(await bench.execute(StepMode.TOOL, recovery=Recovery.RECONCILE, attempt=2))
    assert ended.output == "done"
    assert bench.tool.calls == []


async def test_an_effect_that_timed_out_is_unknown() -> None:
    """A call with effects that ran out of time ends UNKNOWN, because it may have done its work."""

    async def time_out(_: JsonObject, __: ToolContext) -> JsonValue:
        raise ToolError("no answer in 30 s", reason=TOOL_TIMEOUT)

    tool = ScriptedTool("echo", time_out, Effect.NET)
    assert (
        outcome(await Bench(tool).execute(StepMode.TOOL, recovery=Recovery.ASK))
    ).state is StepState.UNKNOWN
    assert (outcome(await Bench(tool).execute(StepMode.TOOL))).state is StepState.FAILED


async def test_an_agent_step_gives_what_its_agent_says() -> None:
    """An agent step ends with the agent's output and streams its text."""
    bench = Bench()
    step = PlanStep("s1", "think", agent="llm")
    ended = outcome(await bench.execute(StepMode.AGENT, step=step, reservation=AGENT_STEP))
    assert (ended.output, ended.mode, ended.clarity) == ("thought about it", StepMode.AGENT, Clarity.CLEAR)
    assert bench.texts == ["thought about it"]
    assert ended.used == Amounts(ttl=1, llm_calls=1, tokens=20)


@pytest.mark.parametrize(
    ("reasoned", "state", "reason"),
    [
        (success(StepOutput("which file?", "blocked")), StepState.INVALID, "BLOCKED"),
        (failure(Problem("LLM_FAILED", "no answer"), None), StepState.FAILED, "LLM_FAILED"),
    ],
)
async def test_an_agent_that_cannot_is_distinguished(
    reasoned: Outcome[StepOutput | None], state: StepState, reason: str
) -> None:
    """A blocked agent makes its step INVALID, a failed one FAILED, each with its reason."""
    bench = Bench()
    bench.reasoner = FixedReasoner({"writer": reasoned})
    ended = outcome(await bench.execute(StepMode.AGENT, step=PlanStep("s1", "write", agent="writer")))
    assert (ended.state, ended.reason) == (state, reason)


async def test_a_blocked_agent_keeps_its_output() -> None:
    """The output of a blocked agent is kept with its step."""
    bench = Bench()
    bench.reasoner = FixedReasoner({"writer": success(StepOutput("which file?", "blocked"))})
    ended = outcome(await bench.execute(StepMode.AGENT, step=PlanStep("s1", "write", agent="writer")))
    assert ended.output == "which file?"


async def test_a_missing_tool_is_replaced_by_a_registered_one() -> None:
    """A step whose tool is missing comes back with the one that the repair found and no ttl used."""
    bench = Bench()
    repaired_step = replace(STEP, tool_call=ToolCall("shout"))
    bench.repairer = ScriptedRepairer(lambda _: success(repaired_step))
    lost = replace(STEP, tool_call=ToolCall("lost"), errors=("Tool 'lost' not found in registry",))
    kind = await bench.execute(StepMode.REPAIR, step=lost)
    assert isinstance(kind, e.StepRepaired)
    assert kind.step == repaired_step
    assert kind.problem.message == "Tool 'lost' not found in registry"
    assert kind.used == Amounts(llm_calls=1, tokens=5)


async def test_without_any_fitting_tool_the_step_goes_on_without_one() -> None:
    """A step that no registered tool fits comes back without a tool and with its errors kept."""
    lost = replace(STEP, tool_call=ToolCall("lost"), errors=("Tool 'lost' not found in registry",))
    kind = await Bench().execute(StepMode.REPAIR, step=lost)
    assert isinstance(kind, e.StepRepaired)
    assert (kind.step.tool_call, kind.step.agent, kind.step.errors) == (None, None, lost.errors)


async def test_the_fallback_lets_the_model_answer() -> None:
    """In mode FALLBACK the built-in agent answers the step's description."""
    bench = Bench()
    ended = outcome(
        await bench.execute(StepMode.FALLBACK, step=PlanStep("s1", "say hello", errors=("no tool",)))
    )
    assert (ended.state, ended.mode) == (StepState.SUCCEEDED, StepMode.FALLBACK)
    assert [s.agent for s in bench.reasoner.reasoned] == ["llm"]


async def test_arguments_that_cannot_be_repaired_fail_the_step() -> None:
    """A step whose arguments stay wrong fails with what is wrong with them and one ttl used."""
    bench = Bench()
    bench.repairer = ScriptedRepairer(lambda step: failure(Problem("ARGUMENTS_INVALID", "still wrong"), step))
    ended = outcome(
        await bench.execute(StepMode.REPAIR, step=replace(STEP, errors=("/text: must be a string",)))
    )
    assert (ended.state, ended.reason, ended.mode) == (
        StepState.FAILED,
        "ARGUMENTS_INVALID",
        StepMode.TOOL,
    )
    assert ended.error == "/text: must be a string"
    assert ended.used == Amounts(ttl=1, llm_calls=1, tokens=5)


ASKS = SubtaskRequest("Sum it up.", {"text": "long"})


async def ask_for_a_subtask(_: JsonObject, __: ToolContext) -> SubtaskRequest:
    return ASKS


@dataclass
class ToldChooser:
    """Takes one model call and names this template; none if that is empty."""

    template: str

    async def choose(self, request: SubtaskRequest, grant: Grant) -> Outcome[SubtaskRequest]:
        grant.take(Amounts(llm_calls=1))
        if not self.template:
            return failure(Problem("TEMPLATE_NOT_FOUND", "no template fits"), request)
        return success(replace(request, hints=(self.template,)))


async def test_a_subtask_goes_on_with_the_template_that_was_chosen() -> None:
    """The chosen template is in the request that is recorded, and what the choice cost is counted."""
    bench = Bench(ScriptedTool("echo", ask_for_a_subtask))
    bench.chooser = ToldChooser("summarise")
    wanted = await bench.execute(StepMode.TOOL)
    assert isinstance(wanted, Subtask)
    assert wanted.request == replace(ASKS, hints=("summarise",))
    assert wanted.used == Amounts(ttl=1, tool_calls=1, llm_calls=1)


async def test_a_subtask_that_no_template_fits_fails_its_step() -> None:
    """No run is started: the step ends with the reason, and the choice is counted."""
    bench = Bench(ScriptedTool("echo", ask_for_a_subtask))
    bench.chooser = ToldChooser("")
    ended = outcome(await bench.execute(StepMode.TOOL))
    assert (ended.state, ended.reason) == (StepState.FAILED, "TEMPLATE_NOT_FOUND")
    assert ended.used == Amounts(ttl=1, tool_calls=1, llm_calls=1)
