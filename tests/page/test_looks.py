"""Every state of the page: axe-core, contrast, keyboard, motion and small screens."""

from typing import Any

import pytest

from aeon_web.access import Access
from tests.page.conftest import Tab
from tests.support.browser import page_server
from tests.support.page_pictures import states as every_state
from tests.support.page_states import StatesClient

# Rules of axe-core: WCAG 2.2 A and AA, contrast among them, and its own good practice.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

STATES = every_state()


def open_state(page: Any, name: str) -> None:
    """Shows a state in a page that is open."""
    run, act = STATES[name]
    page.evaluate("run => { location.hash = run ? `run=${run}` : '' }", run)
    if run:
        page.wait_for_function("document.querySelector('.head h2')?.textContent.length > 3")
        page.locator(".badge").wait_for()
    else:
        page.get_by_label("Request", exact=True).wait_for()
    if act is not None:
        act(page)


def violations(page: Any, axe: str) -> list[str]:
    """What axe-core finds in the page as it is now."""
    page.evaluate(axe)
    found = page.evaluate("rules => axe.run(document, { runOnly: rules })", RULES)
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_state_is_accessible(pictured: Access, tab: Tab, axe: str, scheme: str) -> None:
    """No state violates a rule of WCAG 2.2 AA, in either colour scheme: names, roles, order and contrast."""
    found = {}
    for name in STATES.keys() - {"offline", "starting", "small"}:
        page = tab(pictured.new_link(), color_scheme=scheme, bypass_csp=True)
        page.get_by_text("aeond 0.1.0").wait_for()
        open_state(page, name)
        found[name] = violations(page, axe)
        page.context.close()
    assert {name: faults for name, faults in found.items() if faults} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_without_a_daemon_is_accessible(tab: Tab, axe: str, scheme: str) -> None:
    """The states without a daemon and without a session violate no rule either."""
    with page_server("/nonexistent/aeond.sock", StatesClient(up=False)) as access:
        page = tab(access.new_link(), color_scheme=scheme, bypass_csp=True)
        page.get_by_text("No daemon is listening").wait_for()
        open_state(page, "offline")
        assert violations(page, axe) == []
        stranger = tab(access.origin, color_scheme=scheme, bypass_csp=True)
        stranger.get_by_text("needs a new link").wait_for()
        assert violations(stranger, axe) == []


def test_a_starting_daemon_is_announced(pictured: Access, states: StatesClient, tab: Tab) -> None:
    """While the daemon starts the page says so, takes requests, and shows when it is ready."""
    states.state = "starting"
    page = tab(pictured.new_link())
    page.get_by_text("Requests are accepted and wait. The model is loading.").wait_for()
    states.state = "ready"
    page.locator(".notice").wait_for(state="detached")


@pytest.mark.parametrize("width", [320, 390, 700])
def test_nothing_is_cut_off_on_small_screens(pictured: Access, tab: Tab, width: int) -> None:
    """On a screen of this width no state scrolls sideways, and every button lies within it."""
    page = tab(pictured.new_link(), viewport={"width": width, "height": 640})
    page.get_by_text("aeond 0.1.0").wait_for()
    for name in ("prompt", "running", "approval", "choice", "done", "journal"):
        open_state(page, name)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        outside = "all => all.filter((one) => one.getBoundingClientRect().right > innerWidth).length"
        assert page.locator("button:visible").evaluate_all(outside) == 0, name


def test_the_keyboard_reaches_everything(pictured: Access, tab: Tab) -> None:
    """Tab visits every enabled button and field of an approval, each with a visible focus, and returns."""
    page = tab(pictured.new_link())
    page.get_by_text("aeond 0.1.0").wait_for()
    open_state(page, "approval")
    page.locator("[data-act=deny]:focus").wait_for()
    wanted = page.evaluate(
        "document.querySelectorAll('button:enabled, input, textarea, a, [tabindex=\"0\"]').length"
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


def test_an_approval_does_not_take_the_focus_from_writing(pictured: Access, tab: Tab) -> None:
    """A card that appears while the user writes in a field leaves the focus there."""
    page = tab(pictured.new_link(), viewport={"width": 1400, "height": 800})
    page.get_by_label("Filter the history").fill("some words")
    open_state(page, "approval")
    page.locator("[data-act=deny]").wait_for()
    assert page.evaluate("document.activeElement.id") in {"filter", "asked"}


def test_a_long_answer_is_shown_whole(pictured: Access, tab: Tab) -> None:
    """A long answer is not cut: its last line can be scrolled to, and the actions stay visible."""
    page = tab(pictured.new_link())
    page.get_by_text("aeond 0.1.0").wait_for()
    open_state(page, "long-answer")
    last = page.locator(".answer li").last
    last.scroll_into_view_if_needed()
    assert last.is_visible()
    assert page.get_by_role("button", name="New").is_visible()
    assert page.evaluate("innerHeight - document.querySelector('.foot').getBoundingClientRect().bottom") >= 0
