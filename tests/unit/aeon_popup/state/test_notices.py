"""Notifications for hidden runs."""

from dataclasses import replace

import pytest

from aeon_popup.state.happenings import Approval
from aeon_popup.state.notices import Notice, choice_of, notice_of
from aeon_popup.state.run_view import Asked, RunView
from aeon_popup.state.session import SessionView
from aeond_client.records.judgements import ApprovalRequest, CallPreview, Question
from aeond_client.records.tools import ToolCall
from tests.support.popup_states import EFFECTS, RUN, states


def run_of(view: SessionView) -> RunView:
    assert view.shown is not None
    return view.shown


@pytest.mark.parametrize(
    ("name", "summary", "actions"),
    [
        ("choice", "Which airport do you want to leave from?", [f"0:{RUN}/s3.1", f"1:{RUN}/s3.1"]),
        ("question", "Which airport do you want to leave from?", ["answer"]),
        ("approval", "Contact mail.example.org:465?", [f"deny:{RUN}/a1/digest", f"approve:{RUN}/a1/digest"]),
        ("decision", "Needs your decision", []),
        ("done", "Done: Plan my trip", []),
        ("failed", "Failed: Plan my trip", []),
        ("expired", "Stopped at a limit: Plan my trip", []),
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


def test_more_options_than_a_notification_has_are_answered_in_the_window() -> None:
    """A question with many options has the action Answer, which opens the window."""
    run = run_of(states()["choice"])
    one = Asked(RUN, Question("s3.1", "s3", "Which?", options=("a", "b", "c", "d")))
    notice = notice_of(None, replace(run, questions=(one,)))
    assert notice is not None
    assert notice.actions == (("answer", "Answer"),)


def test_the_notification_of_a_failure_lists_changes() -> None:
    """What a run changed before it failed stands in its notification, below the reason."""
    notice = notice_of(None, replace(run_of(states()["failed"]), effects=EFFECTS))
    assert notice is not None
    assert notice.body.splitlines()[1:] == [
        "created: ~/Documents/lisbon.md (2.1 kB)",
        "remembered: trip/lisbon/flight",
    ]


def test_progress_and_repeats_are_not_notified() -> None:
    """A step that starts is no news, and neither is a question that was notified before."""
    view = states()
    assert notice_of(run_of(view["planning"]), run_of(view["running"])) is None
    assert notice_of(run_of(view["choice"]), run_of(view["choice"])) is None


def test_long_arguments_cannot_be_approved_in_a_notification() -> None:
    """Approve is missing where the notification cannot show the exact arguments."""
    notice = asked(ToolCall("mail.send", {"body": "x" * 400}))
    assert [action for action, _ in notice.actions] == [f"deny:{RUN}/a1/digest"]


def asked(*calls: ToolCall, previews: tuple[CallPreview, ...] = (), message: str = "") -> Notice:
    """The notification of an approval of these calls."""
    run = run_of(states()["approval"])
    request = ApprovalRequest("a1", ("s5",) * len(calls), calls, "digest", message, previews=previews)
    notice = notice_of(None, replace(run, approvals=(Approval(run.run_id, request),)))
    assert notice is not None
    return notice


def test_an_approval_is_notified_with_its_effect_and_the_reason() -> None:
    """The notification is headed by what the call would do; its exact arguments follow, then the policy's reason."""
    text = {"to": "Ada  Lovelace"}
    notice = asked(
        ToolCall("send", text), previews=(CallPreview(host="example.org:443 (GET)"),), message="no rule"
    )
    assert notice.summary == "Contact example.org:443 (GET)?"
    assert notice.body == 'send {"to": "Ada  Lovelace"}\nWhy this is asked: no rule'


def test_an_approval_is_notified_with_the_untrusted_sources() -> None:
    """The notification of an approval names the untrusted sources that the run has read, on one line of limited length."""
    run = replace(run_of(states()["approval"]), taints={RUN: ("host:a.example:443", "x\ny" * 400)})
    notice = notice_of(None, run)
    assert notice is not None
    last = notice.body.splitlines()[-1]
    assert last.startswith("Untrusted sources of this run: host:a.example:443, x yx y")
    assert len(last) <= 300


def test_an_approval_is_notified_again_when_the_run_has_read_more() -> None:
    """A source that the run has read since stands in a new notification, in place of the first; a repeat has none."""
    first = run_of(states()["approval"])
    later = replace(first, taints={RUN: ("file:/a",)})
    notice = notice_of(first, later)
    assert notice is not None
    assert notice.key == first.key
    assert notice.body.endswith("Untrusted sources of this run: file:/a.")
    assert notice_of(later, later) is None


def test_a_notification_of_several_calls_says_what_each_would_do() -> None:
    """Each call has its own sentence, above its arguments, or alone where the notification cannot show these."""
    calls = (ToolCall("rm", {"path": "x.md"}), ToolCall("send", {}))
    notice = asked(*calls, previews=(CallPreview(target="/x.md"), CallPreview()))
    assert notice.summary == "Allow 2 calls?"
    assert notice.body.splitlines() == ["Write /x.md", 'rm {"path": "x.md"}', "Use the tool send", "send {}"]
    notice = asked(*calls, previews=(CallPreview(source="/x.md"), CallPreview()))
    assert notice.body.splitlines() == [
        "Delete /x.md",
        "Use the tool send",
        "Open the window to see what would happen.",
    ]
    assert [label for _, label in notice.actions] == ["Deny"]


@pytest.mark.parametrize(
    ("name", "action", "choice"),
    [
        ("choice", f"1:{RUN}/s3.1", "Heathrow"),
        ("choice", f"2:{RUN}/s3.1", None),
        ("choice", f"1:{RUN}/s9.1", None),
        ("choice", "1:another/s3.1", None),
        ("choice", "default", None),
        ("question", "answer", None),
        ("approval", f"approve:{RUN}/a1/digest", True),
        ("approval", f"deny:{RUN}/a1/digest", False),
        ("approval", f"approve:{RUN}/a1/another", None),
        ("approval", "approve:another/a1/digest", None),
        ("done", f"approve:{RUN}/a1/digest", None),
    ],
)
def test_an_action_counts_only_for_what_was_shown(name: str, action: str, choice: object) -> None:
    """An action decides about the question or the exact calls of its notification, and about nothing that came later."""
    assert choice_of(action, run_of(states()[name])) == choice
