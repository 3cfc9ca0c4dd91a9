"""Links of an answer: which ones a click opens, and by which program."""

import os
import select
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtGui", reason="Qt is not installed here", exc_type=ImportError)

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest

from aeon_popup.ui.answer import AnswerText
from aeond_client.events import AnswerComposed, AnswerStarted, RunEnded
from aeond_client.records.runs import Answer, RunState
from tests.support.daemon_process import daemon_folder
from tests.support.desktop_bus import LinkPortal
from tests.support.desktop_session import DEADLINE_SECONDS, Popup, XSession
from tests.support.popup_pictures import NoActions
from tests.support.popup_states import folded, planned, received, sent
from tests.support.popup_windows import open_window
from tests.support.stages import Stage, staged

WEB, MAIL = "https://example.org/a?b=c%20d&e=$HOME", "mailto:marta@example.org?subject=Lisbon%20offsite"
OTHERS = (
    "file:///etc/passwd",
    "javascript:alert(1)",
    "ssh://example.org",
    "dev.aeon:run",
    "notes.md",
    "#top",
)
# So long that a click anywhere in the answer meets the link.
WORDS = ", ".join(f"the talks of day {number}" for number in range(40))
REQUESTS = {WEB: "link to the offsite", MAIL: "link to marta"}
SCRIPT = {
    "rules": [
        {"contains": request, "json": {"answer": f"[{WORDS}]({link})"}} for link, request in REQUESTS.items()
    ]
}
# Programs in place of those that open a link. Each writes its arguments; systemd-run then runs the command among them, in
# which $$ is a $, as in the command of a service.
XDG_OPEN = 'echo "xdg-open $*" >&3'
SYSTEMD_RUN = """echo "systemd-run $*" >&3
while [ "$1" != -- ]; do shift; done
exec "$2" "$(printf %s "$3" | sed 's/[$][$]/$/g')"
"""
SERVICE = "systemd-run --user --quiet --collect --service-type=exec --property=ExitType=cgroup"


class Programs:
    """A folder of programs, and the lines that these have written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._fifo = folder / "written"
        os.mkfifo(self._fifo)
        self._reader = os.open(self._fifo, os.O_RDWR | os.O_NONBLOCK)
        self._lines: list[str] = []

    @property
    def path(self) -> str:
        return f"{self._folder}:{os.environ['PATH']}"

    def add(self, name: str, script: str) -> None:
        program = self._folder / name
        program.write_text(f"#!/bin/sh\nexec 3>{self._fifo}\n{script}\n")
        program.chmod(0o755)

    def next(self) -> str:
        """The next line that a program has written."""
        while not self._lines:
            assert select.select([self._reader], [], [], DEADLINE_SECONDS)[0], "no program was started"
            self._lines += os.read(self._reader, 65_536).decode().splitlines()
        return self._lines.pop(0)

    def close(self) -> None:
        os.close(self._reader)


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Programs]:
    made = Programs(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """A daemon whose answers are links."""
    with daemon_folder() as folder, staged(folder, script=SCRIPT) as made:
        yield made


def click(popup: Popup, session: XSession, link: str) -> None:
    """Asks for an answer that is this link, and clicks into its middle."""
    popup.open()
    since = popup.seen()
    popup.type(REQUESTS[link])
    popup.press("Return")
    done = popup.wait_for("stage", since, stage="done")
    fitted = popup.wait_for("fitted", popup.entries.index(done))
    popup.wait_for("painted", popup.entries.index(fitted))
    place = session.wait_for_height(session.popup_window(), fitted["height"])
    middle = [int(place[start]) + int(place[size]) // 2 for start, size in (("X", "WIDTH"), ("Y", "HEIGHT"))]
    session.xdotool("mousemove", *map(str, middle), "click", "1")


@pytest.mark.parametrize("link", [WEB, MAIL])
def test_a_click_lets_the_portal_open_the_link(session: XSession, popup: Popup, link: str) -> None:
    """A click on a web or mail link of the answer gives its address to the portal of the desktop."""
    with LinkPortal(session) as portal:
        click(popup, session, link)
        assert portal.opened.get(timeout=DEADLINE_SECONDS) == link
        popup.wait_for("opened", by="portal")


def test_without_a_portal_the_program_runs_in_a_service_of_its_own(
    session: XSession, stage: Stage, programs: Programs
) -> None:
    """Where no portal opens links, xdg-open gets the address, started by systemd-run in a service that has the display."""
    programs.add("xdg-open", XDG_OPEN)
    programs.add("systemd-run", SYSTEMD_RUN)
    with Popup(session, stage.socket, PATH=programs.path) as popup:
        popup.wait_for("armed")
        click(popup, session, WEB)
        popup.wait_for("opened", by="service")
    started = f"{SERVICE} --setenv=DISPLAY={session.display} -- xdg-open {WEB.replace('$', '$$')}"
    assert [programs.next() for _ in range(2)] == [started, f"xdg-open {WEB}"]


def test_without_a_service_manager_the_program_is_started_by_itself(
    session: XSession, stage: Stage, programs: Programs
) -> None:
    """Where neither a portal nor systemd of the user runs, xdg-open is started with the address."""
    programs.add("xdg-open", XDG_OPEN)
    programs.add("systemd-run", "exit 1")
    with Popup(session, stage.socket, PATH=programs.path) as popup:
        popup.wait_for("armed")
        click(popup, session, MAIL)
        popup.wait_for("opened", by="xdg-open")
    assert programs.next() == f"xdg-open {MAIL}"


def test_without_any_program_the_window_says_that_the_link_was_not_opened(
    session: XSession, stage: Stage, tmp_path: Path
) -> None:
    """Where there is neither a portal nor xdg-open, the window says that the link was not opened."""
    with Popup(session, stage.socket, PATH=str(tmp_path)) as popup:
        popup.wait_for("armed")
        click(popup, session, MAIL)
        popup.wait_for("opened", by="")
        assert MAIL in popup.wait_for("failed")["message"]


def follow(answer: AnswerText, link: str) -> list[str]:
    """Clicks the link, which is the first text of the answer; returns the addresses that are to be opened."""
    followed: list[str] = []
    answer.followed.connect(followed.append)
    cursor = QTextCursor(answer.document())
    cursor.movePosition(QTextCursor.MoveOperation.NextCharacter)
    middle = answer.cursorRect(cursor).center()
    assert answer.anchorAt(middle) == link
    QTest.mouseClick(answer.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    return followed


@pytest.mark.parametrize(
    ("link", "opened"),
    [
        (WEB, [WEB]),
        ("http://example.org", ["http://example.org"]),
        (MAIL, [MAIL]),
        *((one, []) for one in OTHERS),
    ],
)
def test_a_click_opens_only_web_and_mail_links(link: str, opened: list[str]) -> None:
    """Links of the web and of mail are opened; a click on any other does nothing, for it could start any program."""
    kinds = [
        *planned(5),
        AnswerStarted(),
        AnswerComposed(Answer(f"[words]({link})")),
        RunEnded(RunState.SUCCEEDED),
    ]
    with open_window(NoActions(), folded([*sent(), *received(*kinds)])) as popup:
        assert follow(popup.body.answer, link) == opened
