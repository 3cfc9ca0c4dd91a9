"""The popup's state."""

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aeon_popup.state import happenings
from aeon_popup.state.happenings import Happening
from aeon_popup.state.run_view import Stage
from aeon_popup.state.session import KEPT_RUNS, Link, SessionView, after
from aeond_client.events import RunEnded
from aeond_client.records.runs import RunState, UndoReport
from tests.support.popup_states import (
    KEY,
    RUN,
    SESSION,
    SOCKET,
    TEXT,
    Change,
    folded,
    planned,
    received,
    sent,
    states,
)

STAGES = {
    "prompt": Stage.PROMPT,
    "planning": Stage.PLANNING,
    "running": Stage.RUNNING,
    "question": Stage.QUESTION,
    "choice": Stage.QUESTION,
    "approval": Stage.APPROVAL,
    "approval-file": Stage.APPROVAL,
    "sending": Stage.APPROVAL,
    "rejected": Stage.APPROVAL,
    "long-plan": Stage.APPROVAL,
    "long-options": Stage.QUESTION,
    "several": Stage.RUNNING,
    "stopping": Stage.RUNNING,
    "failed-changes": Stage.FAILED,
    "cancelled-changes": Stage.CANCELLED,
    "decision": Stage.DECISION,
    "streaming": Stage.RUNNING,
    "done": Stage.DONE,
    "undone": Stage.DONE,
    "long-answer": Stage.DONE,
    "starting": Stage.PROMPT,
    "follow-up": Stage.DONE,
    "failed": Stage.FAILED,
    "cancelled": Stage.CANCELLED,
    "expired": Stage.DONE,
    "unavailable": Stage.UNAVAILABLE,
    "daemon-lost": Stage.UNAVAILABLE,
}

EVENTS: list[Happening] = received(*planned(3), RunEnded(RunState.FAILED))
ANY: list[Change] = [
    *sent(),
    *EVENTS,
    happenings.Refused(KEY, "no daemon"),
    lambda view: view.continued("again", KEY, 9),
    lambda view: view.continued("again", "unknown", 9),
    happenings.Refused("again", "no daemon"),
    happenings.Refused("again", "it does not fit", lasting=True),
    happenings.LinkDown(SOCKET),
    happenings.LinkUp(SOCKET),
    happenings.CallFailed(KEY, "too late"),
    lambda view: view.noted(KEY, "no program"),
    lambda view: view.reply_sent(KEY, "q1"),
    lambda view: view.stop_asked(KEY),
    lambda view: view.undo_asked(KEY),
    happenings.Undone(KEY, UndoReport()),
    happenings.HistoryListed(()),
    happenings.HistoryFailed("no daemon"),
    lambda view: view.start_asked(),
    happenings.StartFailed("no such unit"),
    happenings.DaemonSeen("starting"),
    lambda view: view.drafted("half a word"),
    lambda view: view.reply_drafted(KEY, RUN, "s3.1", "half an answer"),
    lambda view: view.follow_up_started("a"),
    lambda view: view.new_started(),
    lambda view: view.selected(KEY),
    lambda view: view.selected("unknown"),
    lambda view: view.opened("opened", RUN, TEXT),
    happenings.Found("opened", RUN, TEXT, 2),
]


@pytest.mark.parametrize(("name", "stage"), STAGES.items())
def test_each_state_has_its_stage(name: str, stage: Stage) -> None:
    """Each state that the window draws has the stage by which its badge, keys and card are chosen."""
    assert states()[name].stage is stage
    assert set(states()) == set(STAGES)


@given(st.lists(st.sampled_from(ANY), max_size=40))
@example([*sent(), *sent(), happenings.Refused(KEY, "no daemon")])
def test_any_order_of_happenings_is_a_state(chosen: list[Change]) -> None:
    """Whatever happens in whatever order, the shown run exists or the prompt is shown, and each run is kept once."""
    view = folded(chosen)
    assert view.shown_key == "" or view.shown is not None
    keys = [run.key for run in view.runs]
    assert len(keys) == len(set(keys)) <= KEPT_RUNS
    assert isinstance(view.stage, Stage)


@given(st.lists(st.integers(0, len(EVENTS)), max_size=4).map(sorted))
def test_batches_do_not_matter(cuts: list[int]) -> None:
    """The state after the events of a run does not depend on how they were batched."""
    whole = folded([*sent(), *EVENTS])
    view = folded(sent())
    for first, last in zip([0, *cuts], [*cuts, len(EVENTS)], strict=True):
        view = folded(EVENTS[first:last], view)
    assert view == whole


