"""A browser for all tests of this folder, a daemon with a scripted model, and the page in a tab."""

import fcntl
import json
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from aeon_web.access import Access
from tests.support.aeonctl import command, environment
from tests.support.browser import (
    DEADLINE_MS,
    DEADLINE_SECONDS,
    chromium,
    listening,
    page_server,
    what_is_missing,
)
from tests.support.daemon_process import DaemonProcess, daemon_folder
from tests.support.ledgers import Gate
from tests.support.page_shows import Servers, servers
from tests.support.page_states import StatesClient
from tests.support.popup_script import script_with_gate
from tests.support.repository import ROOT
from tests.support.stages import Stage, staged

MISSING = what_is_missing()
POLICY = """profile = "trusted-folder"

[[ask]]
name = "files"
reason = "the test asks"
tools = ["write_file"]
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test here needs a browser."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.browser)
            if MISSING:
                item.add_marker(pytest.mark.skip(reason=f"missing here: {MISSING}"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with chromium() as launched:
        yield launched


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, from npm in the version of tests/page/package-lock.json."""
    folder = ROOT / ".cache" / "page-tests"
    folder.mkdir(parents=True, exist_ok=True)
    lock = Path(__file__).with_name("package-lock.json")
    # Another process of the same tests waits for the installation, and finds nothing left to do.
    with (folder / "installing").open("w") as installing:
        fcntl.flock(installing, fcntl.LOCK_EX)
        if not (folder / lock.name).exists() or (folder / lock.name).read_bytes() != lock.read_bytes():
            shutil.copy(Path(__file__).with_name("package.json"), folder)
            quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
            shutil.copy(lock, folder)
            subprocess.run(["npm", "ci", *quiet], cwd=folder, check=True, timeout=240)
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    """A daemon whose policy asks before write_file."""
    with daemon_folder() as folder:
        policy = folder / "asking.toml"
        policy.write_text(POLICY, encoding="utf-8")
        with staged(folder, {"policy": {"file": str(policy)}}, script_with_gate(folder / "gate")) as made:
            yield made


@pytest.fixture(scope="session")
def one_gate(stage: Stage) -> Gate:
    return stage.gate()


@pytest.fixture
def gate(one_gate: Gate) -> Iterator[Gate]:
    """Holds the step of the request GATE. No step of a test waits at it in the next one."""
    yield one_gate
    one_gate.clear()


@pytest.fixture
def daemon(stage: Stage) -> DaemonProcess:
    return stage.daemon


@contextmanager
def opened(socket: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`aeonctl open` as a program, and the link that it printed."""
    program = subprocess.Popen(
        command("--socket", socket, "open", "--json"),
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert program.stdout is not None
        yield program, json.loads(program.stdout.readline())["url"]
    finally:
        if program.poll() is None:
            program.send_signal(signal.SIGINT)
        program.communicate(timeout=DEADLINE_SECONDS)


Tab = Callable[..., Any]


@pytest.fixture
def tab(browser: Any) -> Iterator[Tab]:
    """Opens a link in a browser of its own. At the end no script may have failed and no rule been broken."""
    contexts: list[Any] = []
    faults: list[str] = []

    def open_tab(link: str, **options: Any) -> Any:
        context = browser.new_context(**{"reduced_motion": "reduce", **options})
        contexts.append(context)
        context.set_default_timeout(DEADLINE_MS)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: faults.append(line.text) if "Security Policy" in line.text else None)
        page.goto(link)
        return page

    yield open_tab
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture(scope="session")
def served(stage: Stage) -> Iterator[Access]:
    """The page's server for the daemon, in a thread."""
    with page_server(stage.socket) as access:
        yield access


@pytest.fixture
def page(served: Access, tab: Tab) -> Any:
    """The page, ready for a request."""
    shown = tab(served.new_link())
    shown.get_by_text("aeond ").wait_for()
    return shown


@pytest.fixture
def states() -> StatesClient:
    """The client of the fixture `pictured`, which records the calls of the page."""
    return StatesClient()


@pytest.fixture
def pictured(states: StatesClient) -> Iterator[Access]:
    """A server whose runs are in the states of tests/support/page_states.py."""
    with listening() as daemon, page_server(daemon, states) as access:
        yield access


@pytest.fixture(scope="module")
def using() -> Iterator[Servers]:
    """The servers that deliver every state of tests/support/page_shows.py."""
    with servers() as made:
        yield made
