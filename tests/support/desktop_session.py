"""A desktop for tests: Xvfb, openbox, a session bus, and the popup as a program of its own with its trace."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import pytest

from aeon_popup.toggle import send_action

DEADLINE_SECONDS = 60.0
HOTKEY = "ctrl+alt+space"
_PROGRAMS = ("Xvfb", "openbox", "xdotool", "dbus-daemon")

Entry = dict[str, Any]


def what_is_missing() -> str:
    """The programs and libraries that the desktop tests need and this machine lacks; "" if there are all."""
    programs = [name for name in _PROGRAMS if shutil.which(name) is None]
    libraries = [name for name in ("PySide6", "dbus_fast", "xcffib") if find_spec(name) is None]
    return ", ".join(programs + libraries)


needs_desktop = pytest.mark.skipif(bool(what_is_missing()), reason=f"missing here: {what_is_missing()}")


_BUS_CONFIG = """<busconfig><type>session</type><auth>EXTERNAL</auth><listen>unix:dir={folder}</listen>{services}
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>"""


class Session:
    """A session bus, and what a program needs to be part of the session: `environment`, and `prefix`, the start of its
    command line.
    """

    prefix: tuple[str, ...] = ()

    def __init__(self, bus: str, folder: Path) -> None:
        self.bus = bus
        self.folder = folder

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return {
            **kept,
            "DBUS_SESSION_BUS_ADDRESS": self.bus,
            "XDG_RUNTIME_DIR": str(self.folder),
            "PYTHONUTF8": "1",
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "NO_AT_BRIDGE": "1",
        }

    def run(self, *words: str) -> str:
        """Runs a program of the session to its end; returns its output."""
        command = [*self.prefix, *words]
        done = subprocess.run(
            command,
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
            timeout=DEADLINE_SECONDS,
        )
        return done.stdout.strip()

    def press(self, *keys: str) -> None:
        """Presses keys one after another, as a person does."""
        raise NotImplementedError

    def type(self, text: str) -> None:
        """Types a text."""
        raise NotImplementedError


class XSession(Session):
    """A display with a window manager."""

    def __init__(self, display: str, bus: str, folder: Path) -> None:
        super().__init__(bus, folder)
        self.display = display

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "DISPLAY": self.display, "QT_QPA_PLATFORM": "xcb"}

    def xdotool(self, *words: str) -> str:
        """Runs xdotool; returns its output."""
        return self.run("xdotool", *words)

    def press(self, *keys: str) -> None:
        self.xdotool("key", "--clearmodifiers", *keys)

    def type(self, text: str) -> None:
        self.xdotool("type", "--delay", "4", text)

    def hold(self, *keys: str) -> None:
        """Presses keys and keeps them down; the last one repeats."""
        self.xdotool(*(word for key in keys for word in ("keydown", key)))

    def release(self, *keys: str) -> None:
        self.xdotool(*(word for key in keys for word in ("keyup", key)))

    def wait_for_focus(self, window: str) -> None:
        """Returns once this window has the focus."""
        self.wait_for_output("getwindowfocus", window)

    def wait_for_output(self, command: str, output: str) -> None:
        """Returns once a command of xdotool prints this. The command fails as long as there is no such window: while the
        focus passes from a window that hides to the next, none has it.
        """
        deadline = time.monotonic() + DEADLINE_SECONDS
        while (said := self._asked(command)) != output:
            assert time.monotonic() < deadline, f"{command}: {said}, not {output}"

    def _asked(self, command: str) -> str:
        """What the command of xdotool prints, or why it failed."""
        try:
            return self.xdotool(command)
        except subprocess.CalledProcessError as error:
            return f"{error}: {error.stderr}"

    def wait_for_height(self, window: str, height: int) -> dict[str, str]:
        """The place of the window, once the window manager has given it this height: what xdotool prints, by name."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while True:
            shape = self.xdotool("getwindowgeometry", "--shell", window)
            place = dict(line.split("=") for line in shape.splitlines())
            if int(place["HEIGHT"]) == height:
                return place
            assert time.monotonic() < deadline, f"{shape}, not of height {height}"

    def popup_window(self) -> str:
        """The id of the popup's window, once it is visible."""
        return self.xdotool("search", "--sync", "--onlyvisible", "--name", "^aeon$")


