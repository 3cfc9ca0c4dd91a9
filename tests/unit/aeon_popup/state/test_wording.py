"""The words of header and footer."""

import pytest

from aeon_popup.state import wording
from aeon_popup.state.happenings import (
    CallFailed,
    LinkDown,
    StartFailed,
)
from aeon_popup.state.session import SessionView, after
from aeond_client.events import EventKind, RunCreated, RunEnded, StepEnded, StepStarted
from aeond_client.records.runs import Problem, RunState, StepState
from tests.support.popup_states import (
    KEY,
    RUN,
    SOCKET,
    START,
    STEPS,
    TEXT,
    folded,
    planned,
    received,
    sent,
    states,
)

BADGES = {
    "prompt": "",
    "starting": "Daemon starting",
    "planning": "Planning…",
    "running": "Running · 2 of 5",
    "question": "Needs your answer",
    "approval": "Needs approval",
    "approval-file": "Needs approval",
    "decision": "Needs your decision",
    "streaming": "Answering…",
    "done": "Done",
    "long-answer": "Done",
    "follow-up": "Follow-up",
    "failed": "Failed",
    "cancelled": "Cancelled",
    "unavailable": "Daemon not running",
    "daemon-lost": "Daemon not running",
}


@pytest.mark.parametrize(("name", "words"), BADGES.items())
def test_the_badge_names_the_stage(name: str, words: str) -> None:
    """The badge says the stage in words, so that colour is never the only sign, and so does the accessible name."""
    view = states()[name]
    assert wording.badge(view)[0] == words
    assert words in wording.spoken(view)


def test_the_footer_names_run_time_and_calls() -> None:
    """The footer has the end of the run's id, its time, and its tool calls; without a daemon the socket."""
    view = states()
    assert wording.meta(view["running"], START + 20.5) == "run 7f3a · 20s · 2 tool calls"
    assert wording.meta(view["unavailable"], START) == f"unix:{SOCKET} · retrying"


def test_the_footer_of_a_new_request_names_other_runs_that_wait_for_the_user() -> None:
    """Beside an empty prompt stands how many kept runs need the user, and how many go on by themselves."""
    for state, words in (("question", "1 more needs you"), ("running", "1 more running"), ("done", "")):
        assert wording.meta(states()[state].new_started(), 0.0) == words


def test_a_failure_says_what_was_kept() -> None:
    """The explanation of a failure has its cause, the number of steps whose results are kept, and what Retry does."""
    view = states()["failed-changes"]
    start, rest = wording.explanation(view, view.shown)
    assert start == "Failed."
    assert "did not answer. The results of 4 steps are kept" in rest
    assert rest.endswith("Retry sends the request again.")


@pytest.mark.parametrize(
    ("finished", "problem", "words"),
    [
        (
            [0, 1],
            Problem("TOOL_FAILED", "The flight provider did not answer"),
            "The flight provider did not answer. Steps 1–2 are kept; Retry continues from step 3.",  # noqa: RUF001 - a range
        ),
        ([0], Problem("STEPS_FAILED", "s3"), "Step 1 is kept; Retry continues from step 3."),
        ([0, 3], Problem("STEPS_FAILED", "s3"), "2 steps are kept; Retry continues from step 3."),
    ],
)
def test_a_failure_says_from_which_step_retry_continues(
    finished: list[int], problem: Problem, words: str
) -> None:
    """The explanation of a failure that can be continued names the failed step, the finished ones, and the cause if the line of
    the step does not have it.
    """
    steps = [STEPS[place] for place in finished]
    kinds = [
        kind for step in steps for kind in (StepStarted(step), StepEnded(step.step_id, StepState.SUCCEEDED))
    ]
    failed: list[EventKind] = [
        StepStarted(STEPS[2]),
        StepEnded("s3", StepState.FAILED),
        RunEnded(RunState.FAILED, problem),
    ]
    view = folded([*sent(), *received(*planned(), *kinds, *failed)])
    assert wording.explanation(view, view.shown) == ("Stopped at step 3.", words)
    view = view.continued("again", KEY, 9)
    assert wording.explanation(view, view.run(KEY))[1].endswith("Retry shows the run that continues it.")


def test_a_request_below_a_continued_run_says_what_it_does_not_see() -> None:
    """Below a run that continued another one the window says that its answer is not part of the session."""
    created = RunCreated(TEXT, session_id="session-1", forked_run_id="first")
    view = SessionView().opened("k", RUN, TEXT)
    view = folded(received(created, RunEnded(RunState.SUCCEEDED), key="k"), view)
    view = view.follow_up_started("more")
    assert wording.badge(view)[0] == "Follow-up"
    assert "its answer is not part of the session" in wording.explanation(view, view.shown)[1]


@pytest.mark.parametrize("name", ["prompt", "running", "follow-up"])
def test_a_daemon_that_was_not_started_says_why(name: str) -> None:
    """A failed start is explained wherever it was asked for: at the prompt, at a run and at a follow-up."""
    starting = after(states()[name], LinkDown(SOCKET)).start_asked()
    view = after(starting, StartFailed("no such unit"))
    assert not view.starting
    assert wording.explanation(view, view.shown) == ("The daemon was not started.", "no such unit")


@pytest.mark.parametrize("name", ["done", "failed", "cancelled", "expired"])
def test_a_failed_undo_is_explained(name: str) -> None:
    """Why the changes of a run could not be undone stands below it, however the run ended."""
    view = after(states()[name], CallFailed(KEY, "The file is gone."))
    assert "The file is gone." in wording.explanation(view, view.shown)[1]


def test_a_request_below_a_run_without_a_session_is_no_follow_up() -> None:
    """Below a run without a session the window says that the request starts a new session without its context."""
    view = folded(
        received(RunCreated(TEXT), RunEnded(RunState.SUCCEEDED), key="k"),
        SessionView().opened("k", RUN, TEXT),
    )
    view = view.follow_up_started("more")
    assert wording.badge(view)[0] == "New session"
    assert "starts a new one, without the answer" in wording.explanation(view, view.shown)[1]
    assert wording.explanation(states()["follow-up"], states()["follow-up"].shown) == ("", "")


def test_a_starting_daemon_says_that_requests_wait() -> None:
    """While the daemon starts, the note under the prompt says so, and why; a ready one needs no words."""
    view = states()["starting"]
    assert wording.explanation(view, None) == (
        "The daemon is starting.",
        "Requests are accepted and wait. The model is loading.",
    )
    assert wording.explanation(states()["prompt"], None) == ("", "")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (7_300, "2 hours ago"),
        (200_000, "2 days ago"),
    ],
)
def test_the_age_of_a_run_has_one_unit(seconds: float, words: str) -> None:
    """The history shows the age of a run in its largest unit."""
    assert wording.ago(seconds) == words
