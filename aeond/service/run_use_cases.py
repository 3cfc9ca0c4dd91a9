"""Run operations for clients."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from typing import TypeVar

from aeond.domain.plans.approvals import ApprovalAnswer
from aeond.domain.plans.plan import Plan
from aeond.domain.runs.budgets import Budget, BudgetRequest
from aeond.domain.runs.events import CancelRequested, Event, RunCreated, StepResolved
from aeond.domain.runs.forks import ForkRequest
from aeond.domain.runs.run import Caller, Owner, Resolution, RunRequest, RunSnapshot
from aeond.domain.undo import UndoReport
from aeond.domain.values import JsonValue, canonical_json
from aeond.errors import AlreadyExistsError, InvalidInputError, WrongStateError
from aeond.frozen import frozen
from aeond.ports import Clock, Engine, Ids, Journal, RunSummary, Validator
from aeond.ports.journal import RunFilter
from aeond.service.approvals.decisions import ApprovalDecisions
from aeond.service.folding import RunFolding, RunOwners, request_id_reused
from aeond.service.history.deletion import RunDeletion
from aeond.service.history.forks import Forks
from aeond.service.history.replays import Replays
from aeond.service.history.undoing import RunUndo
from aeond.service.models.model_checks import check_model
from aeond.service.runs.answers import Answers
from aeond.service.runs.plan_checks import check_plan
from aeond.service.runs.scheduler import RunScheduler
from aeond.service.runs.tool_profiles import ToolProfiles
from aeond.service.runs.workspaces import Workspaces
from aeond.service.sessions.session_records import SessionRecords
from aeond.service.storage import StorageLimit
from aeond.service.watching.run_stream import Batch, RunWatching
from aeond.service.watching.tree_stream import TreeWatching

Item = TypeVar("Item")


@frozen
class Bounds:
    """The default and the maximum budget of a run."""

    default: Budget
    limit: Budget


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Runs:
    """Create, read, watch, cancel, decide, answer, fork, replay, delete. Raises the classes of `aeond.errors`."""

    journal: Journal
    folding: RunFolding
    owners: RunOwners
    scheduler: RunScheduler
    watching: RunWatching
    tree_watching: TreeWatching
    answers: Answers
    approvals: ApprovalDecisions
    validator: Validator
    workspaces: Workspaces
    sessions: SessionRecords
    clock: Clock
    ids: Ids
    bounds: Bounds
    in_order: Callable[[Plan], Plan]
    forks: Forks
    replays: Replays
    undoing: RunUndo
    deletion: RunDeletion
    storage: StorageLimit
    engine: Engine
    profiles: ToolProfiles
    asking_tools: Callable[[], tuple[str, ...]]

    def adopt(self, bounds: Bounds) -> None:
        """Applies these limits to new runs; a run keeps the budget it was created with."""
        self.bounds = bounds

    async def create(self, request: RunRequest, plan: Plan | None, budget: BudgetRequest) -> RunSnapshot:
        """The new run, durable, or the one that this owner created with this request id before.

        AlreadyExistsError (reason REQUEST_ID_REUSED) if the earlier request differs, NotFoundError if its
        session (reason SESSION_NOT_FOUND) or its model (see `check_model`) does not exist, InvalidInputError for its
        tool profile (see `ToolProfiles`), WrongStateError if its owner can store nothing more (see `StorageLimit`).
        """
        request = self.profiles.applied(request)
        plan = None if plan is None else self.in_order(plan)
        if (earlier := await self._earlier(request, plan)) is not None:
            return earlier
        self._check_text(request)
        self.storage.check(request.owner.uid)
        await check_model(self.engine, request.model)
        if plan is not None:
            check_plan(self.validator, plan)
        run_id = self.ids.new_id()
        kind = RunCreated(
            await self.workspaces.bound(request, run_id),
            budget.within(self.bounds.limit, self.bounds.default),
            plan,
            asking_tools=self.asking_tools(),
        )
        created = Event(run_id, 1, self.clock.time(), 0.0, kind)
        try:
            async with self.sessions.beginning(created):
                run = await self.scheduler.admit(created)
                self.owners.note(run)
                return run
        except AlreadyExistsError:
            # Two creations with the same request id raced, and the other one won.
            if (earlier := await self._earlier(request, plan)) is not None:
                return earlier
            raise

    async def get(self, run_id: str, caller: Caller) -> RunSnapshot:
        await self.owners.check(run_id, caller)
        return await self.folding.snapshot(run_id)

    async def list_runs(self, caller: Caller, wanted: RunFilter) -> Sequence[RunSummary]:
        return await self.journal.list_runs(replace(wanted, uid=caller.sees_only))

    async def cancel(self, run_id: str, caller: Caller, reason: str) -> RunSnapshot:
        """The run once the cancellation request is durable; a run that has ended, or is being cancelled
        already, is returned unchanged.
        """
        await self.owners.check(run_id, caller)
        snapshot = await self.folding.snapshot(run_id)
        if snapshot.state.ended or snapshot.cancel_requested:
            return snapshot
        try:
            await self.scheduler.deliver(run_id, CancelRequested(caller.owner, reason))
        except WrongStateError:
            # It ended, or another client cancelled it, between the check and the request.
            snapshot = await self.folding.snapshot(run_id)
            if not (snapshot.state.ended or snapshot.cancel_requested):
                raise
            return snapshot
        return await self.folding.snapshot(run_id)

    async def decide(self, run_id: str, step_id: str, resolution: Resolution, caller: Caller) -> RunSnapshot:
        """The run once the decision is durable. WrongStateError (reason NOTHING_TO_DECIDE) if nothing waits
        for it.
        """
        await self.owners.check(run_id, caller)
        try:
            await self.scheduler.deliver(run_id, StepResolved(resolution, caller.owner, step_id))
        except WrongStateError as error:
            subject = f"step {step_id!r} of run {run_id}" if step_id else f"run {run_id}"
            raise WrongStateError(
                f"{subject} waits for no such decision: check the run first", reason="NOTHING_TO_DECIDE"
            ) from error
        return await self.folding.snapshot(run_id)

    async def answer(self, run_id: str, question_id: str, answer: JsonValue, caller: Caller) -> RunSnapshot:
        await self.owners.check(run_id, caller)
        return await self.answers.answer(run_id, question_id, answer, caller.owner)

    async def decide_approval(self, run_id: str, answer: ApprovalAnswer, caller: Caller) -> RunSnapshot:
        await self.owners.check(run_id, caller)
        return await self.approvals.decide(run_id, answer, caller.owner)

    async def fork(self, asked: ForkRequest) -> RunSnapshot:
        await self.owners.check(asked.run_id, asked.caller)
        return await self.forks.fork(asked, self.bounds.limit)

    def replay(self, run_id: str, until_seq: int, caller: Caller) -> AsyncGenerator[Sequence[Event], None]:
        return self._seen(run_id, caller, self.replays.replay(run_id, until_seq))

    async def undo(self, run_id: str, caller: Caller) -> UndoReport:
        await self.owners.check(run_id, caller)
        return await self.undoing.undo(run_id)

    async def delete(self, run_id: str, caller: Caller) -> None:
        await self.owners.check(run_id, caller)
        await self.deletion.delete(run_id)

    def watch(self, run_id: str, after_seq: int, caller: Caller) -> AsyncGenerator[Batch, None]:
        return self._seen(run_id, caller, self.watching.watch(run_id, after_seq))

    def watch_tree(
        self, run_id: str, after_seq: int, child_seqs: Mapping[str, int], caller: Caller
    ) -> AsyncGenerator[Batch, None]:
        return self._seen(run_id, caller, self.tree_watching.watch(run_id, after_seq, child_seqs))

    async def _seen(
        self, run_id: str, caller: Caller, batches: AsyncGenerator[Item, None]
    ) -> AsyncGenerator[Item, None]:
        """The batches, if the caller sees the run; NotFoundError before the first one if not."""
        async with aclosing(batches):
            await self.owners.check(run_id, caller)
            async for batch in batches:
                yield batch

    async def _earlier(self, request: RunRequest, plan: Plan | None) -> RunSnapshot | None:
        """The run that this owner created with this request id."""
        if not request.request_id:
            return None
        run_id = await self.journal.find_request(request.owner.uid, request.request_id)
        if run_id is None:
            return None
        created = (await self.journal.read(run_id, 0, 1))[0].kind
        asked = await self.workspaces.bound(request, run_id)
        if not isinstance(created, RunCreated) or _asked(created.request, created.plan) != _asked(
            asked, plan
        ):
            raise request_id_reused(request.request_id, run_id)
        return await self.folding.snapshot(run_id)

    def _check_text(self, request: RunRequest) -> None:
        if not request.text.strip():
            raise InvalidInputError(
                "the request is empty: describe the task", reason="TEXT_EMPTY", field="text"
            )


def _asked(request: RunRequest, plan: Plan | None) -> str:
    """A client's request without the client's identity, as one text for comparison."""
    tools = None if request.tool_profile else request.tools  # a profile may have changed since
    asked = asdict(replace(request, owner=Owner(), workspace_identity="", trace_parent="", tools=tools))
    return canonical_json({"request": asked, "plan": None if plan is None else asdict(plan)})
