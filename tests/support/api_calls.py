"""Scripted in-memory implementations of all calls that the server makes to the service layer."""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import anyio

from aeond.capabilities.tools.registry import Registry
from aeond.capabilities.tools.served.terminals import RunTerminals
from aeond.capabilities.tools.served.tool_serving import UserStream, UserTools
from aeond.domain.daemons import ConfigChanges, DaemonSnapshot, DaemonState
from aeond.domain.facts import FactSource
from aeond.domain.llm import (
    Embedding,
    Embeddings,
    EngineSnapshot,
    EngineState,
    FinishReason,
    LLMChunk,
    LLMRequest,
    ModelInfo,
    TokenUsage,
)
from aeond.domain.plans.approvals import ApprovalAnswer
from aeond.domain.plans.plan import Plan
from aeond.domain.policy import Effect
from aeond.domain.runs.budgets import Budget, BudgetRequest
from aeond.domain.runs.events import (
    ApprovalDecided,
    CancelRequested,
    Event,
    EventKind,
    InputAnswered,
    RunCreated,
    RunEnded,
    StepResolved,
)
from aeond.domain.runs.forks import ForkRequest
from aeond.domain.runs.live_updates import LiveUpdate
from aeond.domain.runs.run import Ancestry, Caller, Owner, Resolution, RunRequest, RunSnapshot, RunState
from aeond.domain.tools import ToolCall, ToolResult, ToolSpec
from aeond.domain.undo import UndoReport
from aeond.domain.values import JsonValue
from aeond.errors import AlreadyExistsError, InvalidInputError, NotFoundError, WrongStateError
from aeond.ports import RunSummary
from aeond.ports.journal import RunFilter
from aeond.ports.serving import LentTerminal, ServedTools, TerminalKind
from aeond.server.api import Calls
from aeond.service.runs.admission import Admission
from aeond.state_machine.fold import fold
from tests.support.counts import Count
from tests.support.doubles import ManualClock
from tests.support.fixed_policy import FixedPolicy
from tests.support.in_memory_sessions import InMemorySessions
from tests.support.service_world import NumberedIds
from tests.support.sessions import ScriptedContexts, sessions_in_memory
from tests.support.undo import RecordedUndo

START_TIME = 1_790_000_000.0
LIMIT = Budget()


