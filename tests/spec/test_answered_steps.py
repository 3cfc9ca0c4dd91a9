"""Steps that continue with a person's answer, in the real loop and with the real invoker."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from aeond.capabilities.tools.invoker import GuardedInvoker
from aeond.capabilities.tools.registry import Registry
from aeond.domain.outcome import Outcome, success
from aeond.domain.plans.plan import PlanStep, StepState
from aeond.domain.runs import events as e
from aeond.domain.runs.questions import InputRequest
from aeond.domain.runs.run import Owner, RunSnapshot
from aeond.domain.tools import Effect, ToolCall, ToolContext, ToolResult
from aeond.domain.values import JsonObject
from aeond.ports.policy import Decided
from aeond.service.history.replays import Replay
from aeond.state_machine.decide import decide
from aeond.state_machine.fold import fold
from tests.support.doubles import ManualClock, ScriptedRepairer, ScriptedTool
from tests.support.run_host import Host, plan, step

VALUE: JsonObject = {"type": "object", "properties": {"value": {"type": "string"}}}


async def ask(_: JsonObject, __: ToolContext) -> InputRequest:
    return InputRequest("Which?", continues=True)


def deleting(planned: PlanStep) -> Outcome[PlanStep]:
    return success(replace(planned, tool_call=ToolCall("delete", {"value": "s1"}), errors=()))


@dataclass
class Authoriser:
    """Refuses the calls of some tools and records each call that it decides about."""

    refused: Sequence[str] = ()
    decisions: list[str] = field(default_factory=list)

    async def authorise(self, call: ToolCall, context: ToolContext, decided: Decided) -> ToolResult | None:
        self.decisions.append(call.tool)
        if call.tool in self.refused:
            return ToolResult(False, error="the policy says no", reason="POLICY_DENIED")
        return None


async def repaired_after_its_question(
    authoriser: Authoriser,
) -> tuple[RunSnapshot, list[e.Event], list[ToolContext]]:
    """A run whose tool asks, is removed while the question is open, and is replaced by another one, with the calls of
    the latter."""
    delete = ScriptedTool("delete", effect=Effect.NET, input_schema=VALUE)
    tools = {"order": ScriptedTool("order", ask, input_schema=VALUE), "delete": delete}
    registry = Registry()
    for each in tools.values():
        registry.register(each)
    invoker = GuardedInvoker(registry, ManualClock(), authoriser)
    host = Host(tools=tools, invoker=invoker, repairer=ScriptedRepairer(deleting))
    await host.create(plan(step("s1", tool="order")))
    assert (await host.work()).questions
    registry.remove("order")
    del tools["order"]
    run = await host.work(e.InputAnswered("s1.1", "red", Owner()))
    return run, await host.events(), delete.calls


async def test_a_repaired_call_needs_its_own_permission() -> None:
    """If the tool that asked is gone when the answer comes, the call that replaces its call is decided about."""
    authoriser = Authoriser(refused=("delete",))
    run, _, calls = await repaired_after_its_question(authoriser)
    assert authoriser.decisions == ["order", "delete"]
    assert (run.steps["s1"].state, run.steps["s1"].reason) == (StepState.FAILED, "POLICY_DENIED")
    assert calls == []


async def test_a_repaired_call_never_sees_the_answer() -> None:
    """A tool that asked nothing receives no answer, not even if its call is allowed."""
    run, _, calls = await repaired_after_its_question(Authoriser())
    assert run.steps["s1"].state is StepState.SUCCEEDED
    assert [context.answer for context in calls] == [None]


async def test_a_journal_of_an_answered_and_repaired_step_replays() -> None:
    """Journals of earlier versions, which have no decision about the repaired call, lead to the recorded events."""
    _, events, _ = await repaired_after_its_question(Authoriser())
    kinds = [type(event.kind) for event in events]
    assert kinds.index(e.InputAnswered) < kinds.index(e.StepRepaired)
    assert e.PolicyDecided not in kinds
    replay = Replay("run", decide, fold)
    assert [replay.next(event) for event in events] == events