@contextmanager
def desktop_session(size: str = "1280x800") -> Iterator[XSession]:
    """A session of its own, gone at the end."""
    with ExitStack() as stack:
        folder = session_folder(stack)
        display = start_display(stack, size)
        session = XSession(display, start_bus(stack, folder), folder)
        config = folder / "openbox.xml"
        config.write_text(
            '<openbox_config xmlns="http://openbox.org/3.4/rc"><focus><focusNew>yes</focusNew></focus></openbox_config>'
        )
        ready = folder / "openbox-ready"
        os.mkfifo(ready)
        command = ["openbox", "--config-file", str(config), "--startup", f"sh -c 'echo > {ready}'"]
        spawned(stack, command, session.environment)
        with ready.open("rb") as fifo:
            fifo.read()
        yield session


def session_folder(stack: ExitStack) -> Path:
    """A folder for the session's sockets."""
    folder = Path(tempfile.mkdtemp(prefix="aeon-desktop-"))
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    return folder


def start_display(stack: ExitStack, size: str = "1280x800") -> str:
    """Starts an X server without a screen that anybody sees; returns its display."""
    words = ["Xvfb", "-displayfd", "{fd}", "-screen", "0", f"{size}x24", "-nolisten", "tcp"]
    return f":{started(stack, words)}"


def start_bus(
    stack: ExitStack,
    folder: Path,
    services: Path | None = None,
    prefix: tuple[str, ...] = (),
    environment: Mapping[str, str] | None = None,
) -> str:
    """Starts a session bus and returns its address. It starts programs by the service files of `services` and by no
    others: those of the machine do not become part of a test.
    """
    config = folder / "bus.conf"
    named = f"<servicedir>{services}</servicedir>" if services else ""
    config.write_text(_BUS_CONFIG.format(folder=folder, services=named), encoding="utf-8")
    words = [*prefix, "dbus-daemon", f"--config-file={config}", "--nofork", "--print-address={fd}"]
    return started(stack, words, environment)


class Traced:
    """The trace of a program `aeon-popup` of which `environment` is part of the environment."""

    def __init__(self, folder: Path) -> None:
        self.entries: list[Entry] = []
        self._fifo = Path(tempfile.mkdtemp(dir=folder)) / "trace"
        os.mkfifo(self._fifo)
        self._reader = os.open(self._fifo, os.O_RDWR | os.O_NONBLOCK)
        self._rest = b""
        self._log = self._fifo.with_name("log")
        self.environment = {"AEON_POPUP_TRACE": str(self._fifo)}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._reader)

    @property
    def log(self) -> str:
        """The program's output so far; "" if that goes elsewhere."""
        return self._log.read_text(encoding="utf-8") if self._log.exists() else ""

    def wait_for(self, what: str, since: int = 0, **fields: Any) -> Entry:
        """The first entry of this kind with these fields, from entry number `since` on."""
        return self.wait_until(
            lambda entry: entry["what"] == what and fields.items() <= entry.items(), since, f"{what} {fields}"
        )

    def wait_until(self, fits: Callable[[Entry], bool], since: int = 0, name: str = "an entry") -> Entry:
        deadline = time.monotonic() + DEADLINE_SECONDS
        place = since
        while True:
            while place < len(self.entries):
                if fits(self.entries[place]):
                    return self.entries[place]
                place += 1
            self._read(max(deadline - time.monotonic(), 0.0), name)

    def seen(self) -> int:
        """The number of entries so far: the start of a later wait."""
        while select.select([self._reader], [], [], 0)[0]:
            self._read(0.0, "entries")
        return len(self.entries)

    def all(self, what: str, since: int = 0) -> list[Entry]:
        """Every entry of a kind so far."""
        self.seen()
        return [entry for entry in self.entries[since:] if entry["what"] == what]

    def _read(self, seconds: float, name: str) -> None:
        ready, _, _ = select.select([self._reader], [], [], seconds)
        if not ready:
            said = [entry for entry in self.entries if entry["what"] not in {"painted", "late"}]
            recent = "\n".join(map(str, said[-20:]))
            raise AssertionError(f"no {name} in the trace:\n{recent}\n{self.log}")
        data = self._rest + os.read(self._reader, 65_536)
        *lines, self._rest = data.split(b"\n")
        self.entries += [json.loads(line) for line in lines]


