"""Runs: what clients may ask about them."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict, replace

from aeond.domain.budgets import Budget, BudgetRequest
from aeond.domain.events import CancelRequested, Event, RunCreated, StepResolved
from aeond.domain.forks import ForkRequest
from aeond.domain.plans import Plan
from aeond.domain.runs import Owner, Resolution, RunRequest, RunSnapshot, RunState
from aeond.domain.values import JsonValue, canonical_json
from aeond.errors import AlreadyExistsError, InvalidInputError, WrongStateError
from aeond.frozen import frozen
from aeond.ports import Clock, Engine, Ids, Journal, RunSummary, Validator
from aeond.service.answers import Answers
from aeond.service.folding import RunFolding, request_id_reused
from aeond.service.forking import Forks
from aeond.service.model_checks import check_model
from aeond.service.plan_checks import check_plan
from aeond.service.replaying import Replays
from aeond.service.scheduling import RunScheduler
from aeond.service.session_records import SessionRecords
from aeond.service.tree_watching import TreeWatching
from aeond.service.watching import Batch, RunWatching
from aeond.service.workspaces import Workspaces


@frozen
class Bounds:
    """What a run gets when it asks for nothing, and what it gets at most."""

    default: Budget
    limit: Budget


class Runs:
    """Create, look, watch, stop, decide, answer, fork, replay. Raises the classes of `aeond.errors`."""

    def __init__(
        self,
        *,
        journal: Journal,
        folding: RunFolding,
        scheduler: RunScheduler,
        watching: RunWatching,
        tree_watching: TreeWatching,
        answers: Answers,
        validator: Validator,
        workspaces: Workspaces,
        sessions: SessionRecords,
        clock: Clock,
        ids: Ids,
        bounds: Bounds,
        in_order: Callable[[Plan], Plan],
        forks: Forks,
        replays: Replays,
        engine: Engine,
    ) -> None:
        self._journal = journal
        self._folding = folding
        self._scheduler = scheduler
        self._watching = watching
        self._tree_watching = tree_watching
        self._answers = answers
        self._validator = validator
        self._workspaces = workspaces
        self._sessions = sessions
        self._clock = clock
        self._ids = ids
        self._bounds = bounds
        self._in_order = in_order
        self._forks = forks
        self._replays = replays
        self._engine = engine

    def adopt(self, bounds: Bounds) -> None:
        """What new runs get from now on; a run keeps the budget it was created with."""
        self._bounds = bounds

    async def create(self, request: RunRequest, plan: Plan | None, budget: BudgetRequest) -> RunSnapshot:
        """The new run, durable; or the one that this owner created under this request id before.

        AlreadyExistsError (reason REQUEST_ID_REUSED) when that one was asked for differently, NotFoundError
        (reason SESSION_NOT_FOUND) when its session is not there, or its model (`check_model`).
        """
        plan = None if plan is None else self._in_order(plan)
        if (earlier := await self._earlier(request, plan)) is not None:
            return earlier
        self._check_text(request)
        await check_model(self._engine, request.model)
        if plan is not None:
            check_plan(self._validator, plan)
        run_id = self._ids.new_id()
        workspace = await self._workspaces.resolve(request.workspace, run_id)
        kind = RunCreated(
            replace(request, workspace=workspace),
            budget.within(self._bounds.limit, self._bounds.default),
            plan,
        )
        created = Event(run_id, 1, self._clock.time(), 0.0, kind)
        try:
            async with self._sessions.beginning(created):
                return await self._scheduler.admit(created)
        except AlreadyExistsError:
            # Two creations with one request id raced, and the other one won.
            if (earlier := await self._earlier(request, plan)) is not None:
                return earlier
            raise

    async def get(self, run_id: str) -> RunSnapshot:
        return await self._folding.snapshot(run_id)

    async def list_runs(
        self,
        *,
        states: frozenset[RunState],
        session_id: str,
        before: str,
        limit: int,
        parent_run_id: str = "",
    ) -> Sequence[RunSummary]:
        return await self._journal.list_runs(
            states=states, session_id=session_id, parent_run_id=parent_run_id, before=before, limit=limit
        )

    async def cancel(self, run_id: str, owner: Owner, reason: str) -> RunSnapshot:
        """The run once the wish is durable; a run that has ended, or has the wish already, as it is."""
        snapshot = await self._folding.snapshot(run_id)
        if snapshot.state.ended or snapshot.cancel_requested:
            return snapshot
        try:
            await self._scheduler.deliver(run_id, CancelRequested(owner, reason))
        except WrongStateError:
            # It ended, or somebody else asked, between the look and the wish.
            snapshot = await self._folding.snapshot(run_id)
            if not (snapshot.state.ended or snapshot.cancel_requested):
                raise
            return snapshot
        return await self._folding.snapshot(run_id)

    async def decide(self, run_id: str, step_id: str, resolution: Resolution, owner: Owner) -> RunSnapshot:
        """The run once the decision is durable. WrongStateError (reason NOTHING_TO_DECIDE) when nothing
        waits for it."""
        try:
            await self._scheduler.deliver(run_id, StepResolved(resolution, owner, step_id))
        except WrongStateError as error:
            subject = f"step {step_id!r} of run {run_id}" if step_id else f"run {run_id}"
            raise WrongStateError(
                f"{subject} waits for no such decision: look at the run first", reason="NOTHING_TO_DECIDE"
            ) from error
        return await self._folding.snapshot(run_id)

    async def answer(self, run_id: str, question_id: str, answer: JsonValue, owner: Owner) -> RunSnapshot:
        return await self._answers.answer(run_id, question_id, answer, owner)

    async def fork(self, asked: ForkRequest) -> RunSnapshot:
        return await self._forks.fork(asked, self._bounds.limit)

    def replay(self, run_id: str, until_seq: int) -> AsyncIterator[Sequence[Event]]:
        return self._replays.replay(run_id, until_seq)

    def watch(self, run_id: str, after_seq: int) -> AsyncIterator[Batch]:
        return self._watching.watch(run_id, after_seq)

    def watch_tree(self, run_id: str, after_seq: int, child_seqs: Mapping[str, int]) -> AsyncIterator[Batch]:
        return self._tree_watching.watch(run_id, after_seq, child_seqs)

    async def _earlier(self, request: RunRequest, plan: Plan | None) -> RunSnapshot | None:
        """The run that this owner created under this request id."""
        if not request.request_id:
            return None
        run_id = await self._journal.find_request(request.owner.uid, request.request_id)
        if run_id is None:
            return None
        created = (await self._journal.read(run_id, 0, 1))[0].kind
        workspace = await self._workspaces.resolve(request.workspace, run_id)
        asked = replace(request, workspace=workspace)
        if not isinstance(created, RunCreated) or _asked(created.request, created.plan) != _asked(
            asked, plan
        ):
            raise request_id_reused(request.request_id, run_id)
        return await self._folding.snapshot(run_id)

    def _check_text(self, request: RunRequest) -> None:
        if not request.text.strip():
            raise InvalidInputError(
                "the request is empty: say what is to be done", reason="TEXT_EMPTY", field="text"
            )


def _asked(request: RunRequest, plan: Plan | None) -> str:
    """What a client asked for, without who it was this time, as one text to compare."""
    asked = asdict(replace(request, owner=Owner()))
    return canonical_json({"request": asked, "plan": None if plan is None else asdict(plan)})
