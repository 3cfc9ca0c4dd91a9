"""Runs that steps start: created below their parent, waited for, and stopped with it."""

from dataclasses import replace
from typing import Final

import anyio

from aeond.domain.budgets import Amounts
from aeond.domain.events import CancelRequested, ChildRunEnded, Event, RunCreated, StepEnded
from aeond.domain.plans import Clarity, StepState
from aeond.domain.runs import MAX_REQUEST_CHARS, Ancestry, RunRequest, RunSnapshot, RunState
from aeond.domain.steps import StepMode
from aeond.domain.subtasks import ChildRun, SubtaskRequest
from aeond.domain.values import display_json
from aeond.errors import AeondError, InvalidInputError, StoreError
from aeond.ports import Clock, Journal
from aeond.service.feed import HotFeed
from aeond.service.folding import RunFolding
from aeond.service.scheduling import RunScheduler

CALL_OFF_SECONDS: Final = 10.0


class RunChildren:
    """Children over the scheduler: a child is a run like any other, that somebody waits for.

    Guarantees: a child run is created once, however often its step is taken up again; its budget is what
    was reserved for it, and what it used is counted up to that; no run gets a tool by starting another
    that its own restriction denies it.
    """

    def __init__(
        self, *, journal: Journal, feed: HotFeed, folding: RunFolding, scheduler: RunScheduler, clock: Clock
    ) -> None:
        self._journal = journal
        self._feed = feed
        self._folding = folding
        self._scheduler = scheduler
        self._clock = clock

    async def run(
        self, child: ChildRun, parent: RunSnapshot, step_id: str, reserved: Amounts
    ) -> tuple[ChildRunEnded, StepEnded]:
        try:
            ended = await self._ended(child, parent, step_id)
        except StoreError:
            raise
        except AeondError as error:
            # One that was refused used nothing; of one that cannot be read nobody knows: all of it.
            used = Amounts() if isinstance(error, InvalidInputError) else reserved
            return _ended_without(child, step_id, error, used)
        used = ended.ledger.used.at_most(reserved)
        return (
            ChildRunEnded(step_id, child.child_run_id, ended.state, used),
            _outcome(child, step_id, ended, used),
        )

    async def _ended(self, child: ChildRun, parent: RunSnapshot, step_id: str) -> RunSnapshot:
        """The child run at its end. Leaving before that, for whatever reason, calls it off."""
        left = True
        try:
            if await self._journal.summary(child.child_run_id) is None:
                created = _creation(child, parent, step_id)
                await self._scheduler.start(Event(child.child_run_id, 1, self._clock.time(), 0.0, created))
            else:
                await self._folding.snapshot(child.child_run_id)  # what cannot be read is not waited for
                await self._scheduler.join(child.child_run_id)
            await self._wait_for_end(child.child_run_id)
            left = False
        finally:
            if left:
                await self._call_off(child.child_run_id, parent)
        return await self._folding.snapshot(child.child_run_id)

    async def _wait_for_end(self, run_id: str) -> None:
        with self._feed.watch(run_id) as watcher:
            while True:
                summary = await self._journal.summary(run_id)
                if summary is None or summary.state.ended:
                    return
                if watcher.go_hot(summary.last_seq):
                    await watcher.take()

    async def _call_off(self, run_id: str, parent: RunSnapshot) -> None:
        """Stops the child, unless its parent is only parked: then both go on, in time or with the next daemon.

        Shielded, for it is called when the parent is cut short. What fails here is made good when the parent
        ends: whatever a run started is called off then.
        """
        if self._scheduler.is_parking(parent.run_id):
            return
        with anyio.move_on_after(CALL_OFF_SECONDS, shield=True):
            try:
                child = await self._folding.snapshot(run_id)
                wish = CancelRequested(parent.request.owner, "the step that waits for it was cut short")
                if child.ancestry.parent_run_id == parent.run_id:  # a fork only joins what its past began
                    await self._scheduler.deliver(run_id, wish)
            except AeondError:
                return


def _creation(child: ChildRun, parent: RunSnapshot, step_id: str) -> RunCreated:
    request = RunRequest(
        text=_asked(child.request),
        workspace=parent.request.workspace,
        parallel_steps=parent.request.parallel_steps,
        owner=parent.request.owner,
        instructions=child.instructions,
        tools=_allowed(child.tools, parent.request.tools),
        model=parent.request.model,
    )
    ancestry = Ancestry(parent.run_id, step_id, child.lineage)
    return RunCreated(request, child.budget, ancestry=ancestry)


def _asked(request: SubtaskRequest) -> str:
    """The request of a child run: what is to be done, then each input under its name."""
    inputs = [f"{name}:\n{display_json(value)}" for name, value in request.inputs.items()]
    text = "\n\n".join([request.description, *inputs])
    if len(text) > MAX_REQUEST_CHARS:
        raise InvalidInputError(
            f"a subtask with {len(text)} characters of input is too long, {MAX_REQUEST_CHARS} are allowed: "
            "give it less at once",
            reason="SUBTASK_TOO_LONG",
        )
    return text


def _allowed(wanted: tuple[str, ...], parents: tuple[str, ...] | None) -> tuple[str, ...]:
    return wanted if parents is None else tuple(name for name in wanted if name in parents)


def _outcome(child: ChildRun, step_id: str, run: RunSnapshot, used: Amounts) -> StepEnded:
    """The child's answer as the step's result; an answer that its budget cut short is only partly clear."""
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
    why = run.problem.message if run.problem else "it gave no answer"
    reason = _REASONS.get(run.state, "SUBTASK_FAILED")
    error = f"the run {child.child_run_id} for this ({child.template}) is {run.state}: {why}"
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


class NoChildren:
    """Children: none are started; the step that wanted one fails."""

    async def run(
        self, child: ChildRun, parent: RunSnapshot, step_id: str, reserved: Amounts
    ) -> tuple[ChildRunEnded, StepEnded]:
        error = "this daemon starts no child runs"
        failed = StepEnded(step_id, StepState.FAILED, StepMode.TOOL, error=error, reason="CHILD_RUNS_OFF")
        return ChildRunEnded(step_id, child.child_run_id, RunState.FAILED), failed
