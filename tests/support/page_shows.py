"""Shows every state of the web page in a browser."""

import datetime as dt
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from aeon_web.access import Access
from tests.support.browser import DEADLINE_MS, listening, page_server
from tests.support.page_runs import NOW, TEXT, runs, summaries
from tests.support.page_states import StatesClient

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Scheme = Literal["dark", "light"]
SCHEMES: tuple[Scheme, ...] = ("dark", "light")

# Two frames later everything that was asked for so far is on the screen.
DRAWN = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
_SIZE = (960, 720)
_WIDE = (1280, 800)
_SIZES = {
    "history": _WIDE, "history-unread": _WIDE, "history-empty": _WIDE, "conversations": _WIDE, "small": (390, 720),
}  # fmt: skip
# What the daemon says of itself, where it is not ready.
_DAEMON = {"starting": "starting", "degraded": "degraded"}
# The error of a call in a state, or "" if the reply to it never comes.
_REPLIES = {
    "connecting": ("stream", ""),
    "sending": ("create_run", ""),
    "deciding": ("decide_approval", ""),
    "call-failed": ("decide_approval", "the daemon did not reply within 5 s: repeat the call"),
    "history-unread": ("list_runs", "the daemon did not reply within 5 s: repeat the call"),
}
_REPLYING = """
const [call, message, real] = [%s, %s, window.fetch];
const reply = () => (message ? Response.json({ reason: "TIMED_OUT", message }, { status: 504 }) : new Promise(() => {}));
window.fetch = (...given) => (given[0] === `/api/${call}` ? reply() : real(...given));
"""
# The page shows the path of the daemon's socket, which is another one in each test, as the usual one.
_USUAL_SOCKET = """
const parse = JSON.parse;
JSON.parse = (text) => parse(text.replace(/"socket": "[^"]+"/, '"socket": "/run/user/1000/aeond/aeond.sock"'));
"""
# Words that the page has when it is ready for what leads to the state, where they are not those of a run or of the usual prompt.
_READY = {
    "starting": "Requests are accepted",
    "degraded": "The daemon is degraded",
    "no-session": "This link was used already",
    "connecting": "Connecting…",
    "offline": "No daemon is listening",
    "history-unread": "Not up to date",
    "history-empty": "Nothing yet",
    "missing": "does not exist",
}
_MISSING = "01990000-0000-7000-8000-00000007f3aa"
# The stage of each run once all its events have arrived, as the badge has it.
_STAGES = {
    "queued": "Waiting…",
    "planning": "Planning…",
    **dict.fromkeys(("running", "children", "fork"), "Running · 3 of 5"),
    "streaming": "Answering…",
    **dict.fromkeys(("done", "long-answer", "conversation", "differs"), "Done"),
    **dict.fromkeys(("question", "choice", "long-options", "form"), "Needs your answer"),
    **dict.fromkeys(("approval", "approval-several", "long-plan"), "Needs approval"),
    **dict.fromkeys(("decision", "suspended"), "Needs your decision"),
    "stopping": "Stopping…",
    **dict.fromkeys(("failed", "failed-changes", "alone"), "Failed"),
    **dict.fromkeys(("cancelled", "cancelled-changes"), "Cancelled"),
    "expired": "Stopped at a limit",
    _MISSING: "Not available",
}


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
    page.get_by_text(" undone.").wait_for()
    page.mouse.move(0, 0)  # else the mouse is at a step when the window has grown
    page.locator(".changes").scroll_into_view_if_needed()


def _details(page: "Page") -> None:
    page.get_by_role("button", name="Read Monday's log").click()


def _send(page: "Page", words: str) -> None:
    page.get_by_label("Request").fill("Compare last week's test runs")
    page.get_by_role("button", name="Send").click()
    page.get_by_text(words).first.wait_for()


def _allow(page: "Page", words: str) -> None:
    page.locator("[data-armed]").wait_for()
    page.keyboard.press("Control+Enter")
    page.get_by_text(words).first.wait_for()


def _misspell(page: "Page") -> None:
    page.locator("[data-armed]").wait_for()
    page.locator("#card-field").fill("two")
    page.keyboard.press("Enter")
    page.get_by_text("The answer must be a number.").wait_for()


def _follow_up(page: "Page") -> None:
    page.locator(".thread").wait_for()
    page.get_by_label("Follow-up request").fill(
        "Send it to Marta as well, and say which of the two egress runs counts"
    )


