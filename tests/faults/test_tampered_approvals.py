"""Approvals that are forged, altered or replayed: none of two hundred lets anything happen."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from aeond.domain.plans.approvals import ApprovalAnswer, ApprovalRequest, ApprovalScope
from aeond.domain.plans.plan import Plan, PlanStep
from aeond.domain.policy import Access, CallFacts, Target, TargetKind, Verdict, call_digest
from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.events import ApprovalDecided
from aeond.domain.runs.forks import ForkRequest
from aeond.domain.runs.run import RunState
from aeond.domain.tools import Effect, ToolCall
from aeond.domain.values import JsonValue
from aeond.errors import AeondError
from aeond.service.approvals.requests import request_digest
from aeond.service.runs.run_queue import RunLimits
from tests.support.asking_policy import AskingPolicy
from tests.support.doubles import ScriptedTool
from tests.support.service_world import CALLER, World, asking

FORGERIES = 140
REPLAYS = 20
CHANGES = 40


def forgeries(
    shown: ApprovalRequest, other: ApprovalRequest, chance: random.Random
) -> Iterator[ApprovalAnswer]:
    """Answers that look like one to what was shown, each with something else in it."""
    good = ApprovalAnswer(shown.approval_id, shown.digest, True)
    facts = CallFacts("work", Effect.EXEC_HOST, {"n": 1})
    made = [
        call_digest(replace(facts, arguments={"n": n}), version)
        for n in (1, "1", 1.0)
        for version in ("v1", "")
    ]
    guesses = [other.digest, shown.digests[0], *made, request_digest("", shown.step_ids, shown.digests), ""]
    yield from (replace(good, digest=guess) for guess in guesses)
    yield from (replace(good, digest=f"{shown.digest}{end}") for end in (" ", "\n", "\0", "0"))
    yield from (
        replace(good, digest=form) for form in (shown.digest.upper(), shown.digest[:-1], shown.digest[::-1])
    )
    yield from (replace(good, approval_id=name) for name in ("", "s1", "s1.2", "S1.1", "s1.1 ", "s2.1", "*"))
    yield from (replace(good, scope=scope) for scope in (ApprovalScope.FOLDER, ApprovalScope.HOST))
    while True:
        place = chance.randrange(len(shown.digest))
        digit = chance.choice([one for one in "0123456789abcdef" if one != shown.digest[place]])
        yield replace(good, digest=shown.digest[:place] + digit + shown.digest[place + 1 :])


async def refused(world: World, run_id: str, answer: ApprovalAnswer) -> bool:
    """Whether the answer is refused with a reason."""
    try:
        await world.runs.decide_approval(run_id, answer, CALLER)
    except AeondError:
        return True
    return False


async def asks_again(world: World, run_id: str) -> bool:
    """Whether the run waits for approval, however an answer was taken."""
    run = await world.reached(run_id, RunState.AWAITING_INPUT, RunState.SUCCEEDED, RunState.FAILED)
    return bool(run.approvals)


async def create(world: World, **arguments: JsonValue) -> tuple[str, ApprovalRequest]:
    plan = Plan("work", (PlanStep("s1", "do it", ToolCall("work", arguments)),))
    run_id = (await world.runs.create(asking(), plan, BudgetRequest())).run_id
    run = await world.reached(run_id, RunState.AWAITING_INPUT)
    return run_id, run.approvals[0]


async def test_no_tampered_or_replayed_approval_is_accepted(tmp_path: Path) -> None:
    """Of 140 forged answers, 20 replays in other runs and in forks, and 40 answers to questions after which the
    policy, the folder, the tool's code, the target or the sandbox changed, none lets the call happen."""
    chance = random.Random(21)
    tool = ScriptedTool("work", effect=Effect.EXEC_HOST)
    limits = RunLimits(running=4, waiting=64)
    world = World(tmp_path, tools={"work": tool}, policy=AskingPolicy({"work": Verdict.ASK}), limits=limits)
    held: list[bool] = []
    async with world.working():
        run_id, shown = await create(world, n=1)
        _, other = await create(world, n=2)
        for _, answer in zip(range(FORGERIES), forgeries(shown, other, chance), strict=False):
            held.append(await refused(world, run_id, answer))
        assert not tool.calls

        good = ApprovalAnswer(shown.approval_id, shown.digest, True)
        assert not await refused(world, run_id, good)
        assert (await world.ended(run_id)).state is RunState.SUCCEEDED
        events = await world.journal.read(run_id)
        decided = next(event.seq for event in events if isinstance(event.kind, ApprovalDecided))
        tool.calls.clear()
        for number in range(REPLAYS // 2):
            again, _ = await create(world, n=1)
            held.append(await refused(world, again, good))
            # Of every second fork the approval is open, so that the answer is taken; it is for another run.
            fork = await world.runs.fork(ForkRequest(run_id, CALLER, decided - number % 2))
            assert await asks_again(world, fork.run_id)
            held.append(await refused(world, fork.run_id, good) or await asks_again(world, fork.run_id))

        for number in range(CHANGES):
            run_id, shown = await create(world, n=number)
            match number % 5:
                case 0:
                    world.policy.version = f"v{number + 2}"
                case 1:
                    world.facts.workspace_id = f"1:{number}"
                case 2:
                    world.facts.code = f"code {number}"
                case 3:
                    world.facts.targets = {"": (Target(TargetKind.FILE, f"/{number}", Access.WRITE),)}
                case _:
                    world.facts.sandbox = f"profile {number}"
            answer = ApprovalAnswer(shown.approval_id, shown.digest, True)
            assert not await refused(world, run_id, answer)
            held.append(await asks_again(world, run_id))
    assert (len(held), held.count(False), tool.calls) == (200, 0, [])
