"""The page for a user of the keyboard, with reduced motion, with long answers and journals, and with a daemon that starts."""

from typing import Any

from aeon_web.access import Access
from aeond_client.events import (
    EventKind,
    PlanAdopted,
    RunCreated,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
)
from aeond_client.records.runs import Plan, PlanStep, RunState, StepState
from tests.page.conftest import Tab
from tests.support.page_runs import NOW, TEXT, summaries
from tests.support.page_shows import states as every_state
from tests.support.page_states import StatesClient

STATES = every_state()


def open_state(page: Any, name: str) -> None:
    """Shows a state in a page that is open."""
    run, act = STATES[name]
    page.keyboard.press("Escape")
    page.evaluate("run => { location.hash = run ? `run=${run}` : '' }", run)
    if run:
        page.locator(".head h2").get_by_text(TEXT).wait_for()
        page.locator(".badge").wait_for()
    else:
        page.get_by_label("Request", exact=True).wait_for()
    if act is not None:
        act(page)


def test_a_starting_daemon_is_announced(pictured: Access, states: StatesClient, tab: Tab) -> None:
    """While the daemon starts the page says so, and shows when it is ready."""
    states.state = "starting"
    page = tab(pictured.new_link())
    page.get_by_text("Requests are accepted and wait. The model is loading.").wait_for()
    states.state = "ready"
    page.locator(".notice").wait_for(state="detached")


def test_the_keyboard_reaches_everything(pictured: Access, tab: Tab) -> None:
    """Tab visits every enabled button and field of an approval, each with a visible focus, and returns."""
    page = tab(pictured.new_link())
    page.get_by_text("aeond 0.1.0").wait_for()
    open_state(page, "approval")
    page.locator("[data-act=deny]:focus").wait_for()
    page.locator(".rows button").nth(len(summaries(NOW)) - 1).wait_for()  # the history may come after the run
    wanted = page.evaluate(
        "document.querySelectorAll('button:enabled, input, textarea, a, [tabindex=\"0\"]').length - 1"
    )
    seen = set()
    for _ in range(wanted + 3):
        page.keyboard.press("Tab")
        found = page.evaluate(
            "() => { const at = document.activeElement; if (at === document.body) return null; const look = getComputedStyle(at);"
            " return [[...document.querySelectorAll('*')].indexOf(at), look.outlineStyle !== 'none' || at.matches('textarea')]; }"
        )
        if found is not None:
            assert found[1] is True
            seen.add(found[0])
    assert len(seen) == wanted


def test_motion_is_reduced_on_request(pictured: Access, tab: Tab) -> None:
    """The mark of a running step turns, unless the user prefers reduced motion."""
    names = {}
    for preference in ("reduce", "no-preference"):
        page = tab(pictured.new_link(), reduced_motion=preference)
        open_state(page, "running")
        mark = page.locator(".steps .mark.running .spin")
        names[preference] = mark.evaluate("(one) => getComputedStyle(one).animationName")
    assert names == {"reduce": "none", "no-preference": "turn"}


def test_a_long_answer_is_shown_whole(pictured: Access, tab: Tab) -> None:
    """A long answer is not cut: its last line can be scrolled to, and the actions stay visible."""
    page = tab(pictured.new_link())
    page.get_by_text("aeond 0.1.0").wait_for()
    open_state(page, "long-answer")
    last = page.locator(".answer li").last
    last.scroll_into_view_if_needed()
    assert last.is_visible()
    assert page.get_by_role("button", name="New", exact=True).is_visible()
    assert page.evaluate("innerHeight - document.querySelector('.foot').getBoundingClientRect().bottom") >= 0


def test_a_long_journal_is_shown(pictured: Access, states: StatesClient, tab: Tab) -> None:
    """A run of 5,000 events is shown to its end, and its journal goes to any of them."""
    step = PlanStep("s1", "Count")
    begun: list[EventKind] = [RunCreated("count"), RunStarted(), PlanAdopted(Plan("", (step,)))]
    turns: list[EventKind] = [StepStarted(step), StepEnded("s1", StepState.SUCCEEDED, output=1)]
    states.kinds = {"long": [*begun, *turns * 2_498, RunEnded(RunState.SUCCEEDED)]}
    page = tab(pictured.new_link())
    page.evaluate("location.hash = 'run=long'")
    page.locator(".badge").get_by_text("Done").wait_for()
    page.keyboard.press("Control+j")
    page.get_by_text("State after event 5000 of 5000 events").wait_for()
    page.locator("#position").press("Home")
    page.get_by_text("State after event 1 of").wait_for()