def _conversations(page: "Page") -> None:
    page.get_by_role("button", name="Conversations").click()
    page.get_by_text("Photos of last weekend").wait_for()


@dataclass(frozen=True, slots=True)
class Servers:
    """The client that delivers the states, and page servers: with a daemon, without one, and with one that listens while
    `leaving` leads to `daemon`.
    """

    client: StatesClient
    daemon: str
    up: Access
    down: Access
    left: Access
    leaving: Path


@contextmanager
def servers() -> Iterator[Servers]:
    client = StatesClient(now=lambda: NOW)
    with (
        tempfile.TemporaryDirectory(prefix="aeon-") as folder,
        listening() as daemon,
        page_server(daemon, client) as up,
        page_server("/nonexistent/aeond.sock", StatesClient(up=False)) as down,
        page_server(f"{folder}/aeond.sock", client) as left,
    ):
        yield Servers(client, daemon, up, down, left, Path(folder, "aeond.sock"))


# A state with its run ("" for the prompt), and the actions that lead to it.
States = dict[str, tuple[str, Callable[["Page"], object] | None]]


def states() -> States:
    """Every state by name."""
    named: States = {name: (name, None) for name in runs()}
    named |= dict.fromkeys(("prompt", "connecting", "starting", "degraded", "no-session"), ("", None))
    named |= {
        "differs": ("differs", _differs),
        "form": ("form", _misspell),
        "conversation": ("conversation", _follow_up),
        "offline": ("", partial(_send, words="Not sent")),
        "sending": ("", partial(_send, words="Sending…")),
        "deciding": ("approval", partial(_allow, words="Sending…")),
        "call-failed": ("approval", partial(_allow, words="did not reply")),
        "undone": ("done", _undo),
        "undo-refused": ("cancelled-changes", _undo),
        "journal": ("done", _journal),
        "details": ("running", _details),
        "history": ("done", None),
        "history-unread": ("", None),
        "history-empty": ("", None),
        "conversations": ("", _conversations),
        "missing": (_MISSING, None),
        "daemon-lost": ("running", None),
        "disconnected": ("running", None),
        "small": ("approval", None),
        "keys": ("", lambda page: page.keyboard.press("F1")),
    }
    return named


def show(
    browser: "Browser", name: str, *, scheme: Scheme, scale: int, using: Servers, **options: Any
) -> "Page":
    """A page that shows the state, in a context of its own with these options."""
    client = using.client
    client.state = _DAEMON.get(name, "ready")
    client.listed = (lambda _: ()) if name == "history-empty" else summaries
    options |= {"color_scheme": scheme, "device_scale_factor": scale}
    if name == "disconnected":
        with page_server(using.daemon, client) as ended:
            page = _open(browser, name, ended.new_link(), **options)
        page.get_by_text("The page's server has ended.").wait_for()
    elif name == "daemon-lost":
        using.leaving.symlink_to(using.daemon)
        page = _open(browser, name, using.left.new_link(), **options)
        using.leaving.unlink()
        page.get_by_text("The run continues with the next start").wait_for()
    else:
        link = (using.down if name == "offline" else using.up).new_link()
        if name == "no-session":
            assert using.up.begin(link.partition("=")[2])
        page = _open(browser, name, link, **options)
    page.evaluate(DRAWN)
    return page


def _open(browser: "Browser", name: str, link: str, **options: Any) -> "Page":
    width, height = _SIZES.get(name, _SIZE)
    usual = {"viewport": {"width": width, "height": height}, "reduced_motion": "reduce", "locale": "en-GB", "timezone_id": "UTC"}  # fmt: skip
    context = browser.new_context(**{**usual, **options})
    context.set_default_timeout(DEADLINE_MS)
    page = context.new_page()
    page.clock.set_fixed_time(dt.datetime.fromtimestamp(NOW, dt.UTC))
    page.add_init_script(_USUAL_SOCKET)
    run, act = states()[name]
    if name in _REPLIES:
        page.add_init_script(_REPLYING % tuple(json.dumps(words) for words in _REPLIES[name]))
    page.goto(link)
    page.locator(".panel").wait_for()
    if run:
        page.evaluate("run => { location.hash = `run=${run}` }", run)
        page.locator(".head h2").get_by_text("Run f3aa" if run == _MISSING else TEXT).wait_for()
        page.locator(".badge").get_by_text(_STAGES[run], exact=True).wait_for()
    if name in _READY or not run:
        page.get_by_text(_READY.get(name, "aeond 0.1.0")).first.wait_for()
    if act is not None:
        act(page)
    return page
