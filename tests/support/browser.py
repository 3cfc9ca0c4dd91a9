"""Headless Chromium for tests, and the page's server in a thread of the test."""

import asyncio
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from aeon_web.access import Access
from aeon_web.server import serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DEADLINE_SECONDS = 60.0
DEADLINE_MS = 1_000 * DEADLINE_SECONDS
# The first one that is installed is used. Both have the same engine; the shell, which has no windows, tabs and extensions, needs a
# third of the processor time for a page.
_BROWSERS = ("chromium-headless-shell", "chromium")
# A name that leads to this machine, as the name of another site does after DNS rebinding.
FOREIGN_HOST = "evil.example"
# A fixed set of switches: no sandbox, because the tests run as root, and fonts that look the same on every machine.
_SWITCHES = (
    "--no-sandbox",
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--hide-scrollbars",
    f"--host-resolver-rules=MAP {FOREIGN_HOST} 127.0.0.1",
)


def what_is_missing() -> str:
    """The programs and libraries that the tests of the page need and this machine lacks; "" if there are all."""
    missing = [] if _installed_browser() else [" or ".join(_BROWSERS)]
    missing += [name for name in ("npm",) if shutil.which(name) is None]
    return ", ".join(missing + [name for name in ("playwright",) if find_spec(name) is None])


def _installed_browser() -> str | None:
    """The path of the browser, if there is one."""
    return next(filter(None, map(shutil.which, _BROWSERS)), None)


@contextmanager
def chromium() -> Iterator["Browser"]:
    """Debian's Chromium, as its headless shell if that is installed."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_installed_browser(), args=[*_SWITCHES])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def listening() -> Iterator[str]:
    """A socket on which something listens, as a daemon would."""
    with tempfile.TemporaryDirectory(prefix="aeon-") as folder, socket.socket(socket.AF_UNIX) as door:
        path = str(Path(folder) / "aeond.sock")
        door.bind(path)
        door.listen(128)
        yield path


@contextmanager
def page_server(daemon: str, client: Any = None) -> Iterator[Access]:
    """The page's server for the daemon at this socket, with another client if one is given."""
    ready: SimpleQueue[Access | BaseException] = SimpleQueue()
    started: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = []

    async def run() -> None:
        task = asyncio.current_task()
        assert task is not None
        started.append((asyncio.get_running_loop(), task))
        await serve(daemon, 0, ready.put, None if client is None else lambda: client)

    def work() -> None:
        try:
            asyncio.run(run())
        except asyncio.CancelledError:
            return
        except BaseException as error:  # noqa: BLE001 - reported to the thread that waits
            ready.put(error)

    thread = Thread(target=work, daemon=True)
    thread.start()
    access = ready.get(timeout=DEADLINE_SECONDS)
    if isinstance(access, BaseException):
        raise access
    try:
        yield access
    finally:
        loop, task = started[0]
        loop.call_soon_threadsafe(task.cancel)
        thread.join(DEADLINE_SECONDS)
