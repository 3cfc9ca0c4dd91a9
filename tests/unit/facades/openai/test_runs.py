"""Runs as answers."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from aeond.api.v1 import runs_pb2
from aeond.facades.openai.conversations import Conversations
from aeond.facades.openai.failures import ApiError
from aeond.facades.openai.parts import Ended, Failed, Prompt, Said, Usage
from aeond.facades.openai.runs import answered, approval_text, asked_text, ended, question_text
from aeond_client import AsyncClient
from aeond_client.records.judgements import ApprovalRequest, CallPreview, Question
from aeond_client.records.runs import Answer, Problem, Run, RunState
from aeond_client.records.sessions import Session
from aeond_client.records.tools import ToolCall
from tests.support.scripted_daemon import ScriptedDaemon, ScriptedRuns

USAGE = Usage(5, 3)


@pytest.mark.parametrize(
    ("state", "parts", "text", "finish"),
    [
        (RunState.SUCCEEDED, {"answer": Answer("Done.")}, "Done.", "stop"),
        (RunState.EXPIRED, {"answer": Answer("Half.")}, "Half.", "length"),
    ],
)
def test_an_ended_run_is_its_answer(state: RunState, parts: dict[str, Any], text: str, finish: Any) -> None:
    """The answer of a run is the text; one that a limit cut ends as text that its limit of tokens cut."""
    assert ended(Run("r1", state, "a request", **parts), USAGE) == (text, Ended(finish, USAGE))


@pytest.mark.parametrize(
    ("state", "parts", "code"),
    [
        (RunState.CANCELLED, {}, "run_cancelled"),
        (RunState.FAILED, {"problem": Problem("NO_PLAN", "no plan"), "answer": Answer("x")}, "no_plan"),
        (RunState.FAILED, {}, "run_failed"),
    ],
)
def test_a_run_without_an_answer_is_an_error(state: RunState, parts: dict[str, Any], code: str) -> None:
    """A cancelled or failed run has no text, and its reason is the code."""
    text, last = ended(Run("r1", state, "a request", **parts), USAGE)
    assert isinstance(last, Failed)
    assert (text, last.error.code, last.error.status, last.usage) == ("", code, 500, USAGE)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (Question("q", "s", "Which?", options=("red", "blue")), "Which?\n1. red\n2. blue"),
        (Question("q", "s", "Why?"), "Why?"),
        (
            Question("q", "s", "How many?", schema={"type": "integer"}),
            'How many?\n(as JSON: {"type": "integer"})',
        ),
    ],
)
def test_a_question_shows_how_to_answer(question: Question, text: str) -> None:
    """Options are numbered, and an answer that is no text is shown as its schema."""
    assert question_text(question) == text
    assert asked_text(Run("r1", RunState.AWAITING_INPUT, "", questions=(question,))) == text


def test_an_approval_shows_what_would_be_done() -> None:
    """Each call is shown with its arguments and its change, and the text names the command of a person."""
    calls = (ToolCall("write_file", {"path": "a"}), ToolCall("run_command", {"argv": ["x"]}))
    previews = (CallPreview(diff="+blue"), CallPreview(problem="too large"))
    approval = ApprovalRequest("a1", ("s1",), calls, "digest", message="two calls", previews=previews)
    text = approval_text(Run("r1", RunState.AWAITING_INPUT, "", approvals=(approval,)), approval)
    assert text.splitlines() == [
        "This needs your approval: two calls",
        'write_file {"path": "a"}',
        "+blue",
        'run_command {"argv": ["x"]}',
        "incomplete: too large",
        "Decide with `aeonctl approvals r1`; then any message in this conversation continues it.",
    ]


def test_a_suspended_run_names_the_cause() -> None:
    """A run that waits for something else says why, and which command shows it."""
    text = asked_text(Run("r1", RunState.SUSPENDED, "", suspend_reason="disk_full"))
    assert text == "The run is suspended (disk full): aeonctl show r1 says what it waits for."


class SilentRuns(ScriptedRuns):
    """Replies neither to CreateRun nor to GetRun."""

    async def CreateRun(self, request: runs_pb2.CreateRunRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        await anyio.sleep_forever()

    async def GetRun(self, request: runs_pb2.GetRunRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        await anyio.sleep_forever()


@pytest.mark.parametrize("previous", ["", "resp_r1_2_3"])
async def test_a_daemon_that_does_not_reply_ends_the_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, previous: str
) -> None:
    """A request whose run the daemon does not create or find by the deadline ends with `timed_out` and says how to look for it."""

    async def session(*_: Any, **_named: Any) -> Session:
        return Session("s1")

    monkeypatch.setattr("aeond.facades.openai.runs.CREATE_SECONDS", 0.2)
    monkeypatch.setattr(AsyncClient, "create_session", session)
    daemon = ScriptedDaemon(tmp_path / "d.sock")
    daemon.runs = SilentRuns()  # type: ignore[abstract]  # the rest answers UNIMPLEMENTED
    prompt = Prompt("aeond", (Said("user", "Sort my notes"),), previous=previous)
    with anyio.fail_after(30):
        async with daemon, AsyncClient(str(daemon.path)) as client:
            with pytest.raises(ApiError, match=r"within 0\.2 s.*aeonctl runs") as raised:
                await anext(answered(client, prompt, Conversations(lambda: 0.0)))
    assert (raised.value.status, raised.value.code) == (504, "timed_out")
