"""Requests for approval, and what an approval covers."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import pytest

from aeond.domain.plans.approvals import ApprovalAnswer, ApprovalRequest, ApprovalScope
from aeond.domain.plans.plan import Plan, PlanStep, StepState
from aeond.domain.policy import Access, CallFacts, Decision, Target, TargetKind, Verdict
from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.forks import ForkRequest
from aeond.domain.runs.run import RunSnapshot, RunState
from aeond.domain.tools import Effect, ToolCall, ToolContext
from aeond.domain.values import JsonValue
from aeond.ports.policy import Approver
from aeond.service.approvals.requests import MAX_CALLS, ApprovalRules
from tests.support.asking_policy import AskingPolicy, NamedFacts
from tests.support.doubles import ScriptedTool
from tests.support.service_world import CALLER, World, asking

RULE = Target(TargetKind.FILE, "/home/u/notes/a.txt", Access.WRITE)
TARGETS = {
    "a": (RULE,),
    "b": (replace(RULE, name="/home/u/notes/b.txt"),),
    "elsewhere": (replace(RULE, name="/home/u/letters/c.txt"),),
    "above": (replace(RULE, name="/home/u/notes"),),
    "host": (Target(TargetKind.HOST, "example.org:443", Access.USE),),
    "other host": (Target(TargetKind.HOST, "example.com:443", Access.USE),),
}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A daemon whose tool `work` needs approval and whose tool `look` does not."""
    made = World(
        tmp_path,
        tools={
            "work": ScriptedTool("work", effect=Effect.EXEC_HOST),
            "look": ScriptedTool("look", effect=Effect.READ),
        },
        policy=AskingPolicy({"work": Verdict.ASK, "never": Verdict.DENY}),
        facts=NamedFacts(TARGETS),
        rules=ApprovalRules(expire_seconds=60.0),
    )
    async with made.working():
        yield made


def step(step_id: str, *depends_on: str, tool: str = "work", **arguments: JsonValue) -> PlanStep:
    return PlanStep(step_id, f"do {step_id}", ToolCall(tool, arguments), depends_on=depends_on)


async def create(world: World, *steps: PlanStep, parallel: int = 1) -> str:
    request = asking(parallel_steps=parallel)
    return (await world.runs.create(request, Plan("work", steps), BudgetRequest())).run_id


async def waits(world: World, run_id: str) -> ApprovalRequest:
    """The only approval that the run waits for."""
    run = await world.reached(run_id, RunState.AWAITING_INPUT)
    (approval,) = run.approvals
    return approval


async def decide(
    world: World, run_id: str, approved: bool, scope: ApprovalScope = ApprovalScope.ONCE
) -> RunSnapshot:
    approval = await waits(world, run_id)
    answer = ApprovalAnswer(approval.approval_id, approval.digest, approved, scope)
    return await world.runs.decide_approval(run_id, answer, CALLER)


def done(world: World) -> list[str]:
    """The steps whose effect has happened, in that order."""
    return [context.step_id for context in world.tools["work"].calls]


async def test_nothing_happens_before_the_approval(world: World) -> None:
    """The request shows the exact call and its preview while nothing has happened; allowed, it happens once."""
    run_id = await create(world, step("s1", n=1))
    approval = await waits(world, run_id)
    assert (approval.step_ids, approval.calls[0].tool, approval.calls[0].arguments) == (
        ("s1",),
        "work",
        {"n": 1},
    )
    assert approval.previews[0].diff == "+work in s1\n"
    assert approval.expire_time == world.clock.time() + 60.0
    assert done(world) == []
    await decide(world, run_id, True)
    run = await world.ended(run_id)
    assert (run.state, done(world)) == (RunState.SUCCEEDED, ["s1"])
    assert run.ledger.used.tool_calls == 1


async def test_a_denied_call_fails_and_never_happens(world: World) -> None:
    """A denied call is a failed step with a stable reason, for the model and for people."""
    run_id = await create(world, step("s1"))
    await decide(world, run_id, False)
    run = await world.ended(run_id)
    assert (run.steps["s1"].state, run.steps["s1"].reason) == (StepState.FAILED, "APPROVAL_DENIED")
    assert (run.state, done(world)) == (RunState.FAILED, [])


async def test_one_request_covers_the_known_calls_of_a_plan(world: World) -> None:
    """Calls that need approval and have no reference are shown together; one decision lets all of them happen."""
    run_id = await create(world, step("s1", n=1), step("s2", "s1", n=2), step("s3", "s2", tool="look"))
    approval = await waits(world, run_id)
    assert approval.step_ids == ("s1", "s2")
    await decide(world, run_id, True)
    assert (await world.ended(run_id)).state is RunState.SUCCEEDED
    assert done(world) == ["s1", "s2"]


