"""aeonctl acp with the protocol's own library as the editor, against the real daemon."""

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from acp import image_block
from acp.exceptions import RequestError
from acp.schema import AgentMessageChunk, AgentThoughtChunk, FileEditToolCallContent, UserMessageChunk

from aeond_client.client import Client
from aeond_client.records.runs import RunState
from tests.support.editor import DEADLINE_SECONDS, editing
from tests.support.stages import News, Stage, planned

NOTES = {"tool": "write_file", "arguments": {"path": "notes.txt", "content": "blue\n"}}
ASK = {"tool": "request_user_input", "arguments": {"prompt": "Which colour?"}}
CHOOSE = {"tool": "request_user_input", "arguments": {"prompt": "Which one?", "options": ["red", "blue"]}}
PICTURE = image_block("", "image/png")
HELLO = "Hello, dear reader of streams."
SCRIPT = {
    "rules": [
        {"contains": "reply only: @tools", "text": "@tools"},
        planned("Say hello", {"tool": "echo", "arguments": {"text": "hello"}}),
        planned("Write my notes", NOTES),
        planned("Note it and greet me", NOTES),
        planned("Ask me for words", ASK),
        planned("Let me choose", CHOOSE),
        planned("Wait at the gate", {"tool": "put", "arguments": {"gate": "GATE", "seconds": 0}}),
        {"pattern": "Say hello|Note it and greet me", "text": HELLO},
        {"text": "All done."},
    ]
}


SETTINGS = {"policy": {"profile": "ask"}}


@pytest.fixture
def news(shared: Stage) -> Iterator[News]:
    """The runs of the test."""
    with Client(shared.socket) as client:
        yield News(client)


async def test_a_change_is_shown_approved_and_ticked_off(shared: Stage) -> None:
    """A prompt becomes a plan whose entry is ticked off, a permission request with the change and all scopes, a tool
    call with its place and difference, and an answer; /undo takes the change back."""
    async with editing(shared.socket) as editor:
        session = await editor.session(shared.workspace)
        editor.choose = lambda _call, _options: "run"
        assert await editor.prompt(session, "Write my notes") == "end_turn"
        ((asked, options),) = editor.asked
        assert [one.option_id for one in options] == ["once", "run", "folder", "deny"]
        assert [one.kind for one in options][-1] == "reject_once"
        assert any(
            isinstance(part, FileEditToolCallContent) and part.new_text == "blue"
            for part in asked.content or []
        )
        notes = shared.workspace / "notes.txt"
        assert notes.read_text() == "blue\n"
        assert editor.plans[0] == ["pending"]
        assert ["in_progress"] in editor.plans
        assert editor.plans[-1] == ["completed"]
        first, last = editor.calls[0], editor.calls[-1]
        assert (first.kind, first.status, last.status) == ("edit", "in_progress", "completed")
        assert [place.path for place in last.locations or []] == [str(notes)]
        (change,) = [part for part in last.content or [] if isinstance(part, FileEditToolCallContent)]
        assert (change.old_text, change.new_text) == (None, "blue\n")
        assert "created: notes.txt" in editor.text
        await editor.prompt(session, "/undo")
        assert not notes.exists()


async def test_a_dismissed_permission_is_a_denial(shared: Stage) -> None:
    """An editor that dismisses the request gets the run's end without the change."""
    async with editing(shared.socket) as editor:
        session = await editor.session(shared.workspace)
        assert await editor.prompt(session, "Write my notes") == "end_turn"
        assert editor.calls[-1].status == "failed"
        assert editor.plans[-1] == ["completed"]
        assert not (shared.workspace / "notes.txt").exists()


async def test_a_choice_is_a_permission_request(shared: Stage, news: News) -> None:
    """A question with options is asked at once, and the chosen option is the answer."""
    async with editing(shared.socket) as editor:
        session = await editor.session(shared.workspace)
        editor.choose = lambda _call, options: options[1].option_id
        assert await editor.prompt(session, "Let me choose") == "end_turn"
        ((asked, options),) = editor.asked
        assert (asked.title, [one.name for one in options]) == ("Which one?", ["red", "blue"])
    (line,) = news.runs
    assert news.daemon.get_run(line.run_id).steps[0].output == "blue"


@pytest.mark.parametrize("again", [False, True], ids=["same agent", "new agent"])
async def test_the_next_prompt_answers_a_question_for_words(shared: Stage, news: News, again: bool) -> None:
    """The turn ends with the question and the next prompt is the answer, also to an agent that was started after it."""
    async with editing(shared.socket) as editor:
        session = await editor.session(shared.workspace)
        assert await editor.prompt(session, "Ask me for words") == "end_turn"
        assert "Which colour?" in editor.text
        if not again:
            assert await editor.prompt(session, "green") == "end_turn"
    if again:
        async with editing(shared.socket) as editor:
            await editor.connection.load_session(
                cwd=str(shared.workspace), session_id=session, mcp_servers=[]
            )
            asked = [one.content.text for one in editor.updates if isinstance(one, UserMessageChunk)]
            assert asked == ["Ask me for words"]
            assert await editor.prompt(session, "green") == "end_turn"
            listed = await editor.connection.list_sessions(cwd=str(shared.workspace))
            assert [one.session_id for one in listed.sessions] == [session]
    (line,) = news.runs
    run = news.daemon.get_run(line.run_id)
    assert (run.state, run.steps[0].output) == (RunState.SUCCEEDED, "green")


