"""Notifications for hidden runs."""

from dataclasses import replace

import pytest

from aeon_popup.state.happenings import Approval, ToolCall
from aeon_popup.state.notices import notice_of, option_of
from aeon_popup.state.run_view import RunView
from aeon_popup.state.session import SessionView
from tests.support.popup_states import states


def run_of(view: SessionView) -> RunView:
    assert view.shown is not None
    return view.shown


@pytest.mark.parametrize(
    ("name", "summary", "actions"),
    [
        ("choice", "Which airport do you want to leave from?", ["option:0", "option:1"]),
        ("question", "Which airport do you want to leave from?", []),
        ("approval", "Allow mail.send?", ["deny", "approve"]),
        ("decision", "Needs your decision", []),
        ("done", "Done: Plan my trip", []),
        ("failed", "Failed: Plan my trip", []),
    ],
)
def test_a_run_that_needs_or_finished_something_is_notified(
    name: str, summary: str, actions: list[str]
) -> None:
    """A question, an approval, a decision, an answer and a failure each have a notification with their actions."""
    view = states()
    notice = notice_of(run_of(view["running"]), run_of(view[name]))
    assert notice is not None
    assert notice.summary.startswith(summary)
    assert [action for action, _ in notice.actions] == actions


def test_progress_and_repeats_are_not_notified() -> None:
    """A step that starts is no news, and neither is a question that was notified before."""
    view = states()
    assert notice_of(run_of(view["planning"]), run_of(view["running"])) is None
    assert notice_of(run_of(view["choice"]), run_of(view["choice"])) is None


def test_long_arguments_cannot_be_approved_in_a_notification() -> None:
    """Approve is missing where the notification cannot show the exact arguments."""
    view = states()["approval"]
    run = run_of(view)
    long = Approval("a1", run.run_id, ("s5",), (ToolCall("mail.send", {"body": "x" * 400}),), "digest")

    notice = notice_of(None, replace(run, approvals=(long,)))
    assert notice is not None
    assert [action for action, _ in notice.actions] == ["deny"]


@pytest.mark.parametrize(("action", "index"), [("option:2", 2), ("option:x", -1), ("deny", -1), ("", -1)])
def test_an_action_names_its_option(action: str, index: int) -> None:
    """The action of a notification leads back to the option of the question."""
    assert option_of(action) == index
