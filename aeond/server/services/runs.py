"""Implementation of RunService."""

from collections.abc import AsyncIterator, Sequence

from aeond.api.v1 import runs_pb2 as pb
from aeond.concurrency import closing
from aeond.domain.plans.plan import Plan
from aeond.domain.runs.events import Event
from aeond.domain.runs.forks import ForkRequest
from aeond.domain.runs.live_updates import LiveUpdate
from aeond.domain.runs.run import Caller, RunRequest, RunSnapshot
from aeond.ports.journal import RunFilter
from aeond.server.calls import RunCalls
from aeond.server.streaming import Part
from aeond.server.wire import checks
from aeond.server.wire.batches import EventBytes, batches
from aeond.server.wire.json_text import json_value
from aeond.server.wire.pages import page_of, page_size, page_start
from aeond.server.wire.requests import APPROVAL, BUDGET, RESOLUTIONS, RUN_REQUEST, RUN_STATES, plan_from_wire
from aeond.server.wire.table import to_wire

MAX_REASON_CHARS = 1_000
MAX_SEQ = (1 << 63) - 1
MAX_STATES = 16
MAX_CHILDREN = 1_024
MAX_ANSWER_BYTES = 64 * 1024


class RunShim:
    def __init__(self, calls: RunCalls) -> None:
        self._calls = calls
        self._encoded = EventBytes()

    async def create_run(self, request: pb.CreateRunRequest, caller: Caller) -> pb.CreateRunResponse:
        return pb.CreateRunResponse(run=to_wire(await self._create(request, caller), pb.Run))

    async def run_and_watch(self, request: pb.RunAndWatchRequest, caller: Caller) -> AsyncIterator[Part]:
        run = await self._create(request, caller)
        yield Part(pb.RunAndWatchResponse(run=to_wire(run, pb.Run)).SerializeToString(), 0)
        async with closing(self._calls.watch(run.run_id, 0, caller)) as watched:
            async for items in watched:
                for part in batches(items, pb.RunAndWatchResponse.DESCRIPTOR, self._encoded):
                    yield part

    async def watch_run(self, request: pb.WatchRunRequest, caller: Caller) -> AsyncIterator[Part]:
        run_id = checks.word(request.run_id, "run_id")
        after_seq = checks.whole(request.after_seq, "after_seq", 0, MAX_SEQ)
        async with closing(self._watched(run_id, after_seq, request, caller)) as watched:
            async for items in watched:
                for part in batches(items, pb.WatchRunResponse.DESCRIPTOR, self._encoded, run_id):
                    yield part

    async def get_run(self, request: pb.GetRunRequest, caller: Caller) -> pb.GetRunResponse:
        run = await self._calls.get(checks.word(request.run_id, "run_id"), caller)
        return pb.GetRunResponse(run=to_wire(run, pb.Run))

    async def list_runs(self, request: pb.ListRunsRequest, caller: Caller) -> pb.ListRunsResponse:
        checks.at_most(request.states, "states", MAX_STATES)
        states = frozenset(
            RUN_STATES.domain(state, f"states[{index}]") for index, state in enumerate(request.states)
        )
        session_id = checks.word(request.session_id, "session_id", optional=True)
        parent_run_id = checks.word(request.parent_run_id, "parent_run_id", optional=True)
        size = page_size(request.page_size)
        scope = f"runs {sorted(states)} {session_id} {parent_run_id}"
        found = await self._calls.list_runs(
            caller,
            RunFilter(
                states=states,
                session_id=session_id,
                parent_run_id=parent_run_id,
                before=page_start(request.page_token, scope),
                limit=size + 1,
            ),
        )
        shown, token = page_of(found, size, scope, lambda run: run.run_id)
        return pb.ListRunsResponse(runs=[to_wire(run, pb.RunSummary) for run in shown], next_page_token=token)

    async def cancel_run(self, request: pb.CancelRunRequest, caller: Caller) -> pb.CancelRunResponse:
        run_id = checks.word(request.run_id, "run_id")
        reason = checks.bounded_text(request.reason, "reason", MAX_REASON_CHARS)
        return pb.CancelRunResponse(run=to_wire(await self._calls.cancel(run_id, caller, reason), pb.Run))

    async def answer_run(self, request: pb.AnswerRunRequest, caller: Caller) -> pb.AnswerRunResponse:
        run_id = checks.word(request.run_id, "run_id")
        question_id = checks.word(request.question_id, "question_id", optional=True)
        checks.bounded_text(request.answer_json, "answer_json", MAX_ANSWER_BYTES, least=1)
        answer = json_value(request.answer_json, "answer_json", MAX_ANSWER_BYTES)
        return pb.AnswerRunResponse(
            run=to_wire(await self._calls.answer(run_id, question_id, answer, caller), pb.Run)
        )

    async def decide_run(self, request: pb.DecideRunRequest, caller: Caller) -> pb.DecideRunResponse:
        run_id = checks.word(request.run_id, "run_id")
        step_id = checks.word(request.step_id, "step_id", optional=True)
        if request.HasField("approval"):
            answer = APPROVAL.read(request.approval, "approval")
            return pb.DecideRunResponse(
                run=to_wire(await self._calls.decide_approval(run_id, answer, caller), pb.Run)
            )
        resolution = RESOLUTIONS.domain(request.resolution, "resolution")
        run = await self._calls.decide(run_id, step_id, resolution, caller)
        return pb.DecideRunResponse(run=to_wire(run, pb.Run))

    async def fork_run(self, request: pb.ForkRunRequest, caller: Caller) -> pb.ForkRunResponse:
        asked = ForkRequest(
            run_id=checks.word(request.run_id, "run_id"),
            caller=caller,
            after_seq=checks.whole(request.after_seq, "after_seq", 0, MAX_SEQ),
            plan=plan_from_wire(request.plan, "") if request.HasField("plan") else None,
            model=checks.word(request.model, "model", optional=True),
            budget=BUDGET.read(request.budget, "budget"),
            request_id=checks.word(request.request_id, "request_id", optional=True),
        )
        return pb.ForkRunResponse(run=to_wire(await self._calls.fork(asked), pb.Run))

    async def replay_run(self, request: pb.ReplayRunRequest, caller: Caller) -> AsyncIterator[Part]:
        run_id = checks.word(request.run_id, "run_id")
        until_seq = checks.whole(request.until_seq, "until_seq", 0, MAX_SEQ)
        async with closing(self._calls.replay(run_id, until_seq, caller)) as replayed:
            async for events in replayed:
                for part in batches(events, pb.ReplayRunResponse.DESCRIPTOR, self._encoded):
                    yield part

    async def undo_run(self, request: pb.UndoRunRequest, caller: Caller) -> pb.UndoRunResponse:
        report = await self._calls.undo(checks.word(request.run_id, "run_id"), caller)
        return to_wire(report, pb.UndoRunResponse)

    async def delete_run(self, request: pb.DeleteRunRequest, caller: Caller) -> pb.DeleteRunResponse:
        await self._calls.delete(checks.word(request.run_id, "run_id"), caller)
        return pb.DeleteRunResponse()

    def _watched(
        self, run_id: str, after_seq: int, request: pb.WatchRunRequest, caller: Caller
    ) -> AsyncIterator[Sequence[Event | LiveUpdate]]:
        if not request.include_children:
            return self._calls.watch(run_id, after_seq, caller)
        checks.at_most(request.child_seqs, "child_seqs", MAX_CHILDREN)
        child_seqs = {
            checks.word(child, "child_seqs"): checks.whole(seq, "child_seqs", 0, MAX_SEQ)
            for child, seq in request.child_seqs.items()
        }
        return self._calls.watch_tree(run_id, after_seq, child_seqs, caller)

    async def _create(
        self, request: pb.CreateRunRequest | pb.RunAndWatchRequest, caller: Caller
    ) -> RunSnapshot:
        asked, plan = _checked(request, caller)
        return await self._calls.create(asked, plan, BUDGET.read(request.budget, "budget"))


def _checked(
    request: pb.CreateRunRequest | pb.RunAndWatchRequest, caller: Caller
) -> tuple[RunRequest, Plan | None]:
    checks.required(request, "request")
    asked = RUN_REQUEST.read(request.request, "request", owner=caller.owner, trace_parent=caller.trace_parent)
    return asked, plan_from_wire(request.plan, asked.text) if request.HasField("plan") else None