@dataclass
class InMemoryRuns:
    """Runs that go on when a test says what happened."""

    journals: dict[str, list[Event | LiveUpdate]] = field(default_factory=dict)
    snapshots: dict[str, RunSnapshot] = field(default_factory=dict)
    forks: dict[str, ForkRequest] = field(default_factory=dict)
    watchers: Count = field(default_factory=Count)
    waiting: Count = field(default_factory=Count)  # watchers that have passed on all that happened
    _changed: anyio.Event = field(default_factory=anyio.Event)

    async def create(self, request: RunRequest, plan: Plan | None, budget: BudgetRequest) -> RunSnapshot:
        for run in self.snapshots.values():
            if request.request_id and _key(run.request) == _key(request):
                if replace(run.request, owner=request.owner) != request or run.plan != plan:
                    raise AlreadyExistsError("Another request has this id.", reason="REQUEST_ID_REUSED")
                return run
        run_id = f"run-{len(self.snapshots) + 1:04}"
        self.snapshots[run_id] = RunSnapshot(run_id)
        self.journals[run_id] = []
        return self.happen(run_id, RunCreated(request, budget.within(LIMIT, LIMIT), plan))

    async def get(self, run_id: str, caller: Caller) -> RunSnapshot:
        if run_id not in self.snapshots or not caller.sees(self.snapshots[run_id].request.owner.uid):
            raise NotFoundError(f"There is no run {run_id}.", reason="RUN_NOT_FOUND")
        return self.snapshots[run_id]

    async def list_runs(self, caller: Caller, wanted: RunFilter) -> Sequence[RunSummary]:
        found = [
            RunSummary(
                run.run_id,
                run.state,
                run.request.text[:200],
                run.created_time,
                run.changed_time,
                run.seq,
                run.request.owner.uid,
            )
            for run in sorted(self.snapshots.values(), key=lambda run: run.run_id, reverse=True)
            if caller.sees(run.request.owner.uid)
            and (not wanted.states or run.state in wanted.states)
            and (not wanted.session_id or run.request.session_id == wanted.session_id)
            and (not wanted.parent_run_id or run.ancestry.parent_run_id == wanted.parent_run_id)
            and (not wanted.before or run.run_id < wanted.before)
        ]
        return found[: wanted.limit]

    async def cancel(self, run_id: str, caller: Caller, reason: str) -> RunSnapshot:
        run = await self.get(run_id, caller)
        return run if run.state.ended else self.happen(run_id, CancelRequested(caller.owner, reason))

    async def decide(self, run_id: str, step_id: str, resolution: Resolution, caller: Caller) -> RunSnapshot:
        run = await self.get(run_id, caller)
        if run.state is not RunState.SUSPENDED:
            raise WrongStateError("Nothing waits for a decision.", reason="NOTHING_TO_DECIDE")
        return self.happen(run_id, StepResolved(resolution, caller.owner, step_id))

    async def decide_approval(self, run_id: str, answer: ApprovalAnswer, caller: Caller) -> RunSnapshot:
        run = await self.get(run_id, caller)
        found = [one for one in run.approvals if one.approval_id == answer.approval_id]
        if not found:
            raise WrongStateError("Nothing waits for a decision.", reason="NOTHING_TO_DECIDE")
        if found[0].digest != answer.digest:
            raise InvalidInputError("Another digest.", reason="DIGEST_MISMATCH", field="approval.digest")
        kind = ApprovalDecided(answer.approval_id, answer.approved, caller.owner, answer.digest, answer.scope)
        return self.happen(run_id, kind)

    async def answer(self, run_id: str, question_id: str, answer: JsonValue, caller: Caller) -> RunSnapshot:
        run = await self.get(run_id, caller)
        asked = [q for q in run.questions if question_id in ("", q.question_id)]
        if not asked:
            raise WrongStateError("Nothing is asked.", reason="QUESTION_NOT_OPEN")
        if asked[0].request.options and answer not in asked[0].request.options:
            raise InvalidInputError("That is no option.", reason="ANSWER_INVALID", field="answer_json")
        return self.happen(run_id, InputAnswered(asked[0].question_id, answer, caller.owner))

    async def fork(self, asked: ForkRequest) -> RunSnapshot:
        past = await self.get(asked.run_id, asked.caller)
        if asked.after_seq > past.seq:
            raise InvalidInputError("The run is not that far.", reason="SEQ_AHEAD", field="after_seq")
        for run in self.snapshots.values():
            if asked.request_id and _key(run.request) == (asked.owner.uid, asked.request_id):
                earlier = self.forks.get(run.run_id)
                if earlier is None or replace(earlier, caller=asked.caller) != asked:
                    raise AlreadyExistsError("Another request has this id.", reason="REQUEST_ID_REUSED")
                return run
        request = replace(past.request, owner=asked.owner, request_id=asked.request_id)
        run_id = f"run-{len(self.snapshots) + 1:04}"
        self.snapshots[run_id], self.journals[run_id] = RunSnapshot(run_id), []
        self.forks[run_id] = asked
        ancestry = Ancestry(forked_run_id=asked.run_id)
        budget = asked.budget.within(past.bound, past.bound)
        return self.happen(run_id, RunCreated(request, budget, asked.plan, ancestry=ancestry))

    async def replay(self, run_id: str, until_seq: int, caller: Caller) -> AsyncIterator[Sequence[Event]]:
        run = await self.get(run_id, caller)
        if until_seq > run.seq:
            raise InvalidInputError("The run is not that far.", reason="SEQ_AHEAD", field="until_seq")
        events = [item for item in self.journals[run_id] if isinstance(item, Event)]
        yield [event for event in events if event.seq <= (until_seq or run.seq)]

    async def undo(self, run_id: str, caller: Caller) -> UndoReport:
        run = await self.get(run_id, caller)
        if not run.state.ended:
            raise WrongStateError("The run has not ended.", reason="RUN_NOT_ENDED")
        return await RecordedUndo().undo([run_id], run.request.owner.uid, run.workspace)

    async def delete(self, run_id: str, caller: Caller) -> None:
        if not (await self.get(run_id, caller)).state.ended:
            raise WrongStateError("The run has not ended.", reason="RUN_NOT_ENDED")
        del self.snapshots[run_id], self.journals[run_id]

    async def watch_tree(
        self, run_id: str, after_seq: int, child_seqs: Mapping[str, int], caller: Caller
    ) -> AsyncIterator[Sequence[Event | LiveUpdate]]:
        await self.get(run_id, caller)
        for below in (run for run in self.snapshots.values() if run.ancestry.parent_run_id == run_id):
            seen = child_seqs.get(below.run_id, 0)
            items = [i for i in self.journals[below.run_id] if not isinstance(i, Event) or i.seq > seen]
            if items:
                yield items
        async for batch in self.watch(run_id, after_seq, caller):
            yield batch

    async def watch(
        self, run_id: str, after_seq: int, caller: Caller
    ) -> AsyncIterator[Sequence[Event | LiveUpdate]]:
        run = await self.get(run_id, caller)
        if after_seq > run.seq:
            raise InvalidInputError("The run is not that far.", reason="SEQ_AHEAD", field="after_seq")
        journal, place = self.journals[run_id], 0
        with self.watchers.one_more():
            while True:
                items = [
                    item
                    for item in journal[place : place + 256]
                    if not isinstance(item, Event) or item.seq > after_seq
                ]
                place = min(place + 256, len(journal))
                if items:
                    yield items
                last = journal[place - 1]
                if isinstance(last, Event) and isinstance(last.kind, RunEnded):
                    return
                if place == len(journal):
                    with self.waiting.one_more():
                        await self._changed.wait()

    def happen(self, run_id: str, kind: EventKind) -> RunSnapshot:
        """Journals an event and sends it to watchers."""
        run = self.snapshots[run_id]
        event = Event(run_id, run.seq + 1, START_TIME + run.seq, run.seq / 8, kind)
        self.snapshots[run_id] = fold(run, event)
        self.show(run_id, event)
        return self.snapshots[run_id]

    def show(self, run_id: str, *items: Event | LiveUpdate) -> None:
        """Shows items as they are, whether or not they make sense."""
        self.journals[run_id].extend(items)
        self._changed.set()
        self._changed = anyio.Event()


