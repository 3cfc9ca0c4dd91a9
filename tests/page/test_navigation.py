"""Several tabs, and calls that end after the user has gone to another run."""

from typing import Any

import pytest

from aeon_web.access import Access
from aeond_client.records.runs import RunState, RunSummary
from tests.page.conftest import Tab
from tests.support.page_acts import armed, badge, run_of, show, until
from tests.support.page_runs import TEXT
from tests.support.page_states import StatesClient

# Holds the next reply to a call that begins as a test writes in `holding`, with its content, until the test calls `release`.
HOLDABLE = """
const real = window.fetch;
window.holding = null;
window.release = null;
window.fetch = async (...given) => {
  const reply = await real(...given);
  if (window.holding !== null && `${given[0]} ${given[1]?.body}`.startsWith(window.holding)) {
    window.holding = null;
    await new Promise((done) => { window.release = done; });
  }
  return reply;
};
"""
# What follows the reply has happened once a later request is answered and the page is drawn.
RELEASE = """async () => {
  release();
  await (await fetch("/")).text();
  await new Promise(requestAnimationFrame);
}"""

# The page is drawn as of the event that the slider is at: until then its button forks after another one.
SETTLED = "() => { const at = document.getElementById('position'); return at.value === at.dataset.value; }"


@pytest.fixture
def page(pictured: Access, tab: Tab) -> Any:
    """The page with the states of the fixture `states`, and with HOLDABLE."""
    page = tab("about:blank")
    page.add_init_script(HOLDABLE)
    page.goto(pictured.new_link())
    page.get_by_text("aeond 0.1.0").wait_for()
    return page


def button(page: Any, name: str) -> Any:
    """The button with exactly this name."""
    return page.get_by_role("button", name=name, exact=True)


def press_and_leave(page: Any, call: str, pressed: Any, other: str, *keys: str) -> None:
    """Presses a button of the run that is shown, then these keys, and shows another ended run while the reply to the call
    is held.
    """
    page.evaluate("call => { holding = `/api/${call}` }", call)
    pressed.press("Enter")
    until(page, "() => release !== null")
    for key in keys:
        page.keyboard.press(key)
    show(page, other)
    badge(page, "Done")


def test_a_second_tab_leaves_the_first_usable(page: Any, pictured: Access, states: StatesClient) -> None:
    """After another tab of the same browser was opened with a link of its own, both tabs answer questions."""
    second = page.context.new_page()
    second.goto(pictured.new_link())
    second.get_by_text("aeond 0.1.0").wait_for()
    for one, words in ((page, "in the first"), (second, "in the second")):
        one.bring_to_front()
        show(one, "question")
        armed(one)
        one.keyboard.type(words)
        one.keyboard.press("Enter")
        one.locator(".card").wait_for(state="detached")
    assert [given["answer"] for name, given in states.calls if name == "answer_run"] == [
        "in the first",
        "in the second",
    ]


@pytest.mark.parametrize("fails", [False, True])
def test_undo_is_reported_below_its_own_run(page: Any, states: StatesClient, fails: bool) -> None:
    """A report or a failure of undo that comes when another run is shown leaves that run, and its Undo, as they are."""
    states.failing = {"undo_run"} if fails else set()
    show(page, "done")
    press_and_leave(page, "undo_run", button(page, "Undo the changes"), "differs")
    page.evaluate(RELEASE)
    assert page.get_by_role("button", name="Undo the changes").count() == 1
    assert page.get_by_text("changes undone").count() == page.locator(".notices").count() == 0


def test_a_replay_is_reported_in_the_journal_of_its_run(page: Any) -> None:
    """A replay that ends when the journal of another run is shown is not reported there."""
    show(page, "done")
    page.keyboard.press("Control+j")
    press_and_leave(page, "replay_run", button(page, "Replay the record"), "differs")
    page.keyboard.press("Control+j")
    page.locator(".events").wait_for()
    page.evaluate(RELEASE)
    assert page.get_by_text("identical to the record").count() == 0


def test_a_fork_that_is_made_late_does_not_replace_another_run(page: Any, states: StatesClient) -> None:
    """The user who has gone on to another run while a fork is made stays there."""
    show(page, "done")
    page.keyboard.press("Control+j")
    page.locator("#position").press("Home")
    until(page, SETTLED)
    press_and_leave(page, "fork_run", button(page, "Fork after event 1"), "differs")
    page.evaluate(RELEASE)
    assert run_of(page) == "differs"
    assert [given["run_id"] for name, given in states.calls if name == "fork_run"] == ["done"]


def test_a_conversation_that_opens_late_does_not_replace_another_run(page: Any, states: StatesClient) -> None:
    """The user who has gone on to a run while the list of a conversation is fetched stays there."""
    states.talks = {"session-1": (RunSummary("cancelled", RunState.CANCELLED, TEXT, 1.0, 1.0, 9),)}
    button(page, "Conversations").press("Enter")
    row = page.locator("[data-session=session-1]")
    row.wait_for()  # until then the row of a run has the same words
    press_and_leave(page, 'list_runs {"session_id"', row, "done")  # the history is fetched again now and then
    page.evaluate(RELEASE)
    assert run_of(page) == "done"


def test_a_request_that_fails_late_is_named(page: Any) -> None:
    """The failure of a request names it when another run is shown, and its text is kept where it was written."""
    page.locator("#prompt").fill("write to Marta")
    press_and_leave(page, "create_run", button(page, "Send"), "done")
    page.evaluate(RELEASE)
    page.get_by_text("Not sent, “write to Marta”: No daemon is listening.").wait_for()
    page.keyboard.press("Alt+n")
    page.get_by_label("Request", exact=True).wait_for()
    assert page.locator("#prompt").input_value() == "write to Marta"


def test_a_request_that_is_sent_late_does_not_replace_another_run(page: Any) -> None:
    """The user who has stopped a request while it was sent, and has gone on to another run, stays there; the run of the
    request is cancelled, and its text is no draft any more.
    """
    page.route("**/api/create_run", lambda route: route.fulfill(json={"run_id": "planning"}))
    page.route("**/api/cancel_run", lambda route: route.fulfill(json={}))
    page.locator("#prompt").fill("write to Marta")
    press_and_leave(page, "create_run", button(page, "Send"), "done", "Control+.")
    with page.expect_request("**/api/cancel_run") as cancelled:
        page.evaluate(RELEASE)
    assert (run_of(page), cancelled.value.post_data_json) == ("done", {"run_id": "planning"})
    assert page.evaluate("sessionStorage.getItem('aeon-drafts')") == "{}"


def test_a_fork_that_is_tried_again_is_the_same(page: Any, states: StatesClient) -> None:
    """After a failure, also after a reload, a fork of the same event has the same request id, so that one run exists; after
    a success, or for another event, it has another one.
    """
    failing = {"fork_run"}
    for position, states.failing in (("Home", failing), ("Home", set()), ("Home", failing), ("End", failing)):
        show(page, "running")
        page.reload()
        badge(page, "Running")
        page.keyboard.press("Control+j")
        page.locator("#position").press(position)
        until(page, SETTLED)
        page.get_by_role("button", name="Fork after event").press("Enter")
        if states.failing:
            page.get_by_text("fork_run failed.").wait_for()
        else:
            until(page, "() => location.hash === '#run=fork'")
    ids = [given["request_id"] for name, given in states.calls if name == "fork_run"]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3