async def test_a_planned_call_whose_target_moves_is_asked_about_again(world: World) -> None:
    """An approval of a plan covers no step whose target is another one when the step starts, as after an earlier step made a
    link; a step whose file an earlier one has created is covered."""

    async def disturb(arguments: object, context: ToolContext) -> JsonValue:
        created = replace(TARGETS["a"][0], exists=True)
        world.facts.targets = {"a": (created,), "b": (replace(created, name="/home/u/.git/config"),)}
        return {}

    world.tools["work"].run = disturb
    steps = (step("s1", n=1), step("s2", "s1", on="a"), step("s3", "s2", on="b"))
    run_id = await create(world, *steps)
    assert (await waits(world, run_id)).step_ids == ("s1", "s2", "s3")
    await decide(world, run_id, True)
    await world.reached(run_id, RunState.AWAITING_INPUT, RunState.SUCCEEDED)
    assert (await waits(world, run_id)).step_ids == ("s3",)
    assert done(world) == ["s1", "s2"]
    await decide(world, run_id, True)
    assert (await world.ended(run_id)).state is RunState.SUCCEEDED
    assert done(world) == ["s1", "s2", "s3"]


async def test_every_reason_of_a_request_is_shown(tmp_path: Path) -> None:
    """A request that covers calls asked about for different reasons shows each reason once: no harmless first call hides
    that a later one is of another kind."""

    @dataclass
    class ByTarget(AskingPolicy):
        def decide(self, facts: CallFacts) -> Decision:
            reason = ".bashrc can run code" if "on" in facts.arguments else "no rule allows it"
            return Decision(Verdict.ASK, reason, reason, self.version)

    world = World(
        tmp_path,
        tools={"work": ScriptedTool("work", effect=Effect.EXEC_HOST)},
        policy=ByTarget(),
        facts=NamedFacts(TARGETS),
        rules=ApprovalRules(expire_seconds=60.0),
    )
    async with world.working():
        run_id = await create(world, step("s1"), step("s2"), step("s3", on="a"))
        assert (await waits(world, run_id)).message == "no rule allows it; .bashrc can run code"


async def test_a_call_whose_arguments_are_not_known_is_asked_about_later(world: World) -> None:
    """A call with a reference is not shown with the plan: it is shown with its arguments once they are known."""

    async def give(arguments: object, context: ToolContext) -> JsonValue:
        return {"text": context.step_id}

    world.tools["work"].run = give
    run_id = await create(world, step("s1"), step("s2", "s1", text="$s1.text"))
    assert (await decide(world, run_id, True)).grants[0].approval.step_ids == ("s1",)
    await world.reached(run_id, RunState.AWAITING_INPUT)
    assert (await waits(world, run_id)).step_ids == ("s2",)
    assert done(world) == ["s1"]


async def test_steps_that_start_together_share_a_request(world: World) -> None:
    """Of several steps that start at once, one asks for all of them."""
    run_id = await create(world, *(step(f"s{n}", n=n) for n in range(1, 5)), parallel=4)
    approval = await waits(world, run_id)
    assert approval.step_ids == ("s1", "s2", "s3", "s4")
    await decide(world, run_id, True)
    run = await world.ended(run_id)
    assert (run.state, sorted(done(world)), len(run.grants)) == (RunState.SUCCEEDED, sorted(run.steps), 1)


async def test_a_request_shows_no_more_than_a_person_can_read(world: World) -> None:
    """A long plan is asked about in parts."""
    run_id = await create(world, *(step(f"s{n}", n=n) for n in range(MAX_CALLS + 2)))
    assert len((await waits(world, run_id)).calls) == MAX_CALLS
    await decide(world, run_id, True)
    await world.reached(run_id, RunState.AWAITING_INPUT)
    assert len((await waits(world, run_id)).calls) == 2


@pytest.mark.parametrize(
    ("scope", "first", "second", "asks"),
    [
        (ApprovalScope.ONCE, "a", "a", True),
        (ApprovalScope.RUN, "a", "elsewhere", False),
        (ApprovalScope.FOLDER, "a", "b", False),
        (ApprovalScope.FOLDER, "a", "elsewhere", True),
        (ApprovalScope.FOLDER, "a", "above", True),
        (ApprovalScope.FOLDER, "a", "host", True),
        (ApprovalScope.FOLDER, "a", "unknown target", True),
        (ApprovalScope.HOST, "host", "host", False),
        (ApprovalScope.HOST, "host", "other host", True),
        (ApprovalScope.HOST, "host", "a", True),
    ],
)
async def test_a_scope_covers_what_it_names(
    world: World, scope: ApprovalScope, first: str, second: str, asks: bool
) -> None:
    """Once covers one step alone; a wider scope covers the same tool on the folder or host that was shown."""

    async def give(arguments: object, context: ToolContext) -> JsonValue:
        return {"on": second}

    world.tools["work"].run = give
    run_id = await create(world, step("s1", on=first), step("s2", "s1", on="$s1.on"))
    await decide(world, run_id, True, scope)
    run = await world.reached(run_id, RunState.AWAITING_INPUT, RunState.SUCCEEDED)
    assert bool(run.approvals) is asks
    assert done(world) == (["s1"] if asks else ["s1", "s2"])


