"""Child runs: created below their parent, waited for, and stopped with it."""

from dataclasses import replace
from typing import Final

import anyio

from aeond.domain.plans.plan import Clarity, Plan, PlanStep, StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.plans.subtasks import ChildRun, SubtaskRequest
from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.events import CancelRequested, ChildRunEnded, Event, RunCreated, StepEnded
from aeond.domain.runs.run import MAX_REQUEST_CHARS, Ancestry, RunRequest, RunSnapshot, RunState
from aeond.domain.tools import MAX_ANSWER_EFFECTS, allows, bounded
from aeond.domain.values import display_json
from aeond.errors import AeondError, InvalidInputError, StoreError
from aeond.frozen import frozen
from aeond.ports import Clock, Journal
from aeond.service.folding import RunFolding
from aeond.service.runs.scheduler import RunScheduler
from aeond.service.watching.feed import HotFeed

CALL_OFF_SECONDS: Final = 10.0
SHORT_INPUT_CHARS: Final = 300


@frozen
class RunChildren:
    """Child runs executed by the scheduler: a child is an ordinary run that its parent waits for.

    Guarantees: a child run is created once, however often its step is resumed; its budget is the amount
    reserved for it, and its use is counted up to that amount; no run gains a tool that its own restriction
    denies by starting another run.
    """

    journal: Journal
    feed: HotFeed
    folding: RunFolding
    scheduler: RunScheduler
    clock: Clock

    async def run(
        self, child: ChildRun, parent: RunSnapshot, step_id: str, reserved: Amounts
    ) -> tuple[ChildRunEnded, StepEnded]:
        try:
            ended = await self._ended(child, parent, step_id)
        except StoreError:
            raise
        except AeondError as error:
            # A rejected run used nothing; the use of an unreadable run is unknown: count all of it.
            used = Amounts() if isinstance(error, InvalidInputError) else reserved
            return _ended_without(child, step_id, error, used)
        used = ended.ledger.used.at_most(reserved)
        effects = bounded(ended.effects, MAX_ANSWER_EFFECTS)
        return (
            ChildRunEnded(step_id, child.child_run_id, ended.state, used),
            replace(_outcome(child, step_id, ended, used), effects=effects, taint=ended.taint),
        )

    async def _ended(self, child: ChildRun, parent: RunSnapshot, step_id: str) -> RunSnapshot:
        """The child run at its end. Leaving early, for any reason, cancels the child."""
        left = True
        try:
            if await self.journal.summary(child.child_run_id) is None:
                created = _creation(child, parent, step_id)
                await self.scheduler.start(Event(child.child_run_id, 1, self.clock.time(), 0.0, created))
            else:
                await self.folding.snapshot(child.child_run_id)  # an unreadable run is not waited for
                await self.scheduler.join(child.child_run_id)
            await self._wait_for_end(child.child_run_id)
            left = False
        finally:
            if left:
                await self._call_off(child.child_run_id, parent)
        return await self.folding.snapshot(child.child_run_id)

    async def _wait_for_end(self, run_id: str) -> None:
        with self.feed.watch(run_id) as watcher:
            while True:
                summary = await self.journal.summary(run_id)
                if summary is None or summary.state.ended:
                    return
                if watcher.go_hot(summary.last_seq):
                    await watcher.take()

    async def _call_off(self, run_id: str, parent: RunSnapshot) -> None:
        """Cancels the child, unless its parent is only parked: then both continue later, possibly with the
        next daemon.

        Shielded, because it runs while the parent is being interrupted. A failure here is corrected when the
        parent ends: all runs it started are cancelled then.
        """
        if self.scheduler.is_parking(parent.run_id):
            return
        with anyio.move_on_after(CALL_OFF_SECONDS, shield=True):
            try:
                child = await self.folding.snapshot(run_id)
                wish = CancelRequested(parent.request.owner, "the step that waits for it was interrupted")
                # a fork only joins runs that the original started
                if child.ancestry.parent_run_id == parent.run_id:
                    await self.scheduler.deliver(run_id, wish)
            except AeondError:
                return


