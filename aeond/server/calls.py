"""The interface between server and service layer, in domain types.

The service implements these protocols structurally and imports nothing from here. Calls deliberately raise
only the classes of `aeond.errors`; the server maps each class to one gRPC code. A call about something that
exists, but that its caller does not see, raises the same error, in the same words, as one about something that does
not exist; lists contain what the caller sees. The form of arguments is
checked beforehand (lengths, known enum values, bounded JSON); the service validates their meaning. While the
daemon starts or drains, calls that begin work raise UnavailableError (reason STARTING or DRAINING); read-only
calls are answered as long as possible.

Lists are paged by the key of the last item of the preceding page ("" for the first page). A call returns the
items after it, at most `limit`, and fewer only at the end. The server requests one more item than it shows to
learn whether there is a next page, and creates the opaque token.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol

from aeond.domain.daemons import ConfigChanges, DaemonSnapshot
from aeond.domain.facts import FactSource
from aeond.domain.llm import Embeddings, EngineSnapshot, LLMChunk, LLMRequest, ModelInfo
from aeond.domain.plans.approvals import ApprovalAnswer
from aeond.domain.plans.plan import Plan
from aeond.domain.policy import DecidedCall, PolicyDescription, PolicyReplay
from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.events import Event
from aeond.domain.runs.forks import ForkRequest
from aeond.domain.runs.live_updates import LiveUpdate
from aeond.domain.runs.run import Caller, Owner, Resolution, RunRequest, RunSnapshot
from aeond.domain.sessions import Session, SessionContext, SessionMessage
from aeond.domain.tools import ToolCall, ToolResult, ToolSpec
from aeond.domain.undo import UndoReport
from aeond.domain.values import JsonValue
from aeond.ports import RunSummary
from aeond.ports.journal import RunFilter
from aeond.ports.serving import LentTerminal, ServedTools, TerminalKind


class RunCalls(Protocol):
    """Runs: create, read, watch, cancel, decide."""

    async def create(self, request: RunRequest, plan: Plan | None, budget: BudgetRequest) -> RunSnapshot:
        """Returns once the run's RunCreated is durable; the run executes in the background.

        With a request id that this owner used before, returns the existing run in its current state;
        AlreadyExistsError (reason REQUEST_ID_REUSED) if the request differs. InvalidInputError: an invalid
        plan (`field` is the path in it, such as `plan.steps[2].depends_on`) or an unusable workspace.
        OverloadedError: too many runs are waiting (reason TOO_MANY_RUNS). WrongStateError (USER_STORAGE_FULL): the
        owner can store nothing more, which also sessions, forks and facts are refused with. NotFoundError (MODEL_NOT_FOUND) for
        a model that is not in the catalogue, WrongStateError (MODEL_NOT_PRESENT) for one that is not
        downloaded.
        """
        ...

    async def get(self, run_id: str, caller: Caller) -> RunSnapshot:
        """NotFoundError (reason RUN_NOT_FOUND) if the run does not exist."""
        ...

    async def list_runs(self, caller: Caller, wanted: RunFilter) -> Sequence[RunSummary]:
        """Newest first, of the runs that the caller sees; `uid` of the filter is ignored."""
        ...

    async def cancel(self, run_id: str, caller: Caller, reason: str) -> RunSnapshot:
        """Returns once the cancellation request is durable; a run that has ended is returned unchanged."""
        ...

    async def decide(self, run_id: str, step_id: str, resolution: Resolution, caller: Caller) -> RunSnapshot:
        """Resolves an UNKNOWN step (or, without a step id, a run suspended after crashes); returns once that
        is durable. WrongStateError (reason NOTHING_TO_DECIDE) if nothing waits for this decision.
        """
        ...

    async def decide_approval(self, run_id: str, answer: ApprovalAnswer, caller: Caller) -> RunSnapshot:
        """Returns once the decision is durable; the first one counts. WrongStateError (NOTHING_TO_DECIDE) if the
        approval is not open, InvalidInputError for another digest (DIGEST_MISMATCH) or a scope that is not offered
        (SCOPE_NOT_OFFERED).
        """
        ...

    async def fork(self, asked: ForkRequest) -> RunSnapshot:
        """Returns once the copied events of the fork are durable; the fork executes in the background. With a
        request id that this owner used for a fork of this run before, returns that fork in its current state.

        NotFoundError as in `get`. InvalidInputError: an event that the run has not reached (SEQ_AHEAD) or
        that follows its answer (FORK_TOO_LATE), an invalid plan as in `create`, or a plan or limits that
        contradict the copied events (FORK_DOES_NOT_FIT). For the model, the errors of `create`.
        """
        ...

    def replay(self, run_id: str, until_seq: int, caller: Caller) -> AsyncIterator[Sequence[Event]]:
        """Replays the run from its record, in batches, up to `until_seq` (0: all); changes nothing.

        NotFoundError as in `get`; InvalidInputError (reason SEQ_AHEAD, field `until_seq`) for an event that
        the run has not reached; ReplayError (reason REPLAY_MISMATCH) at the first event that differs.
        """
        ...

    async def undo(self, run_id: str, caller: Caller) -> UndoReport:
        """Takes back what an ended run and the runs below it changed; a repeat takes back what is left.

        NotFoundError as in `get`; WrongStateError (reason RUN_NOT_ENDED) if one of the runs has not ended.
        """
        ...

    async def delete(self, run_id: str, caller: Caller) -> None:
        """Deletes an ended run with its events and the runs that it started.

        NotFoundError as in `get`; WrongStateError: it or a run below has not ended (reason RUN_NOT_ENDED), another run
        started it (RUN_HAS_PARENT), or its session still exists (RUN_IN_SESSION).
        """
        ...

    async def answer(self, run_id: str, question_id: str, answer: JsonValue, caller: Caller) -> RunSnapshot:
        """Answers a question ("": the only open one); returns once the answer is durable. InvalidInputError:
        the answer does not match the question (ANSWER_INVALID), or several questions are open
        (QUESTION_AMBIGUOUS). WrongStateError (QUESTION_NOT_OPEN): never asked, or answered already; the first
        answer counts.
        """
        ...

    def watch_tree(
        self, run_id: str, after_seq: int, child_seqs: Mapping[str, int], caller: Caller
    ) -> AsyncIterator[Sequence[Event | LiveUpdate]]:
        """Like `watch`, with the events of all runs below this one: each run's events in order, without gaps
        or duplicates. Ends when all these runs have ended. `child_seqs` gives resume positions in runs below.
        A run that is not listed starts at its first event, unless its parent's ChildRunEnded is at or before
        the parent's own position: no event of a run follows that event.
        """
        ...

    def watch(
        self, run_id: str, after_seq: int, caller: Caller
    ) -> AsyncIterator[Sequence[Event | LiveUpdate]]:
        """The run's events after `after_seq`, without gaps or duplicates, in batches of the events available
        (never empty, at most 256 items), interleaved with live text and progress. A late watcher first
        receives the text so far. Ends after RunEnded. NotFoundError as in `get`; InvalidInputError (reason
        SEQ_AHEAD, field `after_seq`) for a seq that the run has not reached.

        The server closes the iterator (`aclose`) when the client disconnects or the daemon drains.
        """
        ...


class ToolCalls(Protocol):
    """Tools: read, call one directly, and serve tools of a client."""

    async def list_tools(self, caller: Caller, *, after: str, limit: int) -> Sequence[ToolSpec]:
        """The common tools and those of the caller's clients, sorted by name."""
        ...

    async def get(self, name: str, caller: Caller) -> ToolSpec:
        """NotFoundError (reason TOOL_NOT_FOUND) if the tool does not exist."""
        ...

    def serve(self, caller: Caller) -> ServedTools:
        """A stream for tools of the caller's. OverloadedError (reason TOO_MANY_STREAMS), RefusedError (UNKNOWN_USER)."""
        ...

    def attach(self, run_id: str, kind: TerminalKind, caller: Caller) -> LentTerminal:
        """Lends a terminal of the caller's to a run of theirs. AlreadyExistsError (reason TERMINAL_ATTACHED),
        OverloadedError (TOO_MANY_STREAMS)."""
        ...

    async def invoke(self, call: ToolCall, workspace: str, caller: Caller) -> ToolResult:
        """Runs the tool under the same checks as a step's call. A failing tool is a result, not an error;
        NotFoundError as in `get`. `workspace` as in RunRequest.
        """
        ...