@pytest.mark.parametrize("change", ["policy", "rule", "taint", "sandbox", "workspace"])
async def test_a_scope_ends_when_what_it_rests_on_changes(world: World, change: str) -> None:
    """A new policy, another rule that asks (as for a protected name), untrusted data read since, another sandbox or another
    folder: the next call is asked about."""

    async def disturb(arguments: object, context: ToolContext) -> JsonValue:
        match change:
            case "policy":
                world.policy.version = "v2"
            case "rule":
                world.policy.rule = "builtin.protected-name"
            case "taint":
                world.facts.taint = ("web",)
            case "sandbox":
                world.facts.sandbox = "none"
            case _:
                world.facts.workspace_id = "1:3"
        return {"n": 2}

    world.tools["work"].run = disturb
    run_id = await create(world, step("s1", n=1), step("s2", "s1", n="$s1.n"))
    await decide(world, run_id, True, ApprovalScope.RUN)
    run = await world.reached(run_id, RunState.AWAITING_INPUT, RunState.SUCCEEDED)
    assert (run.state, done(world)) == (RunState.AWAITING_INPUT, ["s1"])


async def test_taint_of_an_allowed_host_does_not_end_its_scope(world: World) -> None:
    """A host that was allowed for the run stays allowed when its answer has tainted the run, also where that makes another
    rule ask; what is read elsewhere ends it."""

    async def answer(arguments: object, context: ToolContext) -> JsonValue:
        world.facts.taint = ("host:example.org:443",)
        return {"on": "host"}

    world.policy.rule_if_tainted = "builtin.tainted-effect"
    world.tools["work"].run = answer
    steps = (step("s1", on="host"), step("s2", "s1", on="$s1.on"), step("s3", "s2", on="$s2.on"))
    run_id = await create(world, *steps)
    await decide(world, run_id, True, ApprovalScope.HOST)
    await world.reached(run_id, RunState.SUCCEEDED)
    assert done(world) == ["s1", "s2", "s3"]


async def test_a_policy_that_changes_after_the_question_asks_again(world: World) -> None:
    """An approval given under another version of the policy than the one that is in force allows nothing."""
    run_id = await create(world, step("s1"))
    first = await waits(world, run_id)
    world.policy.version = "v2"
    await decide(world, run_id, True)
    run = await world.reached(run_id, RunState.AWAITING_INPUT)
    assert run.approvals[0].digest != first.digest
    assert done(world) == []


async def test_a_fork_inherits_no_approval(world: World) -> None:
    """A fork from after an approval asks for its own: what was allowed for one run is not replayed in another."""
    run_id = await create(world, step("s1"))
    await decide(world, run_id, True)
    run = await world.ended(run_id)
    decided = next(event.seq for event in await world.journal.read(run_id) if hasattr(event.kind, "approved"))
    fork = await world.runs.fork(ForkRequest(run.run_id, CALLER, after_seq=decided))
    again = await waits(world, fork.run_id)
    assert again.digest != run.grants[0].approval.digest
    assert done(world) == ["s1"]


async def test_a_call_outside_of_a_run_is_refused(world: World) -> None:
    """A direct call cannot wait: it fails with a reason that says what to do."""
    facts = CallFacts("work", Effect.EXEC_HOST)
    context = ToolContext("", "", "c1", "/")
    approver: Approver = world.requests
    result = await approver.approve(facts, world.policy.decide(facts), context)
    assert result is not None
    assert (result.success, result.reason) == (False, "APPROVAL_REQUIRED")
    assert "aeonctl ask --plan" in result.error


async def test_a_denied_tool_is_not_asked_about(world: World) -> None:
    """A call that the policy denies fails at once."""
    world.tools["never"] = ScriptedTool("never", effect=Effect.EXEC_HOST)
    run_id = await create(world, step("s1", tool="never"))
    with anyio.fail_after(60):
        assert (await world.ended(run_id)).steps["s1"].reason == "POLICY_DENIED"