def _creation(child: ChildRun, parent: RunSnapshot, step_id: str) -> RunCreated:
    request = RunRequest(
        text=_asked(child.request),
        workspace=parent.request.workspace,
        workspace_identity=parent.request.workspace_identity,
        parallel_steps=parent.request.parallel_steps,
        owner=parent.request.owner,
        instructions=child.instructions,
        tools=_allowed(child.tools, parent.request.tools),
        model=parent.request.model,
        unattended=parent.request.unattended,
    )
    ancestry = Ancestry(parent.run_id, step_id, child.lineage)
    return RunCreated(
        request,
        child.budget,
        _plan(child),
        ancestry=ancestry,
        taint=parent.taint,
        asking_tools=parent.asking_tools,
    )


def _plan(child: ChildRun) -> Plan | None:
    """The plan of a child run that consists of one step of an agent; None for one that plans by itself. Short inputs are
    a part of the task, so that an agent that reads its material in parts knows them."""
    if not child.agent:
        return None
    goal = child.request.description.partition("\n\n")[0]
    inputs = {name: display_json(value) for name, value in child.request.inputs.items()}
    short = (f"{name}: {text}" for name, text in inputs.items() if len(text) <= SHORT_INPUT_CHARS)
    task = "\n".join(part for part in (goal, *short, child.instructions.strip()) if part)
    return Plan(goal, (PlanStep("s1", task, agent=child.agent),))


def _asked(request: SubtaskRequest) -> str:
    """The request of a child run: the task, then each input under its name."""
    inputs = [f"{name}:\n{display_json(value)}" for name, value in request.inputs.items()]
    text = "\n\n".join([request.description, *inputs])
    if len(text) > MAX_REQUEST_CHARS:
        raise InvalidInputError(
            f"the subtask's input has {len(text)} characters, the limit is {MAX_REQUEST_CHARS}: pass"
            " less input",
            reason="SUBTASK_TOO_LONG",
        )
    return text


def _allowed(wanted: tuple[str, ...], parents: tuple[str, ...] | None) -> tuple[str, ...]:
    return wanted if parents is None else tuple(name for name in wanted if allows(parents, name))


def _outcome(child: ChildRun, step_id: str, run: RunSnapshot, used: Amounts) -> StepEnded:
    """The child's answer as the step's result; an answer cut short by its budget has reduced clarity."""
    answer = run.answer
    partly = run.state is RunState.EXPIRED and answer is not None and bool(answer.step_ids)
    if answer is not None and (run.state is RunState.SUCCEEDED or partly):
        return StepEnded(
            step_id,
            StepState.SUCCEEDED,
            StepMode.TOOL,
            output={"answer": answer.text},
            clarity=Clarity.PARTIALLY_CLEAR if partly else None,
            handoff=" ".join(answer.notes),
            used=used,
            duration_seconds=run.elapsed_seconds,
        )
    why = run.problem.message if run.problem else "it has no answer"
    reason = _REASONS.get(run.state, "SUBTASK_FAILED")
    error = f"child run {child.child_run_id} ({child.template}) is {run.state}: {why}"
    failed = StepEnded(step_id, StepState.FAILED, StepMode.TOOL, error=error, reason=reason, used=used)
    return replace(failed, duration_seconds=run.elapsed_seconds)


_REASONS: Final = {RunState.CANCELLED: "SUBTASK_CANCELLED", RunState.EXPIRED: "SUBTASK_EXPIRED"}


def _ended_without(
    child: ChildRun, step_id: str, error: AeondError, used: Amounts
) -> tuple[ChildRunEnded, StepEnded]:
    failed = StepEnded(
        step_id, StepState.FAILED, StepMode.TOOL, error=error.message, reason=error.reason, used=used
    )
    return ChildRunEnded(step_id, child.child_run_id, RunState.FAILED, used), failed