class SessionCalls(Protocol):
    """Sessions: create, read, list, delete. All calls but `create` and `list_sessions` raise NotFoundError
    (reason SESSION_NOT_FOUND) if the session does not exist.
    """

    async def create(self, title: str, labels: Mapping[str, str], request_id: str, owner: Owner) -> Session:
        """Returns once the session is durable; for a request id that this owner used before, the existing
        session.
        """
        ...

    async def get(self, session_id: str, caller: Caller) -> Session: ...

    async def list_sessions(self, caller: Caller, *, before: str, limit: int) -> Sequence[Session]:
        """Most recently changed first; `before` is the place of the session that precedes the page."""
        ...

    async def delete(self, session_id: str, caller: Caller) -> None:
        """Returns once the deletion is durable; the session's runs remain. WrongStateError (reason
        SESSION_BUSY) while one of them is unfinished.
        """
        ...

    async def messages(
        self, session_id: str, caller: Caller, *, after: int, limit: int
    ) -> Sequence[SessionMessage]:
        """Oldest first, after the message with that number; fewer than requested if they are long."""
        ...

    async def preview(self, session_id: str, caller: Caller) -> SessionContext:
        """The context that a model would see; waits for the engine, whose tokenizer counts the tokens."""
        ...


class MemoryCalls(Protocol):
    """Memory: the keys and JSON values of one user, each with its `uid`. Errors as specified by the Memory port."""

    async def write(self, uid: int, key: str, value: JsonValue) -> None: ...

    async def read(self, uid: int, key: str) -> JsonValue:
        """NotFoundError (reason KEY_NOT_FOUND) if the key does not exist."""
        ...

    async def sources(self, uid: int, keys: Sequence[str]) -> Mapping[str, FactSource]:
        """The sources of the facts that runs wrote, by key."""
        ...

    async def search(
        self, uid: int, prefix: str, *, after: str, limit: int
    ) -> Sequence[tuple[str, JsonValue]]:
        """Keys that start with `prefix`, sorted, with their values."""
        ...

    async def delete(self, uid: int, key: str) -> bool:
        """Returns whether the key existed."""
        ...


