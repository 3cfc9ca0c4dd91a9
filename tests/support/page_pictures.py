"""Draws the states of the web page into docs/pictures: `python -m tests.support.page_pictures [FOLDER [STATE...]]`."""

import datetime as dt
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtGui import QImage

from aeon_web.access import Access
from tests.support.browser import chromium, listening, page_server
from tests.support.page_states import TEXT, StatesClient, runs
from tests.support.popup_pictures import fewer_colours
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Scheme = Literal["dark", "light"]

NOW = 1_800_000_000.0
FOLDER = ROOT / "docs" / "pictures"
_SIZE = (960, 720)
_SIZES = {"history": (1280, 800), "small": (390, 720)}
_PARTLY = {"small", "history", "long-answer"}
# Two frames later everything that was asked for so far is on the screen.
_DRAWN = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
SCHEMES: tuple[Scheme, ...] = ("dark", "light")


def _journal(page: "Page") -> None:
    page.keyboard.press("Control+j")
    page.locator("#position").press("Home")
    for _ in range(9):
        page.locator("#position").press("ArrowRight")
    page.get_by_role("button", name="Replay the record").click()
    page.get_by_text("identical to the record").wait_for()


def _differs(page: "Page") -> None:
    page.keyboard.press("Control+j")
    page.get_by_role("button", name="Replay the record").click()
    page.get_by_text("Differs after").wait_for()


def _undo(page: "Page") -> None:
    page.get_by_role("button", name="Undo the changes").click()
    page.get_by_text("changes undone").wait_for()
    page.locator(".changes").scroll_into_view_if_needed()


def _details(page: "Page") -> None:
    page.get_by_role("button", name="Read Monday's log").click()


def _offline(page: "Page") -> None:
    page.get_by_label("Request").fill("Compare last week's test runs")
    page.get_by_role("button", name="Send").click()
    page.get_by_text("Not sent").wait_for()


@dataclass(frozen=True, slots=True)
class Servers:
    """The client that delivers the states, a page server with it, and one without a daemon."""

    client: StatesClient
    daemon: str
    up: Access
    down: Access


@contextmanager
def servers() -> Iterator[Servers]:
    client = StatesClient(now=lambda: NOW)
    with (
        listening() as daemon,
        page_server(daemon, client) as up,
        page_server("/nonexistent/aeond.sock", StatesClient(up=False)) as down,
    ):
        yield Servers(client, daemon, up, down)


# A state with its run ("" for the prompt), and the actions that lead to it.
States = dict[str, tuple[str, Callable[["Page"], object] | None]]


def states() -> States:
    """Every state by name."""
    named: States = {name: (name, None) for name in runs()}
    named |= {
        "differs": ("differs", _differs),
        "prompt": ("", None),
        "offline": ("", _offline),
        "starting": ("", None),
        "history": ("done", None),
    }
    named |= {"undone": ("done", _undo), "journal": ("done", _journal), "details": ("running", _details)}
    named |= {"disconnected": ("running", None), "no-session": ("", None)}
    named |= {"small": ("approval", None), "keys": ("", lambda page: page.keyboard.press("F1"))}
    return named


def show(browser: "Browser", name: str, *, scheme: Scheme, scale: int, using: Servers) -> "Page":
    """A page that shows the state."""
    using.client.state = "starting" if name == "starting" else "ready"
    link = (using.down if name == "offline" else using.up).new_link()
    if name == "disconnected":
        with page_server(using.daemon, using.client) as ended:
            page = _open(browser, name, scheme=scheme, scale=scale, link=ended.new_link())
        page.get_by_text("The page's server has ended.").wait_for()
    else:
        if name == "no-session":
            assert using.up.begin(link.partition("=")[2])
        page = _open(browser, name, scheme=scheme, scale=scale, link=link)
    page.evaluate(_DRAWN)
    return page


def _open(browser: "Browser", name: str, *, scheme: Scheme, scale: int, link: str) -> "Page":
    width, height = _SIZES.get(name, _SIZE)
    context = browser.new_context(
        viewport={"width": width, "height": height}, device_scale_factor=scale, color_scheme=scheme, reduced_motion="reduce", locale="en-GB", timezone_id="UTC"
    )  # fmt: skip
    page = context.new_page()
    page.clock.set_fixed_time(dt.datetime.fromtimestamp(NOW, dt.UTC))
    run, act = states()[name]
    page.goto(link)
    badge = page.locator(".badge")
    page.locator(".panel").wait_for()
    if run:
        page.evaluate("run => { location.hash = `run=${run}` }", run)
        page.locator(".head h2").get_by_text(TEXT).wait_for()
        badge.wait_for()
    elif name == "starting":
        page.get_by_text("Requests are accepted").wait_for()
    elif name == "no-session":
        page.get_by_text("This link was used already").wait_for()
    elif name != "offline":
        page.get_by_text("aeond 0.1.0").wait_for()
    if act is not None:
        act(page)
    return page


def taken(page: "Page", name: str, scheme: Scheme) -> QImage:
    """A picture of the page that shows the state: of all of it, or of the screen where that is what the state is about."""
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    if name not in _PARTLY:
        _grow(page)
    return QImage.fromData(page.screenshot()).convertToFormat(QImage.Format.Format_RGB32)


def _grow(page: "Page") -> None:
    """Makes the window as high as the page, so that all of it is in the picture. A picture of more than the window would
    have in its middle what sticks to the window's edge.
    """
    for _ in range(20):  # parts of the page are as high as the window allows
        height = int(page.evaluate("document.documentElement.scrollHeight"))
        assert page.viewport_size is not None
        if height == page.viewport_size["height"]:
            break
        page.set_viewport_size({"width": page.viewport_size["width"], "height": height})
        page.evaluate(_DRAWN)
    page.evaluate("scrollTo(0, 0)")


def main(folder: Path, *names: str) -> None:
    folder.mkdir(exist_ok=True)
    with chromium() as browser, servers() as using:
        for name in names or states():
            for scheme in SCHEMES:
                for scale in (1, 2):
                    page = show(browser, name, scheme=scheme, scale=scale, using=using)
                    image = fewer_colours(taken(page, name, scheme))
                    page.context.close()
                    suffix = "" if scale == 1 else "@2x"
                    image.save(str(folder / f"page-{name}-{scheme}{suffix}.png"), quality=0)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER, *sys.argv[2:])
