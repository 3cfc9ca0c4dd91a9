# Generated from protos/ by `make proto`; never edited.
"""The client for programs without an event loop."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any

from aeond_client.calls import other_calls, run_calls, session_calls
from aeond_client.calls.run_calls import ForkOptions, RunOptions
from aeond_client.connection.connection import Connection
from aeond_client.connection.waiting import answer_of, may_need_a_person, waits
from aeond_client.events import Event
from aeond_client.records.daemon import ConfigChanges, DaemonStatus
from aeond_client.records.memory import MemoryEntry
from aeond_client.records.models import Embeddings, Engine, ModelInfo, TextPiece
from aeond_client.records.policy import HypotheticalDecision, PolicyInForce, PolicyReplay
from aeond_client.records.runs import Answer, Resolution, Run, RunState, RunSummary, UndoReport
from aeond_client.records.sessions import Session, SessionContext, SessionMessage
from aeond_client.records.tools import ToolResult, ToolSpec
from aeond_client.watching.following import PATIENCE_SECONDS, Follower, OutageListener, unheard
from aeond_client.watching.watch import Watch


class Client(Connection):
    """A connection to the daemon: `with Client() as client: ...`.

    The socket is `socket` if given, else AEOND_SOCKET, else that of the user's daemon, else that of the
    system's. If no daemon is listening, entering raises NoDaemonError with the paths that were tried. Every
    call has a deadline, at most `most_seconds`. Calls that are safe to repeat are retried while the daemon is
    away, as configured by `retries`. Methods deliberately raise only the classes of `aeond_client.errors`.
    """

    # ------------------------------------------------------------ simple requests

    def ask(
        self,
        text: str,
        options: RunOptions | None = None,
        *,
        patience_seconds: float = PATIENCE_SECONDS,
        on_outage: OutageListener = unheard,
    ) -> Iterator[Event]:
        """Creates a run and yields its events up to the last one; leaving the loop does not stop the run."""
        run = self.create_run(text, options)
        with self.watch(run.run_id, patience_seconds=patience_seconds, on_outage=on_outage) as events:
            yield from events

    def run(
        self, text: str, options: RunOptions | None = None, *, patience_seconds: float = PATIENCE_SECONDS
    ) -> Answer:
        """Creates a run and returns its answer; NoAnswerError if it ends without one, or waits for a person."""
        run = self.create_run(text, options)
        wanted = run.run_id
        with self.watch(wanted, children=True, patience_seconds=patience_seconds) as events:
            for event in events:
                if may_need_a_person(event) and waits(self.get_run(event.run_id)):
                    wanted = event.run_id  # this run, or one that it started, needs a person to continue
                    break
        return answer_of(self.get_run(wanted))

    # ------------------------------------------------------------ runs

    def create_run(self, text: str, options: RunOptions | None = None, *, request_id: str = "") -> Run:
        """Returns once the run is durable. Repeating the call with the same request id returns the same run;
        without one, a new id is generated, so that internal retries are safe.
        """
        return self._make(
            run_calls.create_run(text, request_id or str(uuid.uuid4()), options or RunOptions())
        )

    def get_run(self, run_id: str) -> Run:
        return self._make(run_calls.get_run(run_id))

    def list_runs(
        self,
        *,
        states: Iterable[RunState] = (),
        session_id: str = "",
        parent_run_id: str = "",
        limit: int = 50,
    ) -> tuple[RunSummary, ...]:
        """Newest first; no states means all, `parent_run_id` selects the runs that this run started."""
        return self._list(run_calls.list_runs(states, session_id, parent_run_id), limit)

    def cancel_run(self, run_id: str, reason: str = "") -> Run:
        """Returns once the cancellation request is durable; a run that has ended is returned unchanged."""
        return self._make(run_calls.cancel_run(run_id, reason))

    def decide_run(self, run_id: str, resolution: Resolution, step_id: str = "") -> Run:
        """Resolves an UNKNOWN step or, without a step, a run suspended after crashes."""
        return self._make(run_calls.decide_run(run_id, resolution, step_id))

    def decide_approval(
        self, run_id: str, approval_id: str, digest: str, approved: bool, scope: str = "once"
    ) -> Run:
        """Allows or denies calls that wait for approval; the first decision counts. `digest` is that of the approval
        as it was shown, `scope` one of its scopes. WrongStateError (reason NOTHING_TO_DECIDE) if it is not open,
        InvalidInputError (DIGEST_MISMATCH, SCOPE_NOT_OFFERED).
        """
        return self._make(run_calls.decide_approval(run_id, approval_id, digest, approved, scope))

    def answer_run(self, run_id: str, answer: Any, question_id: str = "") -> Run:
        """Answers a question (the only open one if none is given) with one of its options, or with JSON that
        satisfies its schema. InvalidInputError (reason ANSWER_INVALID) if the answer does not match;
        WrongStateError (QUESTION_NOT_OPEN) if the question was answered already or never asked.
        """
        return self._make(run_calls.answer_run(run_id, answer, question_id))

    def fork_run(
        self, run_id: str, after_seq: int = 0, options: ForkOptions | None = None, *, request_id: str = ""
    ) -> Run:
        """Creates a run that copies the run's events up to that one (0: only its creation) and continues from
        there. Repeating the call with the same request id returns the same fork.
        """
        chosen, name = options or ForkOptions(), request_id or str(uuid.uuid4())
        return self._make(run_calls.fork_run(run_id, after_seq, chosen, name))

    def replay_run(self, run_id: str, until_seq: int = 0) -> Iterator[Event]:
        """Replays the run from its record, without model or tools, up to that event (0: all). DataLossError
        (reason REPLAY_MISMATCH) at the first event where record and code differ.
        """
        with closing(self._stream(run_calls.replay_run(run_id, until_seq))) as replies:
            for events in replies:
                yield from events

    def undo_run(self, run_id: str) -> UndoReport:
        """Takes back what an ended run changed: files and facts. A target that was changed since is left alone and
        reported. WrongStateError (reason RUN_NOT_ENDED) if the run has not ended.
        """
        return self._make(run_calls.undo_run(run_id))

    def delete_run(self, run_id: str) -> None:
        """Deletes an ended run with its events and the runs that it started. WrongStateError if it has not ended (reason
        RUN_NOT_ENDED), if another run started it (RUN_HAS_PARENT), or if its session still exists (RUN_IN_SESSION).
        """
        self._make(run_calls.delete_run(run_id))

    def watch(
        self,
        run_id: str,
        after_seq: int = 0,
        *,
        children: bool = False,
        patience_seconds: float = PATIENCE_SECONDS,
        on_outage: OutageListener = unheard,
    ) -> Watch:
        """The events after `after_seq`, past and future; with `children` also those of all runs below. See
        Watch. `patience_seconds` limits the wait for a lost daemon; `on_outage` hears of each new attempt.
        """
        follower = Follower(
            run_id,
            after_seq=after_seq,
            children=children,
            patience_seconds=patience_seconds,
            on_outage=on_outage,
        )
        return Watch(follower, self._streams, self.socket.path, lambda: self._control is not None)

    # ------------------------------------------------------------ sessions

    def create_session(
        self, title: str = "", labels: dict[str, str] | None = None, *, request_id: str = ""
    ) -> Session:
        """Returns once the session is durable. The first request becomes the title of a session without one.
        Request ids work as in `create_run`.
        """
        return self._make(session_calls.create_session(title, labels or {}, request_id or str(uuid.uuid4())))

    def get_session(self, session_id: str) -> Session:
        return self._make(session_calls.get_session(session_id))

    def list_sessions(self, limit: int = 50) -> tuple[Session, ...]:
        """Most recently changed first."""
        return self._list(session_calls.list_sessions(), limit)

    def delete_session(self, session_id: str) -> None:
        """Deletes the session with its messages; its runs remain. WrongStateError while one is unfinished."""
        self._make(session_calls.delete_session(session_id))

    def list_messages(self, session_id: str, limit: int = 1_000) -> tuple[SessionMessage, ...]:
        """The messages, oldest first."""
        return self._list(session_calls.list_messages(session_id), limit)

    def preview_context(self, session_id: str) -> SessionContext:
        """The context that a model would see now; waits for an engine that is starting."""
        return self._make(session_calls.preview_context(session_id))

    # ------------------------------------------------------------ tools, memory, models, daemon

    def list_tools(self, limit: int = 1_000) -> tuple[ToolSpec, ...]:
        """Sorted by name."""
        return self._list(other_calls.list_tools(), limit)

    def get_tool(self, name: str) -> ToolSpec:
        return self._make(other_calls.get_tool(name))

    def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        *,
        workspace: str = "",
        timeout_seconds: float = 120.0,
    ) -> ToolResult:
        """Calls a tool under the usual checks. A failing tool is a result; no call is repeated by itself."""
        return self._make(other_calls.call_tool(name, arguments or {}, workspace, timeout_seconds))

    def write_memory(self, key: str, value: Any, *, uid: int | None = None) -> None:
        """Sets the value of a key. An administrator may name another user by `uid`, here and in the calls below."""
        self._make(other_calls.write_memory(key, value, uid))

    def read_memory(self, key: str, *, uid: int | None = None) -> Any:
        """NotFoundError if the key does not exist."""
        fact = self.read_fact(key, uid=uid)
        return fact.value

    def search_memory(
        self, prefix: str = "", limit: int = 1_000, *, uid: int | None = None
    ) -> tuple[tuple[str, Any], ...]:
        """Keys that start with the prefix, sorted, with their values."""
        facts = self.search_facts(prefix, limit, uid=uid)
        return tuple((fact.key, fact.value) for fact in facts)

    def read_fact(self, key: str, *, uid: int | None = None) -> MemoryEntry:
        """The value with the run that wrote it and its untrusted sources. NotFoundError if the key does not exist."""
        return self._make(other_calls.read_fact(key, uid))

    def search_facts(
        self, prefix: str = "", limit: int = 1_000, *, uid: int | None = None
    ) -> tuple[MemoryEntry, ...]:
        """As `search_memory`, with the run that wrote each fact and its untrusted sources."""
        return self._list(other_calls.search_facts(prefix, uid), limit)

    def delete_memory(self, key: str, *, uid: int | None = None) -> bool:
        """Returns whether the key existed."""
        return self._make(other_calls.delete_memory(key, uid))

    def get_policy(self) -> PolicyInForce:
        """The policy in force with its rules."""
        return self._make(other_calls.get_policy())

    def test_policy(
        self, tool: str, arguments: dict[str, Any], *, workspace: str = "", taint: tuple[str, ...] = ()
    ) -> HypotheticalDecision:
        """The decision about a call as a step of a run with this taint. Nothing is carried out."""
        return self._make(other_calls.test_policy(tool, arguments, workspace, taint))

    def replay_policy(self, run_id: str, policy: str = "") -> PolicyReplay:
        """The calls of a past run, decided again by the text of a policy file ("": by the policy in force)."""
        return self._make(other_calls.replay_policy(run_id, policy))

    def list_models(self, limit: int = 1_000) -> tuple[ModelInfo, ...]:
        """Sorted by name."""
        return self._list(other_calls.list_models(), limit)

    def load_model(self, name: str = "") -> Engine:
        """Chooses the model for requests that name none ("": the default), and starts loading it."""
        return self._make(other_calls.load_model(name))

    def unload_model(self) -> Engine:
        """Frees the engine's memory; the next request loads the model again."""
        return self._make(other_calls.unload_model())

    def sleep_model(self) -> Engine:
        """Like `unload_model`, but keeps the process (`asleep`) where sleeping frees memory."""
        return self._make(other_calls.sleep_model())

    def wake_model(self) -> Engine:
        """Starts waking or loading the model and returns immediately."""
        return self._make(other_calls.wake_model())

    def generate(
        self,
        text: str,
        *,
        system: str = "",
        max_tokens: int = 512,
        temperature: float = 0.0,
        schema: dict[str, Any] | None = None,
        timeout_seconds: float = 300.0,
        model: str = "",
    ) -> Iterator[TextPiece]:
        """Calls a model directly ("": the chosen one): no plan, no tools, no journal."""
        said = [("system", system)] if system else []
        return self.chat(
            [*said, ("user", text)],
            max_tokens=max_tokens,
            temperature=temperature,
            schema=schema,
            timeout_seconds=timeout_seconds,
            model=model,
        )

    def chat(
        self,
        messages: Sequence[tuple[str, str]],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        schema: dict[str, Any] | None = None,
        timeout_seconds: float = 300.0,
        model: str = "",
        stop: Sequence[str] = (),
        seed: int | None = None,
    ) -> Iterator[TextPiece]:
        """Calls a model directly with a conversation: messages of the roles user, agent, system or tool, each with its
        text; the last one is answered. InvalidInputError for another role.
        """
        call = other_calls.generate(
            messages,
            max_tokens=max_tokens,
            temperature=temperature,
            schema=schema,
            seconds=timeout_seconds,
            model=model,
            stop=stop,
            seed=seed,
        )
        with closing(self._stream(call)) as pieces:
            yield from pieces

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """The vectors of the texts, at most 512 of at most 4,000 characters; without texts only the name of the model.
        WrongStateError (reason EMBEDDER_MISSING) if the daemon has no embedding model.
        """
        return self._make(other_calls.embed(texts))

    def get_status(self) -> DaemonStatus:
        return self._make(other_calls.get_status())

    def reload_config(self) -> ConfigChanges:
        """Makes the daemon reread its configuration. InvalidInputError (reason CONFIG_INVALID) if the file is
        invalid; nothing has changed then.
        """
        return self._make(other_calls.reload_config())
