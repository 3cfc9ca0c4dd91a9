"""aeonctl acp after a restart: what a run of the session waits for is shown again, and no other message answers it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from acp.exceptions import RequestError

from aeond_client.calls.run_calls import RunOptions
from aeond_client.client import Client
from aeond_client.connection.waiting import may_need_a_person
from aeond_client.records.runs import Run, RunState
from tests.support.editor import Editor, editing
from tests.support.poem import POEM
from tests.support.stages import Stage, planned, staged

SCRIPT = {
    "rules": [
        planned("Write my notes", {"tool": "write_file", "arguments": {"path": "notes.txt", "content": "b"}}),
        planned("Ask me for words", {"tool": "request_user_input", "arguments": {"prompt": "Which colour?"}}),
        planned("Order verses", {"tool": "poem", "arguments": {"subject": "snow"}}),
        planned("subject:", {"tool": "request_user_input", "arguments": {"prompt": "Which mood?"}}),
        planned(
            "Let me choose",
            {
                "tool": "request_user_input",
                "arguments": {"prompt": "Which one?", "options": ["red", "blue"]},
            },
        ),
        {"text": "All done."},
    ]
}


@pytest.fixture
def stage(folder: Path) -> Iterator[Stage]:
    """A daemon that asks before it changes a file, with a template whose run asks a question."""
    (folder / "templates").mkdir()
    (folder / "templates" / "poem.toml").write_text(POEM)
    tools = {"templates": [str(folder / "templates")], "subtasks": ["poem"]}
    with staged(folder, {"policy": {"profile": "ask"}, "tools": tools}, SCRIPT) as stage:
        yield stage


def begun(stage: Stage, session: str, text: str) -> str:
    """The id of a run of the session that another client began, once it waits for a person, itself or below it."""
    with Client(stage.socket) as client:
        run = client.create_run(text, RunOptions(workspace=str(stage.workspace), session_id=session))
        with client.watch(run.run_id, children=True) as events:
            next(event for event in events if may_need_a_person(event))
        return run.run_id


def run_of(stage: Stage, run_id: str) -> Run:
    with Client(stage.socket) as client:
        return client.get_run(run_id)


async def loaded(editor: Editor, stage: Stage, session: str) -> None:
    await editor.connection.load_session(cwd=str(stage.workspace), session_id=session, mcp_servers=[])


@pytest.mark.parametrize(
    ("text", "question"), [("Ask me for words", "Which colour?"), ("Order verses", "Which mood?")]
)
async def test_a_loaded_session_shows_its_open_question(stage: Stage, text: str, question: str) -> None:
    """The question of a run of the session, or of a run below it, is shown on loading, and the next prompt answers it."""
    async with editing(stage.socket) as editor:
        session = await editor.session(stage.workspace)
    run_id = begun(stage, session, text)
    async with editing(stage.socket) as editor:
        await loaded(editor, stage, session)
        await editor.until(lambda: question in editor.text)
        assert "/cancel ends the run" in editor.text
        assert await editor.prompt(session, "merry") == "end_turn"
        assert "All done." in editor.text
    assert run_of(stage, run_id).state is RunState.SUCCEEDED


async def test_a_prompt_is_no_answer_to_a_question_that_was_not_shown(stage: Stage) -> None:
    """A question that came up elsewhere is shown in place of running the prompt, and the prompt after it answers it."""
    async with editing(stage.socket) as editor:
        session = await editor.session(stage.workspace)
        run_id = begun(stage, session, "Ask me for words")
        assert await editor.prompt(session, "Say hello") == "end_turn"
        await editor.until(lambda: "Which colour?" in editor.text)
        assert "your message was not sent" in editor.text
        assert run_of(stage, run_id).questions
        assert await editor.prompt(session, "green") == "end_turn"
    assert run_of(stage, run_id).steps[0].output == "green"


async def test_a_loaded_session_asks_again_for_an_approval(stage: Stage) -> None:
    """A loaded session says that a run waits for a decision, and the next prompt shows the request again."""
    async with editing(stage.socket) as editor:
        session = await editor.session(stage.workspace)
    run_id = begun(stage, session, "Write my notes")
    async with editing(stage.socket) as editor:
        await loaded(editor, stage, session)
        await editor.until(lambda: "waits for your decision" in editor.text)
        editor.choose = lambda _call, _options: "once"
        assert await editor.prompt(session, "Go on") == "end_turn"
        assert len(editor.asked) == 1
    assert run_of(stage, run_id).state is RunState.SUCCEEDED
    assert (stage.workspace / "notes.txt").read_text() == "b"


async def test_a_run_that_waits_for_an_approval_is_cancelled_after_a_restart(stage: Stage) -> None:
    """/cancel ends the run of an earlier agent that waits for an approval, and then finds none."""
    async with editing(stage.socket) as editor:
        session = await editor.session(stage.workspace)
    run_id = begun(stage, session, "Write my notes")
    async with editing(stage.socket) as editor:
        await loaded(editor, stage, session)
        assert await editor.prompt(session, "/cancel") == "cancelled"
        assert run_of(stage, run_id).state is RunState.CANCELLED
        assert await editor.prompt(session, "/cancel") == "end_turn"
        await editor.until(lambda: "No run of this session waits for you." in editor.text)


def refuse(*_: Any) -> str:
    raise RequestError.method_not_found("session/request_permission")


async def test_an_editor_that_cannot_ask_decides_nothing(stage: Stage) -> None:
    """An error in place of a decision ends the turn with the place to decide, denies nothing, and the next prompt is a new
    run; /cancel ends one that waits.
    """
    async with editing(stage.socket) as editor:
        editor.choose = refuse
        session = await editor.session(stage.workspace)
        assert await editor.prompt(session, "Write my notes") == "end_turn"
        await editor.until(lambda: "aeonctl approvals" in editor.text)
        with Client(stage.socket) as client:
            (line,) = client.list_runs(session_id=session)
            assert len(client.get_run(line.run_id).approvals) == 1
        assert await editor.prompt(session, "Say hello") == "end_turn"
        with Client(stage.socket) as client:
            assert len(client.list_runs(session_id=session)) == 2
        for _ in range(2):
            await editor.prompt(session, "/cancel")
        with Client(stage.socket) as client:
            assert {run.state for run in client.list_runs(session_id=session)} == {RunState.CANCELLED}


async def test_an_editor_that_cannot_ask_lets_a_message_choose(stage: Stage) -> None:
    """A question with options is asked in words if the editor answers the request for a choice with an error."""
    async with editing(stage.socket) as editor:
        editor.choose = refuse
        session = await editor.session(stage.workspace)
        assert await editor.prompt(session, "Let me choose") == "end_turn"
        await editor.until(lambda: "2. blue" in editor.text)
        assert await editor.prompt(session, "2") == "end_turn"
    with Client(stage.socket) as client:
        (line,) = client.list_runs(session_id=session)
        assert client.get_run(line.run_id).steps[0].output == "blue"