def test_a_refused_request_is_the_draft_again() -> None:
    """The text of a request that no daemon accepted is back in the prompt, with the key under which it is repeated."""
    view = after(SessionView().submitted(KEY, TEXT), happenings.Refused(KEY, "no daemon"))
    assert (view.draft, view.draft_key, view.shown, view.writing) == (TEXT, KEY, None, True)
    assert view.drafted(TEXT).draft_key == KEY
    assert view.drafted(f"{TEXT} soon").draft_key == ""


def test_a_refusal_does_not_disturb_another_draft() -> None:
    """A refusal that arrives while the user writes something else leaves that text alone; its own text follows."""
    view = SessionView().submitted(KEY, TEXT).new_started().drafted("new")
    view = after(view, happenings.Refused(KEY, "no daemon"))
    assert view.draft == "new"
    view = view.submitted("second", "new").new_started()
    assert (view.draft, view.draft_key) == (TEXT, KEY)


def test_a_refused_follow_up_is_the_draft_below_its_answer() -> None:
    """A follow-up that no daemon accepted is written again below the answer, in the same session and under the same key."""
    down = happenings.LinkDown(SOCKET, "no daemon")
    view = states()["follow-up"].submitted("next", "And the hotel?", SESSION)
    view = folded([down, happenings.Refused("next", "no daemon")], view)
    assert (view.shown_key, view.session_id, view.writing) == (KEY, SESSION, True)
    assert (view.draft, view.draft_key, view.stage) == ("And the hotel?", "next", Stage.UNAVAILABLE)


LEAVING: list[list[Change]] = [
    [lambda view: view.selected(KEY)],
    [lambda view: view.new_started()],
    [lambda view: view.opened("opened", "run-9", "another run")],
    [happenings.LinkDown(SOCKET), happenings.LinkUp(SOCKET)],
]


@given(st.lists(st.sampled_from(LEAVING), max_size=8))
def test_a_draft_stays_where_it_was_written(ways: list[list[Change]]) -> None:
    """A draft for a new session and one below an answer survive any way to leave them, in any order."""
    view = states()["done"].new_started().drafted("a new request")
    view = view.selected(KEY).follow_up_started("a follow-up")
    view = folded([happening for way in ways for happening in way], view)
    assert view.new_started().draft == "a new request"
    view = view.selected(KEY).follow_up_started("!")
    assert (view.draft, view.writing) == ("a follow-up!", True)


def test_a_failed_request_that_is_sent_again_leaves_the_draft_below_it() -> None:
    """Retry sends the failed request and not the draft that was begun below it, which stays."""
    view = states()["failed"].follow_up_started("why?").selected(KEY)
    assert view.draft_key == ""
    view = view.submitted("again", TEXT, SESSION).selected(KEY)
    assert view.draft == "why?"


def test_a_run_with_a_draft_is_kept() -> None:
    """An ended run beyond the limit is kept while there is a draft below it."""
    view = states()["done"].follow_up_started("later")
    for number in range(KEPT_RUNS + 1):
        ended = received(RunEnded(RunState.SUCCEEDED), key=f"more-{number}", run_id=f"run-{number}")
        view = folded(ended, view.opened(f"more-{number}", f"run-{number}", "more"))
    assert view.selected(KEY).draft == "later"
    assert len(view.runs) == KEPT_RUNS


def test_an_opened_run_is_retried_in_its_session() -> None:
    """The next request of a run that was opened from the history belongs to the session that its events name."""
    view = folded(received(*planned(1), key="opened"), SessionView().opened("opened", RUN, TEXT))
    assert view.session_id == SESSION
    view = view.opened("again", "run-9", "more")
    assert view.session_id == ""


def test_a_found_run_is_kept_beside_the_shown_one() -> None:
    """A run from before the start of the popup is not shown by itself and counts as one that goes on; a known one changes nothing."""
    found = happenings.Found("found", "run-9", "more", 3)
    view = folded([found], states()["running"])
    assert (view.shown_key, view.others_running) == (KEY, 1)
    assert folded([found, happenings.Found(KEY, RUN, TEXT, 3)], view) == view


def test_a_follow_up_belongs_to_the_session() -> None:
    """A follow-up keeps the session of the shown run; a new request starts another one."""
    view = states()["follow-up"]
    assert (view.session_id, view.writing) == (SESSION, True)
    assert view.new_started().session_id == ""


