"""The words of header and footer."""

import pytest

from aeon_popup.state import wording
from tests.support.popup_states import SOCKET, START, states

BADGES = {
    "prompt": "",
    "planning": "Planning…",
    "running": "Running · 2 of 5",
    "question": "Needs your answer",
    "approval": "Needs approval",
    "approval-file": "Needs approval",
    "decision": "Needs your decision",
    "streaming": "Answering…",
    "done": "Done",
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


def test_a_failure_says_what_was_kept() -> None:
    """The explanation of a failure has its cause and the number of steps whose results are kept."""
    view = states()["failed"]
    start, rest = wording.explanation(view, view.shown)
    assert start == "Failed."
    assert "did not answer. The results of 2 steps are kept" in rest
