"""What the server asks of the service layer, in domain types: the seam between the two.

The service implements these structurally and imports nothing from here. All of them raise the classes
of `aeond.errors` and nothing else on purpose; the server turns each class into one gRPC code. Arguments
arrive checked for form (lengths, known enum values, JSON within bounds); whether they make sense is the
service's to judge. While the daemon starts or drains, calls that begin work raise UnavailableError
(reason STARTING or DRAINING); those that only read are answered as long as they can be.

Lists are paged by the key of the last item of the page before ("" for the first page): what comes after
it, at most `limit` items, fewer only at the end. The server asks for one more than it shows, to know
whether there is a next page, and makes the opaque token.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol

from aeond.domain.budgets import BudgetRequest
from aeond.domain.daemons import ConfigChanges, DaemonSnapshot
from aeond.domain.events import Event, LiveUpdate
from aeond.domain.forks import ForkRequest
from aeond.domain.llm import EngineSnapshot, LLMChunk, LLMRequest, ModelInfo
from aeond.domain.plans import Plan
from aeond.domain.runs import Owner, Resolution, RunRequest, RunSnapshot, RunState
from aeond.domain.sessions import Session, SessionContext, SessionMessage
from aeond.domain.tools import ToolCall, ToolResult, ToolSpec
from aeond.domain.values import JsonValue
from aeond.ports import RunSummary


class RunCalls(Protocol):
    """Runs: create, look, watch, stop, decide."""

    async def create(self, request: RunRequest, plan: Plan | None, budget: BudgetRequest) -> RunSnapshot:
        """Returns once the run's RunCreated is durable; the work goes on by itself.

        With a request id that this owner used before, the run of that time, unchanged and as it is now;
        AlreadyExistsError (reason REQUEST_ID_REUSED) when that was another request.
        InvalidInputError: a plan that does not validate (`field` is the path in it, such as
        `plan.steps[2].depends_on`), a workspace that is no usable folder. OverloadedError: too many runs
        wait (reason TOO_MANY_RUNS). NotFoundError (MODEL_NOT_FOUND) for a model that the catalogue lacks,
        WrongStateError (MODEL_NOT_PRESENT) for one that is not on this machine.
        """
        ...

    async def get(self, run_id: str) -> RunSnapshot:
        """NotFoundError (reason RUN_NOT_FOUND) when there is no such run."""
        ...

    async def list_runs(
        self, *, states: frozenset[RunState], session_id: str, parent_run_id: str, before: str, limit: int
    ) -> Sequence[RunSummary]:
        """Newest first; `before` is the run id that the page comes after; no states means all; a session
        id keeps the runs of that session only, a parent those that it started.
        """
        ...

    async def cancel(self, run_id: str, owner: Owner, reason: str) -> RunSnapshot:
        """Returns once the wish is durable; a run that has ended is returned as it is."""
        ...

    async def decide(self, run_id: str, step_id: str, resolution: Resolution, owner: Owner) -> RunSnapshot:
        """Resolves an UNKNOWN step (or, with no step id, a run suspended after crashes); returns once
        that is durable. WrongStateError (reason NOTHING_TO_DECIDE) when nothing waits for this decision.
        """
        ...

    async def fork(self, asked: ForkRequest) -> RunSnapshot:
        """Returns once the fork's shared past is durable; it goes on by itself. With a request id that
        this owner used for a fork of this run before, that fork as it is now.

        NotFoundError as `get`; InvalidInputError: an event that the run has not reached (SEQ_AHEAD) or
        after its answer (FORK_TOO_LATE), a plan as in `create`, a plan or bounds that the past does not fit
        (FORK_DOES_NOT_FIT); for a model what `create` raises.
        """
        ...

    def replay(self, run_id: str, until_seq: int) -> AsyncIterator[Sequence[Event]]:
        """The run again from its record, in batches, up to `until_seq` (0: all); touches nothing.

        NotFoundError as `get`; InvalidInputError (reason SEQ_AHEAD, field `until_seq`) for an event that it
        has not reached; ReplayError (reason REPLAY_MISMATCH) at the first event that comes out otherwise.
        """
        ...

    async def answer(self, run_id: str, question_id: str, answer: JsonValue, owner: Owner) -> RunSnapshot:
        """Answers a question ("": the only open one); returns once that is durable. InvalidInputError:
        the answer does not fit it (ANSWER_INVALID), or it is not said which is meant (QUESTION_AMBIGUOUS).
        WrongStateError (QUESTION_NOT_OPEN): not asked, or answered already: the first answer counts.
        """
        ...

    def watch_tree(
        self, run_id: str, after_seq: int, child_seqs: Mapping[str, int]
    ) -> AsyncIterator[Sequence[Event | LiveUpdate]]:
        """As `watch`, with the events of all runs below this one, each run's gapless and each once; ends
        when all of them have ended. `child_seqs` says where to go on in runs below; one that is not named
        is given from its first event, unless its parent's ChildRunEnded is at or before the parent's own
        number: nothing of a run comes after that event.
        """
        ...

    def watch(self, run_id: str, after_seq: int) -> AsyncIterator[Sequence[Event | LiveUpdate]]:
        """The run's events after `after_seq`, gapless and each once, in batches of what is at hand (never
        empty, at most 256 items); in between, live, the text and progress of the moment. To a watcher who
        comes late the text so far is given first. Ends after RunEnded. NotFoundError as `get`;
        InvalidInputError (reason SEQ_AHEAD, field `after_seq`) for a seq that the run has not reached.

        The server closes the iterator (`aclose`) when the client goes or the daemon drains.
        """
        ...


class ToolCalls(Protocol):
    """Tools: look, and one guarded call."""

    async def list_tools(self, *, after: str, limit: int) -> Sequence[ToolSpec]:
        """Sorted by name."""
        ...

    async def get(self, name: str) -> ToolSpec:
        """NotFoundError (reason TOOL_NOT_FOUND) when there is no such tool."""
        ...

    async def invoke(self, call: ToolCall, workspace: str, owner: Owner) -> ToolResult:
        """Runs the tool under the same guard as a step's call. A tool that fails is a result, not an
        error; NotFoundError as `get`. `workspace` as in RunRequest.
        """
        ...


class SessionCalls(Protocol):
    """Sessions: make, look, list, delete. All but `create` and `list_sessions` raise NotFoundError (reason
    SESSION_NOT_FOUND) when there is no such session."""

    async def create(self, title: str, labels: Mapping[str, str], request_id: str, owner: Owner) -> Session:
        """Returns once the session is durable; with a request id that this owner used before, that one."""
        ...

    async def get(self, session_id: str) -> Session: ...

    async def list_sessions(self, *, before: str, limit: int) -> Sequence[Session]:
        """The one changed last first; `before` is the place of the session that the page comes after."""
        ...

    async def delete(self, session_id: str) -> None:
        """Returns once that is durable; its runs stay. WrongStateError (reason SESSION_BUSY) while one of
        them has not ended.
        """
        ...

    async def messages(self, session_id: str, *, after: int, limit: int) -> Sequence[SessionMessage]:
        """Oldest first, after the message with that number; fewer than asked for where they are long."""
        ...

    async def preview(self, session_id: str) -> SessionContext:
        """What a model would be told of the session; waits for the engine, whose tokenizer counts."""
        ...


class MemoryCalls(Protocol):
    """Memory: keys and JSON values. Errors as the Memory port states them."""

    async def write(self, key: str, value: JsonValue) -> None: ...

    async def read(self, key: str) -> JsonValue:
        """NotFoundError (reason KEY_NOT_FOUND) when there is no such key."""
        ...

    async def search(self, prefix: str, *, after: str, limit: int) -> Sequence[tuple[str, JsonValue]]:
        """Keys that start with `prefix`, sorted, with their values."""
        ...

    async def delete(self, key: str) -> bool:
        """Whether there was such a key."""
        ...


class ModelCalls(Protocol):
    """Models: text from any of them, and which one is resident."""

    def generate(self, request: LLMRequest, model: str) -> AsyncIterator[LLMChunk]:
        """Chunks as they come, the last with finish reason and usage, all within the request's deadline.
        `model` is "" for the chosen one. NotFoundError (reason MODEL_NOT_FOUND) for one that the catalogue
        lacks, WrongStateError (MODEL_NOT_PRESENT) for one that is not on this machine.
        """
        ...

    async def list_models(self, *, after: str, limit: int) -> Sequence[ModelInfo]:
        """Sorted by name."""
        ...

    async def load(self, model: str) -> EngineSnapshot:
        """Chooses this model ("" for the default), begins to make it resident and returns at once.
        NotFoundError (reason MODEL_NOT_FOUND) for a name the catalogue lacks.
        """
        ...

    async def unload(self) -> EngineSnapshot:
        """Gives the engine's memory back; the next request loads it again."""
        ...

    async def sleep(self) -> EngineSnapshot:
        """The same, keeping the engine where that frees memory. WrongStateError (reason ENGINE_BUSY) when
        requests are at work for long."""
        ...

    async def wake(self) -> EngineSnapshot:
        """Begins to wake it and returns at once."""
        ...


class DaemonCalls(Protocol):
    """The daemon itself."""

    async def status(self) -> DaemonSnapshot:
        """Always answers, also while starting and draining."""
        ...

    async def reload(self) -> ConfigChanges:
        """Reads the configuration again and puts in force what can change live.

        InvalidInputError (reason CONFIG_INVALID) for a file that is wrong: nothing has changed then.
        """
        ...