def _key(request: RunRequest) -> tuple[int, str]:
    return request.owner.uid, request.request_id


@dataclass
class InMemoryTools:
    """Tools that give back their arguments, except those that a test has fail."""

    names: Sequence[str] = ("echo",)
    failures: Mapping[str, Exception] = field(default_factory=dict)
    calls: list[tuple[ToolCall, str, Owner]] = field(default_factory=list)
    served: UserTools = field(default_factory=lambda: UserTools(Registry(), 1.0))
    terminals: RunTerminals = field(default_factory=RunTerminals)

    def serve(self, caller: Caller) -> ServedTools:
        return UserStream(self.served, lambda _stream, _user: None)

    def attach(self, run_id: str, kind: TerminalKind, caller: Caller) -> LentTerminal:
        return self.terminals.attach(caller.owner.uid, run_id, kind)

    async def list_tools(self, caller: Caller, *, after: str, limit: int) -> Sequence[ToolSpec]:
        return [spec(name) for name in sorted(self.names) if name > after][:limit]

    async def get(self, name: str, caller: Caller) -> ToolSpec:
        if name not in self.names:
            raise NotFoundError(f"There is no tool {name}.", reason="TOOL_NOT_FOUND")
        return spec(name)

    async def invoke(self, call: ToolCall, workspace: str, caller: Caller) -> ToolResult:
        if call.tool in self.failures:
            raise self.failures[call.tool]
        await self.get(call.tool, caller)
        self.calls.append((call, workspace, caller.owner))
        return ToolResult(success=True, data=call.arguments, metadata={"duration_seconds": 0.25})


def spec(name: str) -> ToolSpec:
    return ToolSpec(
        name=name,
        description="Gives back what it gets.",
        input_schema={"type": "object"},
        output_schema={"type": "object"},
        effect=Effect.PURE,
        example={"text": "hello"},
    )


@dataclass
class InMemoryKeys:
    """Memory in a dict, by user."""

    by_user: dict[int, dict[str, JsonValue]] = field(default_factory=lambda: defaultdict(dict))

    async def write(self, uid: int, key: str, value: JsonValue) -> None:
        self.by_user[uid][key] = value

    async def sources(self, uid: int, keys: Sequence[str]) -> Mapping[str, FactSource]:
        return {}

    async def read(self, uid: int, key: str) -> JsonValue:
        if key not in self.by_user[uid]:
            raise NotFoundError(f"Nothing is remembered under {key}.", reason="KEY_NOT_FOUND", field="key")
        return self.by_user[uid][key]

    async def search(
        self, uid: int, prefix: str, *, after: str, limit: int
    ) -> Sequence[tuple[str, JsonValue]]:
        found = [
            (key, self.by_user[uid][key])
            for key in sorted(self.by_user[uid])
            if key.startswith(prefix) and key > after
        ]
        return found[:limit]

    async def delete(self, uid: int, key: str) -> bool:
        return self.by_user[uid].pop(key, self) is not self