class PolicyCalls(Protocol):
    """The policy: what is in force, and decisions without consequences."""

    async def in_force(self) -> PolicyDescription: ...

    async def test(self, call: ToolCall, workspace: str, taint: tuple[str, ...], owner: Owner) -> DecidedCall:
        """The decision about the call as a step of a run. NotFoundError (reason TOOL_NOT_FOUND); InvalidInputError for
        arguments that name nothing, and for the workspace as in RunRequest.
        """
        ...

    async def replay(self, run_id: str, text: str, caller: Caller) -> PolicyReplay:
        """The calls of a run decided again by the policy of this text ("": the one in force). NotFoundError as in
        `RunCalls.get`; InvalidInputError (reason POLICY_INVALID).
        """
        ...


class ModelCalls(Protocol):
    """Models: generate text, and manage the loaded model."""

    def generate(self, request: LLMRequest, model: str, uid: int) -> AsyncIterator[LLMChunk]:
        """Chunks for this user as they arrive, the last with finish reason and usage, within the request's deadline.
        `model` "" is the chosen model. NotFoundError (reason MODEL_NOT_FOUND) for a model that is not in the
        catalogue, WrongStateError (MODEL_NOT_PRESENT) for one that is not downloaded.
        """
        ...

    async def embed(self, texts: Sequence[str], uid: int) -> Embeddings:
        """The vectors of the texts of this user, in order. WrongStateError (reason EMBEDDER_MISSING) if there is no embedding model."""
        ...

    async def list_models(self, *, after: str, limit: int) -> Sequence[ModelInfo]:
        """Sorted by name."""
        ...

    async def load(self, model: str) -> EngineSnapshot:
        """Chooses this model ("" for the default), starts loading it and returns immediately. NotFoundError
        (reason MODEL_NOT_FOUND) if the name is not in the catalogue.
        """
        ...

    async def unload(self) -> EngineSnapshot:
        """Frees the engine's memory; the next request loads the model again."""
        ...

    async def sleep(self) -> EngineSnapshot:
        """Like `unload`, but keeps the process if sleeping frees memory. WrongStateError (reason ENGINE_BUSY)
        if running requests do not finish in time.
        """
        ...

    async def wake(self) -> EngineSnapshot:
        """Starts waking the model and returns immediately."""
        ...


class DaemonCalls(Protocol):
    """The daemon itself."""

    async def status(self) -> DaemonSnapshot:
        """Always answers, also while starting and draining."""
        ...

    async def reload(self) -> ConfigChanges:
        """Rereads the configuration and applies the settings that can change at run time.

        InvalidInputError (reason CONFIG_INVALID) for an invalid file; nothing has changed then.
        """
        ...
