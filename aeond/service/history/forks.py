"""Forks: a new run that copies the events of another run up to a chosen one, and continues from there."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.plans.plan import Plan, PlanStep
from aeond.domain.runs.budgets import Budget
from aeond.domain.runs.events import (
    AnswerComposed,
    ApprovalRequested,
    Event,
    EventKind,
    InputRequested,
    PlanAdopted,
    PlanRefined,
    RunCreated,
    RunParked,
)
from aeond.domain.runs.forks import ForkRequest
from aeond.domain.runs.run import Ancestry, Owner, PlanSource, RunSnapshot
from aeond.domain.tools import ToolCall
from aeond.errors import AlreadyExistsError, InvalidInputError, ReplayError, WrongStateError
from aeond.frozen import frozen
from aeond.ports import Clock, Engine, Ids, Journal, Validator
from aeond.service.folding import RunFolding, request_id_reused, run_not_found
from aeond.service.history.replays import Replays
from aeond.service.models.model_checks import check_model
from aeond.service.runs.plan_checks import check_plan
from aeond.service.runs.scheduler import RunScheduler
from aeond.service.runs.workspaces import Workspaces
from aeond.service.storage import StorageLimit
from aeond.state_machine.transitions import admits

_PLANNED: Final = (RunCreated, PlanAdopted, PlanRefined)


@frozen
class Forks:
    """Creates forks. Raises the classes of `aeond.errors`."""

    journal: Journal
    folding: RunFolding
    replays: Replays
    scheduler: RunScheduler
    engine: Engine
    clock: Clock
    ids: Ids
    validator: Validator
    workspaces: Workspaces
    in_order: Callable[[Plan], Plan]
    storage: StorageLimit

    async def fork(self, asked: ForkRequest, limit: Budget) -> RunSnapshot:
        """The new run, durable, or the one that this owner forked with this request id before.

        AlreadyExistsError (reason REQUEST_ID_REUSED) if the id was used for something else. Work in flight at
        the chosen event restarts by its recovery rule: a step with effects that may have been interrupted
        waits for a person. The copied events include their costs.

        A fork is a new run: it obeys the rules for new runs, up to `limit`. It works in the folder of the
        original run, or in a new private folder of the daemon's if the original worked in one.
        """
        past = await self._past(asked.run_id, max(1, asked.after_seq))
        events = self._forked(asked, past, limit)
        if (earlier := await self._earlier(asked, events)) is not None:
            return earlier
        self.storage.check(asked.owner.uid)
        await check_model(self.engine, asked.model)
        if asked.plan is not None:
            check_plan(self.validator, self.in_order(asked.plan))
        try:
            return await self.scheduler.admit(*await self._placed(events))
        except AlreadyExistsError:
            # Two forks with the same request id raced, and the other one won.
            if (earlier := await self._earlier(asked, events)) is not None:
                return earlier
            raise

    def _forked(self, asked: ForkRequest, past: Sequence[Event], limit: Budget) -> Sequence[Event]:
        run_id, first = self.ids.new_id(), past[0].kind
        assert isinstance(first, RunCreated), "no event precedes the creation of a run"
        plan = None if asked.plan is None else self.in_order(asked.plan)
        bounds = first.budget.at_most(limit)
        now = self.clock.time()
        created = replace(
            first,
            request=replace(
                first.request,
                owner=asked.owner,
                request_id=asked.request_id,
                model=asked.model or first.request.model,
                trace_parent=asked.caller.trace_parent,
            ),
            budget=asked.budget.within(limit=bounds, default=bounds),
            plan=plan if len(past) == 1 and plan is not None else first.plan,
            ancestry=Ancestry(forked_run_id=asked.run_id),
        )
        kinds: list[EventKind] = [created, *(_asked_at(now, event.kind) for event in past[1:])]
        if plan is not None and len(past) > 1:
            self._check_executed(plan, past)
            kinds.append(PlanAdopted(plan, PlanSource.CLIENT))
        last = past[-1]
        events = [
            Event(run_id, seq, now, past[min(seq, len(past)) - 1].elapsed_seconds, kind)
            for seq, kind in enumerate(kinds, start=1)
        ]
        snapshot = self._fold(asked, events)
        if created.budget != first.budget:
            self._check_bounds(events)
        if snapshot.state.ended:
            raise WrongStateError(
                f"run {asked.run_id} had ended at event {last.seq}: fork it at an earlier event",
                reason="RUN_ENDED",
            )
        # it was not interrupted, so resuming it does not count as a crash
        if len(past) > 1 and admits(snapshot, RunParked()):
            events.append(Event(run_id, len(events) + 1, now, last.elapsed_seconds, RunParked()))
        return events

    def _fold(self, asked: ForkRequest, events: Sequence[Event]) -> RunSnapshot:
        try:
            return self.folding.folded(events)
        except ReplayError as error:
            raise InvalidInputError(
                f"the request contradicts the events of run {asked.run_id} before the fork:"
                f" {error.__cause__ or error.message}",
                reason="FORK_DOES_NOT_FIT",
            ) from error

    def _check_bounds(self, events: Sequence[Event]) -> None:
        """InvalidInputError if a run with these limits would have taken another path: its fork could not be
        replayed.
        """
        try:
            self.replays.check(events)
        except ReplayError as error:
            raise InvalidInputError(
                "a run with such low limits would have taken another path: fork it at an earlier event,"
                " or raise the limits",
                reason="FORK_DOES_NOT_FIT",
                field="budget",
            ) from error

    def _check_executed(self, plan: Plan, past: Sequence[Event]) -> None:
        """InvalidInputError if the plan lacks or changes a step that was executed."""
        plans = [event.kind.plan for event in past if isinstance(event.kind, _PLANNED) and event.kind.plan]
        planned = [step for one in plans for step in one]
        for executed in (step for step in self.folding.folded(past).steps.values() if step.executed):
            step_id = executed.step_id
            # A repair may have changed it.
            known = [executed.step, *(step for step in planned if step.step_id == step_id)]
            if not any(step.step_id == step_id and _work(step) in map(_work, known) for step in plan):
                raise InvalidInputError(
                    f"step {step_id} had been executed: the plan must contain it unchanged",
                    reason="FORK_DOES_NOT_FIT",
                    field="plan",
                )

    async def _placed(self, events: Sequence[Event]) -> Sequence[Event]:
        """The events of a fork, with a workspace that it may use."""
        created = events[0].kind
        assert isinstance(created, RunCreated), "no event precedes the creation of a run"
        folder = created.request.workspace
        own = self.workspaces.is_own(folder)
        placed = await self.workspaces.bound(
            replace(created.request, workspace="" if own else folder), events[0].run_id
        )
        return [replace(events[0], kind=replace(created, request=placed)), *events[1:]]

    async def _past(self, run_id: str, until_seq: int) -> Sequence[Event]:
        past = await self._first(run_id, until_seq)
        if not past:
            raise run_not_found(run_id)
        if len(past) < until_seq:
            raise InvalidInputError(
                f"run {run_id} has {len(past)} events, not {until_seq}", reason="SEQ_AHEAD", field="after_seq"
            )
        if any(isinstance(event.kind, AnswerComposed) for event in past):
            raise InvalidInputError(
                "the run had its answer by then: fork it at an event before the answer",
                reason="FORK_TOO_LATE",
                field="after_seq",
            )
        return past

    async def _first(self, run_id: str, count: int) -> Sequence[Event]:
        """The first events of a run, up to that many."""
        first: list[Event] = []
        while len(first) < count and (
            page := await self.journal.read(run_id, len(first), min(256, count - len(first)))
        ):
            first.extend(page)
        return first

    async def _earlier(self, asked: ForkRequest, events: Sequence[Event]) -> RunSnapshot | None:
        """The run with this request id, if it began with these events."""
        if not asked.request_id:
            return None
        run_id = await self.journal.find_request(asked.owner.uid, asked.request_id)
        if run_id is None:
            return None
        if list(map(_said, await self._first(run_id, len(events)))) != list(map(_said, events)):
            raise request_id_reused(asked.request_id, run_id)
        return await self.folding.snapshot(run_id)


def _work(step: PlanStep) -> ToolCall | str:
    """The work of a step: its tool call, or an agent's task."""
    return step.tool_call or step.description


def _asked_at(time: float, kind: EventKind) -> EventKind:
    """The event in a fork created at that time: questions and approvals are asked again, with their full deadline."""
    match kind:
        case InputRequested(question=question):
            return replace(kind, question=replace(question, asked_time=time))
        case ApprovalRequested(approval=approval):
            return replace(kind, approval=replace(approval, requested_time=time))
        case _:
            return kind


def _said(event: Event) -> EventKind:
    """The event without its time, workspace and client process, for comparison."""
    if not isinstance(event.kind, RunCreated):
        return _asked_at(0.0, event.kind)
    request = event.kind.request
    return replace(
        event.kind,
        request=replace(
            request, owner=Owner(request.owner.uid), workspace="", workspace_identity="", trace_parent=""
        ),
    )