@dataclass
class InMemoryModels:
    """A model with predefined answers, streamed word by word."""

    text: str = "It is 420."
    engine: EngineSnapshot = EngineSnapshot(EngineState.READY, "small")  # noqa: RUF009 (frozen)
    names: Sequence[str] = ("large", "small")
    questions: list[LLMRequest] = field(default_factory=list)
    closed: anyio.Event = field(default_factory=anyio.Event)

    async def generate(self, request: LLMRequest, model: str, uid: int) -> AsyncIterator[LLMChunk]:
        if model not in ("", *self.names):
            raise NotFoundError(f"There is no model {model}.", reason="MODEL_NOT_FOUND")
        self.questions.append(request)
        words = self.text.split(" ")
        try:
            for word in words:
                yield LLMChunk(word)
            yield LLMChunk("", FinishReason.STOP, TokenUsage(7, len(words), 3))
        finally:
            self.closed.set()

    async def embed(self, texts: Sequence[str], uid: int) -> Embeddings:
        return Embeddings("letters", tuple(Embedding((float(len(text)), 0.5)) for text in texts))

    async def list_models(self, *, after: str, limit: int) -> Sequence[ModelInfo]:
        return [
            ModelInfo(name, "0" * 64, 1 << 30, "Apache-2.0", "A model.", 4096, metadata={"quantised": True})
            for name in self.names
            if name > after
        ][:limit]

    async def load(self, model: str) -> EngineSnapshot:
        if model not in ("", *self.names):
            raise NotFoundError(f"There is no model {model}.", reason="MODEL_NOT_FOUND")
        self.engine = EngineSnapshot(EngineState.STARTING, model or "small", "loading", 0.5)
        return self.engine

    async def unload(self) -> EngineSnapshot:
        self.engine = replace(self.engine, state=EngineState.COLD)
        return self.engine

    async def sleep(self) -> EngineSnapshot:
        if self.engine.state is EngineState.STARTING:
            raise WrongStateError("It is at work.", reason="ENGINE_BUSY")
        self.engine = replace(self.engine, state=EngineState.ASLEEP)
        return self.engine

    async def wake(self) -> EngineSnapshot:
        self.engine = replace(self.engine, state=EngineState.STARTING, activity="waking")
        return self.engine


@dataclass
class FixedDaemon:
    """A daemon in the state that a test says."""

    snapshot: DaemonSnapshot = DaemonSnapshot(  # noqa: RUF009 (frozen)
        version="9.8.7", state=DaemonState.READY, pid=4242, started_time=START_TIME, uptime_seconds=5.5
    )
    changes: ConfigChanges = ConfigChanges()  # noqa: RUF009 (frozen)
    config_mistake: str = ""

    async def status(self) -> DaemonSnapshot:
        return self.snapshot

    async def reload(self) -> ConfigChanges:
        if self.config_mistake:
            raise InvalidInputError(self.config_mistake, reason="CONFIG_INVALID")
        return self.changes


@dataclass
class InMemoryCalls:
    """All of them together."""

    runs: InMemoryRuns = field(default_factory=InMemoryRuns)
    sessions: InMemorySessions = field(default_factory=InMemorySessions)
    contexts: ScriptedContexts = field(default_factory=ScriptedContexts)
    tools: InMemoryTools = field(default_factory=InMemoryTools)
    memory: InMemoryKeys = field(default_factory=InMemoryKeys)
    models: InMemoryModels = field(default_factory=InMemoryModels)
    daemon: FixedDaemon = field(default_factory=FixedDaemon)
    policy: FixedPolicy = field(default_factory=FixedPolicy)

    def calls(self) -> Calls:
        clock, ids, admission = ManualClock(START_TIME), NumberedIds(), Admission()
        admission.open()
        sessions = sessions_in_memory(clock, ids, self.sessions, self.contexts, admission)
        return Calls(self.runs, sessions, self.tools, self.memory, self.models, self.daemon, self.policy)