def test_an_ended_run_is_readable_without_a_daemon() -> None:
    """Losing the daemon does not take away an answer that is shown."""
    view = after(states()["done"], happenings.LinkDown(SOCKET))
    assert (view.link, view.stage) == (Link.DOWN, Stage.DONE)


def test_old_ended_runs_are_dropped_and_running_ones_kept() -> None:
    """Beyond the limit the oldest ended run is dropped, never one that is still running."""
    view = folded(sent())
    for number in range(KEPT_RUNS + 3):
        key = f"more-{number}"
        ended = received(RunEnded(RunState.SUCCEEDED), key=key, run_id=f"run-{number}")
        view = folded([happenings.Accepted(key, f"run-{number}", ""), *ended], view.submitted(key, "more"))
    assert len(view.runs) == KEPT_RUNS
    assert view.run(KEY) is not None
    assert view.others_running == 1


def test_a_reply_on_its_way_is_forgotten_when_it_failed() -> None:
    """A card is enabled again, with the reason, when the daemon rejected the answer."""
    subject = happenings.subject_of(RUN, "s3.1")
    failed = happenings.CallFailed(KEY, "too late", subject)
    run = after(states()["question"].reply_sent(KEY, subject), failed).shown
    assert run is not None
    assert (run.sent, run.note) == (frozenset(), "too late")


def test_a_start_of_the_daemon_is_over_when_it_listens() -> None:
    """A daemon that listens ends its start, and a failure that arrives after that is not shown."""
    view = after(SessionView(), happenings.LinkDown(SOCKET)).start_asked()
    assert view.starting
    view = folded([happenings.LinkUp(SOCKET), happenings.StartFailed("too late")], view)
    assert (view.starting, view.start_problem) == (False, "")


def test_a_start_that_is_tried_again_does_not_show_the_last_failure() -> None:
    """While the daemon is started again, why that failed before is not shown."""
    view = folded([happenings.LinkDown(SOCKET), happenings.StartFailed("no such unit")]).start_asked()
    assert (view.starting, view.start_problem) == (True, "")


def test_an_undo_that_is_tried_again_does_not_show_the_last_failure() -> None:
    """While changes are undone again, why that failed before is not shown."""
    run = after(states()["done"], happenings.CallFailed(KEY, "the file is gone")).undo_asked(KEY).shown
    assert run is not None
    assert (run.undoing, run.note) == (True, "")


def test_a_continued_run_is_shown_in_place_of_the_failed_one() -> None:
    """The run that continues a failed one has its request and its session, and is shown while it is created."""
    view = states()["failed"].continued("again", KEY, 9)
    run = view.shown
    assert run is not None
    assert (run.key, run.text, run.session_id, run.continues) == ("again", TEXT, SESSION, RUN)
    assert (view.stage, view.writing, len(view.runs)) == (Stage.PLANNING, False, 2)


@pytest.mark.parametrize("lasting", [False, True])
def test_a_run_that_was_not_continued_says_why(lasting: bool) -> None:
    """The failed run is shown again with the reason, nothing becomes a draft, and the run can be continued under the same request
    id, unless the refusal is lasting.
    """
    tried = states()["failed"].continued("again", KEY, 9)
    view = after(tried, happenings.Refused("again", "no reply", lasting=lasting))
    run = view.shown
    assert run is not None
    assert (run.key, run.note, view.draft, view.writing) == (KEY, "no reply", "", False)
    assert [one.key for one in view.runs] == [KEY]
    assert (run.retry_point is None, run.retry_key) == ((True, "") if lasting else (False, "again"))


def test_a_request_that_was_not_continued_is_kept_without_its_failed_run() -> None:
    """If the failed run is not kept any more, its request becomes a draft, under another request id than that of the fork."""
    tried = states()["failed"].continued("again", KEY, 9)
    view = replace(tried, runs=tuple(run for run in tried.runs if run.key == "again"))
    view = after(view, happenings.Refused("again", "no reply"))
    assert (view.draft, view.draft_key, view.problem) == (TEXT, "", "no reply")


def test_a_failed_run_that_was_left_stays_where_it_is() -> None:
    """A run that was not continued, and is not shown any more, does not take the place of what the user looks at."""
    tried = states()["failed"].continued("again", KEY, 9)
    view = after(tried.new_started(), happenings.Refused("again", "no reply"))
    assert (view.shown_key, view.runs[0].note) == ("", "no reply")


def test_a_state_is_never_changed_in_place() -> None:
    """A happening leads to a new state and leaves the old one as it was."""
    view = SessionView()
    view.drafted("text")
    assert view == replace(view) == SessionView()