async def test_a_killed_daemon_is_outlasted_and_a_cancelled_turn_ends(stage: Stage) -> None:
    """The turn goes on after SIGKILL and a restart of the daemon, each step is shown once, and cancel ends it."""
    async with editing(stage.socket) as editor, anyio.create_task_group() as tasks:
        session = await editor.session(stage.workspace)
        ends: list[str] = []

        async def ask() -> None:
            ends.append(await editor.prompt(session, "Write my notes"))

        editor.hold = anyio.Event()
        tasks.start_soon(ask)
        await editor.until(lambda: len(editor.asked) == 1)
        await anyio.to_thread.run_sync(stage.daemon.restart)
        await editor.connection.cancel(session_id=session)
        editor.hold.set()
    assert ends == ["cancelled"]
    starts = [call for call in editor.calls if call.session_update == "tool_call"]
    assert len(starts) == 1
    assert not (stage.workspace / "notes.txt").exists()


async def test_the_answer_is_streamed(shared: Stage) -> None:
    """The answer arrives piece by piece, and once."""
    async with editing(shared.socket) as editor:
        session = await editor.session(shared.workspace)
        # The editor that was asked for permission follows the run before its answer is written.
        editor.choose = lambda _call, _options: "once"
        assert await editor.prompt(session, "Note it and greet me") == "end_turn"
        pieces = [one for one in editor.updates if isinstance(one, AgentMessageChunk)]
        first = getattr(pieces[0].content, "text", "")
        assert 0 < len(first) < len(HELLO)
        assert editor.text.startswith(HELLO)
        assert editor.text.count(HELLO) == 1


async def test_a_daemon_that_stays_away_ends_the_turn(stage: Stage) -> None:
    """The prompt fails with the daemon's reason after the patience, and the next one works with the daemon that is back."""
    async with editing(stage.socket, "--patience", "1") as editor, anyio.create_task_group() as tasks:
        session = await editor.session(stage.workspace)
        ends: list[RequestError] = []
        ended = anyio.Event()

        async def ask() -> None:
            with pytest.raises(RequestError) as failed:
                await editor.prompt(session, "Write my notes")
            ends.append(failed.value)
            ended.set()

        editor.hold = anyio.Event()
        tasks.start_soon(ask)
        await editor.until(lambda: len(editor.asked) == 1)
        await anyio.to_thread.run_sync(stage.daemon.kill)
        await editor.until(lambda: any(isinstance(one, AgentThoughtChunk) for one in editor.updates))
        with anyio.fail_after(DEADLINE_SECONDS):
            await ended.wait()
        assert (ends[0].code, (ends[0].data or {})["reason"]) == (-32603, "NO_DAEMON")
        editor.hold.set()
        await anyio.to_thread.run_sync(stage.daemon.start)
        assert await editor.prompt(session, "Say hello") == "end_turn"
        assert editor.text.endswith(HELLO)


async def test_a_session_has_one_prompt_at_a_time(shared: Stage) -> None:
    """A second prompt is refused while the first one is in progress, and cancelling an unknown session does nothing."""
    async with editing(shared.socket) as editor, anyio.create_task_group() as tasks:
        session = await editor.session(shared.workspace)
        editor.hold = anyio.Event()
        tasks.start_soon(editor.prompt, session, "Write my notes")
        await editor.until(lambda: len(editor.asked) == 1)
        await editor.connection.cancel(session_id="none")
        with pytest.raises(RequestError) as refused:
            await editor.prompt(session, "Say hello")
        assert (refused.value.code, (refused.value.data or {})["reason"]) == (-32602, "BUSY")
        editor.hold.set()


async def test_errors_say_what_is_wrong(shared: Stage, tmp_path: Path) -> None:
    """Bad folders, unknown sessions, prompts without text, unknown methods and a missing daemon are errors with a reason."""
    async with editing(shared.socket) as editor:
        session = await editor.session(shared.workspace)
        connection = editor.connection
        for attempt, reason in (
            (connection.new_session(cwd="relative", mcp_servers=[]), "INVALID_WORKSPACE"),
            (connection.load_session(cwd="/tmp", session_id="none", mcp_servers=[]), "SESSION_NOT_FOUND"),
            (connection.prompt(session_id="none", prompt=[]), "SESSION_NOT_FOUND"),
            (connection.prompt(session_id=session, prompt=[]), "EMPTY_TEXT"),
            (connection.prompt(session_id=session, prompt=[PICTURE]), "UNSUPPORTED_CONTENT"),
            (connection.set_session_mode(session_id=session, mode_id="none"), "UNKNOWN_METHOD"),
        ):
            with pytest.raises(RequestError) as refused:
                await attempt
            assert (refused.value.data or {})["reason"] == reason
    async with editing(str(tmp_path / "none.sock")) as editor:
        with pytest.raises(RequestError, match="systemctl --user start aeond") as refused:
            await editor.session(shared.workspace)
        assert (refused.value.data or {})["reason"] == "NO_DAEMON"
