"""The agent: sessions of an editor are sessions of the daemon, prompts are runs."""

from collections.abc import Collection
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from acp import PROTOCOL_VERSION, schema
from acp.exceptions import RequestError
from acp.helpers import (
    update_agent_message_text,
    update_available_commands,
    update_user_message_text,
)
from acp.interfaces import Client as Editor

from aeon_cli.editor.prompts import ContentBlock, request_of
from aeon_cli.editor.turn import Turn
from aeon_cli.editor.updates import RunUpdates
from aeon_cli.release import installed_version
from aeon_cli.runs.questions import value_of
from aeon_cli.text.printable import shown_value
from aeond_client.async_client import AsyncClient
from aeond_client.calls.run_calls import RunOptions
from aeond_client.errors import AeondError, InvalidInputError, NoDaemonError, NotFoundError
from aeond_client.records.runs import Run, RunState, StepState
from aeond_client.waiting_runs import UNENDED, waiting_run
from aeond_client.watching.following import PATIENCE_SECONDS

FOLDER_LABEL = "acp.folder"
_COMMANDS = {
    "cancel": "Cancel the run that waits for you",
    "undo": "Take back what the last run of this session changed",
}


@dataclass
class _Session:
    """What the agent knows of a session: everything else is the daemon's."""

    folder: Path
    turn: Turn | None = None
    prompting: bool = False
    cancelled: bool = False
    left: set[str] = field(
        default_factory=set
    )  # runs whose turn ended before they did: their decisions are not asked again