class Popup(Traced):
    """The program `aeon-popup`, with the entries of its trace."""

    program = "aeon_popup"

    def __init__(self, session: Session, socket: Path | str, *arguments: str, **environment: str) -> None:
        super().__init__(session.folder)
        self.session = session
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [
                    *session.prefix,
                    sys.executable,
                    "-m",
                    self.program,
                    "--background",
                    "--socket",
                    str(socket),
                    *arguments,
                ],
                env={**session.environment, **self.environment, **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(DEADLINE_SECONDS)
        super().__exit__()

    def press(self, *keys: str) -> None:
        """Presses keys one after another, as a person does."""
        self.session.press(*keys)

    def wait_for_repeats(self, times: int, since: int) -> None:
        """Returns once the held key was repeated so often."""
        for _ in range(times):
            entry = self.wait_for("repeat", since)
            since = self.entries.index(entry) + 1

    def type(self, text: str) -> None:
        self.session.type(text)

    def choose(self, key: str) -> None:
        """Presses the key of an option until it counts, because at first the window ignores it."""
        what = ""
        while what != "answered":
            since = self.seen()
            self.press(key)
            what = self.wait_until(lambda one: one["what"] in {"answered", "ignored"}, since)["what"]

    def open(self) -> None:
        """Opens the window by the hotkey; returns once it is painted and has the focus."""
        since = self.seen()
        self.press(HOTKEY)
        self.wait_for("painted", since)
        self.wait_for("focused", since)

    def renew(self) -> None:
        """Hides the window with an empty prompt and forgets the trace, except how the hotkey was bound: as after a start."""
        since = self.seen()
        for action in ("hide", "new"):
            send_action(action, self.session.environment)
        self.wait_for("focused", since)
        since = self.seen()
        send_action("hide", self.session.environment)
        self.wait_for("hidden", since)
        self.entries = [entry for entry in self.entries if entry["what"] == "armed"]


@contextmanager
def armed_popup(session: XSession, socket: str | Path) -> Iterator[Popup]:
    """A popup of this session that waits for its hotkey, until the context ends."""
    with Popup(session, socket) as made:
        made.wait_for("armed", shortcut="Ctrl+Alt+Space")
        yield made


class PatientPopup(Popup):
    """A popup whose approvals ignore keys for an hour."""

    program = "tests.support.patient_popup"


@contextmanager
def key_window(session: XSession, *words: str) -> Iterator["subprocess.Popen[str]"]:
    """A window of another program that has the focus; it prints its id, then the symbol of each key that it gets."""
    command = [sys.executable, "-m", "tests.support.key_window", *words]
    with subprocess.Popen(command, env=session.environment, stdout=subprocess.PIPE, text=True) as program:
        try:
            yield program
        finally:
            program.terminate()


def started(stack: ExitStack, command: list[str], environment: Mapping[str, str] | None = None) -> str:
    """Starts a server that prints its address to a file descriptor, and returns the address."""
    read, write = os.pipe()
    words = [word.replace("{fd}", str(write)) for word in command]
    spawned(stack, words, os.environ if environment is None else environment, (write,))
    os.close(write)
    with os.fdopen(read) as pipe:
        return pipe.readline().strip()


def spawned(
    stack: ExitStack,
    command: list[str],
    environment: Mapping[str, str],
    keep: tuple[int, ...] = (),
    log: Path | None = None,
) -> "subprocess.Popen[bytes]":
    """Starts a program that is ended with the stack."""
    with (log or Path(os.devnull)).open("wb") as output:
        process = subprocess.Popen(
            command, env=environment, pass_fds=keep, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )

    def end() -> None:
        process.send_signal(signal.SIGTERM)
        process.wait(DEADLINE_SECONDS)

    stack.callback(end)
    return process