class EditorAgent:
    """An agent of the Agent Client Protocol in front of the daemon. `async with` closes its connection.

    The daemon is looked for when it is first needed, so that an editor can start the agent before the daemon. Errors
    are JSON-RPC errors whose data has the `reason` of the daemon.
    """

    def __init__(self, socket: str = "", *, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._socket = socket
        self._patience_seconds = patience_seconds
        self._client: AsyncClient | None = None
        self._open = AsyncExitStack()
        self._sessions: dict[str, _Session] = {}
        self._editor: Editor | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    def on_connect(self, conn: Editor) -> None:
        """The library calls this once, before any request."""
        self._editor = conn

    # ------------------------------------------------------------ the protocol

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        return schema.InitializeResponse(
            protocol_version=min(protocol_version, PROTOCOL_VERSION) or PROTOCOL_VERSION,
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(embedded_context=True),
                session_capabilities=schema.SessionCapabilities(list=schema.SessionListCapabilities()),
            ),
            agent_info=schema.Implementation(name="aeond", title="aeond", version=installed_version()),
        )

    async def new_session(self, cwd: str, **_: Any) -> schema.NewSessionResponse:
        """A session of the daemon whose runs work in the editor's folder."""
        folder = _folder(cwd)
        try:
            session = await (await self._daemon()).create_session(labels={FOLDER_LABEL: str(folder)})
        except AeondError as error:
            raise _refused(error) from error
        self._sessions[session.session_id] = _Session(folder)
        await self._announce_commands(session.session_id)
        return schema.NewSessionResponse(session_id=session.session_id)

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> schema.LoadSessionResponse:
        """Shows the messages of an earlier session, and what one of its runs waits for: an open question is answered by
        the next prompt.
        """
        folder = _folder(cwd)
        try:
            client = await self._daemon()
            await client.get_session(session_id)
            messages = await client.list_messages(session_id)
            session = _Session(folder)
            waiting = await self._waiting_turn(client, session_id, session, session.left)
        except AeondError as error:
            raise _refused(error) from error
        self._sessions[session_id] = session
        for message in messages:
            shown = update_user_message_text if message.role == "user" else update_agent_message_text
            await self._shown().session_update(session_id=session_id, update=shown(message.text))
        if waiting is not None and waiting.question is not None:
            session.turn = waiting
            await waiting.ask_for_words(*waiting.question)
        elif waiting is not None:
            await self._say(
                session_id,
                "\n\nA run of this session waits for your decision. Your next message shows the request again, and is not"
                " a request itself; /cancel ends the run.",
            )
        await self._announce_commands(session_id)
        return schema.LoadSessionResponse()

    async def list_sessions(self, cwd: str | None = None, **_: Any) -> schema.ListSessionsResponse:
        """The sessions that editors began, of one folder or all, most recently changed first."""
        try:
            found = await (await self._daemon()).list_sessions(limit=200)
        except AeondError as error:
            raise _refused(error) from error
        return schema.ListSessionsResponse(
            sessions=[
                schema.SessionInfo(
                    session_id=one.session_id,
                    cwd=one.labels[FOLDER_LABEL],
                    title=one.title or None,
                    updated_at=datetime.fromtimestamp(one.changed_time, UTC).isoformat(),
                )
                for one in found
                if FOLDER_LABEL in one.labels and cwd in {None, one.labels[FOLDER_LABEL]}
            ]
        )

    async def prompt(self, session_id: str, prompt: list[ContentBlock], **_: Any) -> schema.PromptResponse:
        """Runs the prompt, or answers the question with which the last turn ended."""
        session = self._sessions.get(session_id)
        if session is None:
            raise _refused(NotFoundError("The session is not open: load it.", reason="SESSION_NOT_FOUND"))
        if session.prompting:
            raise _refused(InvalidInputError("A prompt of this session is in progress.", reason="BUSY"))
        session.prompting, session.cancelled = True, False
        try:
            text = request_of(prompt, session.folder)
            return schema.PromptResponse(stop_reason=await self._turn(session_id, session, text))
        except AeondError as error:
            raise _refused(error) from error
        finally:
            session.prompting = False
            if session.turn is not None and session.turn.question is None:
                session.turn = None

    async def cancel(self, session_id: str, **_: Any) -> None:
        session = self._sessions.get(session_id)
        if session is not None and session.prompting:
            session.cancelled = True
            if session.turn is not None:
                await session.turn.cancel()

    # ------------------------------------------------------------ turns

    async def _turn(self, session_id: str, session: _Session, text: str) -> schema.StopReason:
        client = await self._daemon()
        if text == "/undo":
            return await self._undo(client, session_id)
        asked = session.turn is not None  # here, and not of an earlier agent
        if session.turn is None:
            left = frozenset[str]() if text == "/cancel" else session.left
            session.turn = await self._waiting_turn(client, session_id, session, left)
        if text == "/cancel":
            return await self._cancel_waiting(client, session_id, session)
        if session.turn is not None and not asked:
            await self._say(
                session_id, "(An earlier run of this session waits for you; your message was not sent.)\n\n"
            )
            if session.turn.question is None:
                return await self._follow(session, session.turn)
            await session.turn.ask_for_words(*session.turn.question)
            return "end_turn"
        if session.turn is not None and session.turn.question is not None:
            run_id, question = session.turn.question
            still_open = (await client.get_run(run_id)).questions
            if any(one.question_id == question.question_id for one in still_open):
                try:
                    await client.answer_run(run_id, value_of(question, text), question.question_id)
                except InvalidInputError as error:
                    await self._say(session_id, f"{error.message}\n\n{question.prompt}")
                    return "end_turn"
                return await self._follow(session, session.turn)
            await self._say(session_id, "(The earlier question is closed; this is a new request.)\n\n")
        options = RunOptions(workspace=str(session.folder), session_id=session_id)
        run = await client.create_run(text, options)
        session.turn = await self._following(client, session_id, session, run.run_id)
        if session.cancelled:
            await client.cancel_run(run.run_id, "cancelled in the editor")
        return await self._follow(session, session.turn)

    async def _follow(self, session: _Session, turn: Turn) -> schema.StopReason:
        try:
            return await turn.follow()
        finally:
            if not turn.ended and turn.question is None:
                session.left.add(turn.run_id)

    async def _following(self, client: AsyncClient, session_id: str, session: _Session, run_id: str) -> Turn:
        effects = {tool.name: tool.effect for tool in await client.list_tools()}
        updates = RunUpdates(run_id, session.folder, effects)
        return Turn(
            client,
            self._shown(),
            session_id,
            run_id,
            updates,
            folder=session.folder,
            patience_seconds=self._patience_seconds,
        )

    async def _waiting_turn(
        self, client: AsyncClient, session_id: str, session: _Session, left: Collection[str]
    ) -> Turn | None:
        """The turn of a run of this session that waits for the user, itself or in a run below it, for an agent that was
        started after it began to wait. It has a `question` if that run asks one; the runs `left` count only then.
        """
        for line in await client.list_runs(states=UNENDED, session_id=session_id):
            run = await client.get_run(line.run_id)
            waiting = await waiting_run(client, run, _asks_in_an_editor)
            if waiting is not None and (waiting.questions or line.run_id not in left):
                turn = await self._following(client, session_id, session, line.run_id)
                if waiting.questions:
                    turn.question = (waiting.run_id, waiting.questions[0])
                return turn
        return None

    async def _cancel_waiting(
        self, client: AsyncClient, session_id: str, session: _Session
    ) -> schema.StopReason:
        if session.turn is None:
            await self._say(session_id, "No run of this session waits for you.")
            return "end_turn"
        await client.cancel_run(session.turn.run_id, "cancelled in the editor")
        return await self._follow(session, session.turn)

    async def _undo(self, client: AsyncClient, session_id: str) -> schema.StopReason:
        runs = await client.list_runs(session_id=session_id, limit=1)
        if not runs:
            await self._say(session_id, "This session has no run to take back.")
            return "end_turn"
        report = await client.undo_run(runs[0].run_id)
        lines = [f"- {one.outcome}: {one.target}" for one in report.undone]
        lines += [f"- not undone: {one.target}: {one.message}" for one in report.refused]
        await self._say(session_id, "\n".join(lines) or "The last run changed nothing.")
        return "end_turn"

    # ------------------------------------------------------------ both ends

    async def _daemon(self) -> AsyncClient:
        if self._client is None:
            self._client = await self._open.enter_async_context(AsyncClient(self._socket))
        return self._client

    def _shown(self) -> Editor:
        assert self._editor is not None, "the library connects before it sends requests"
        return self._editor

    async def _say(self, session_id: str, text: str) -> None:
        await self._shown().session_update(
            session_id=session_id, update=update_agent_message_text(shown_value(text))
        )

    async def _announce_commands(self, session_id: str) -> None:
        commands = [
            schema.AvailableCommand(name=name, description=words) for name, words in _COMMANDS.items()
        ]
        await self._shown().session_update(session_id=session_id, update=update_available_commands(commands))


def _asks_in_an_editor(run: Run) -> bool:
    """Whether the run waits for what an editor can ask."""
    interrupted = run.state is RunState.SUSPENDED and any(
        step.state is StepState.UNKNOWN for step in run.steps
    )
    return bool(run.questions or run.approvals) or interrupted


def _folder(cwd: str) -> Path:
    path = Path(cwd)
    if not path.is_absolute() or not path.is_dir():
        words = f"cwd must be the absolute path of a folder, not {cwd!r}."
        raise _refused(InvalidInputError(words, reason="INVALID_WORKSPACE", field="cwd"))
    return path


def _refused(error: AeondError) -> RequestError:
    """The error for the editor, which shows the message to the user."""
    data = {"reason": error.reason, "field": error.field, "error_id": error.error_id}
    shown = {name: value for name, value in data.items() if value}
    match error:
        case InvalidInputError():
            return RequestError(-32602, error.message, shown)
        case NotFoundError():
            return RequestError(-32002, error.message, shown)
        case NoDaemonError():
            return RequestError(-32603, f"{error.message} Start one: systemctl --user start aeond", shown)
        case _:
            return RequestError(-32603, error.message, shown)
