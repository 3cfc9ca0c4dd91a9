"""The desktop window in a private X session: hotkey to pixels, toggles, events to pixels, memory."""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil

from aeon_popup.toggle import BUS_NAME, send_action
from benchmarks import desktop_daemon
from benchmarks.desktop_daemon import REPLAYED, RESTARTS, STEADY_PER_SECOND, STEADY_SECONDS, Times, served
from benchmarks.page import Section, megabytes, verdict
from tests.support.desktop_bus import Portal
from tests.support.desktop_session import (
    DEADLINE_SECONDS,
    HOTKEY,
    Entry,
    Popup,
    Session,
    XSession,
    desktop_session,
    start_bus,
)

ROUNDS = 40
STARTS = 5
RESTS = 10
TOGGLES = 300
IDLE_SECONDS = 5.0
# The popup takes the portal where the session names a display of Wayland.
WAYLAND = {"WAYLAND_DISPLAY": "wayland-of-the-portal"}
_LOOK_SECONDS = 0.001

Row = tuple[str, str, str]


def measure(folder: Path) -> Section:
    """Opens the window in each of its ways, and lets it follow runs that send events."""
    socket = folder / "d.sock"
    with desktop_session() as session:
        rows = (
            *_starts(session, socket),
            *_use(session, socket),
            *_portal(session, socket),
            *_events(session, folder),
            *_answers(session, folder),
            *_bare(session, socket),
        )
    return Section(
        "The desktop window",
        f"`aeon-popup` under Xvfb with openbox, without a GPU. {ROUNDS} times each: the hotkey, from the press as the window's"
        " program reads it from the X server to the first frame that is on the screen; and the command, from its start. A run sends"
        f" {desktop_daemon.FLOOD_PER_SECOND:,} numbered events a second for {desktop_daemon.FLOOD_SECONDS} s, of a plan of"
        f" {desktop_daemon.STEPS} steps; lateness is that of"
        " a timer of 10 ms in the thread of the window, the worst of each half second. A streamed answer is a Markdown list whose items"
        f" have code, {desktop_daemon.PIECE} characters in each of as many events a second. Another run sends"
        f" {STEADY_PER_SECOND} a second for {STEADY_SECONDS} s, timed from the daemon's process to the next painted frame. Two"
        " seconds after it was hidden the window rests: it gives back pages of libraries that it may not need again; growth is from"
        " the rest after the first opening to the rest at the end. The portal is the double of the tests, on the same bus."
        " Commands without a portal and without a display are timed from the start of the program to its end.",
        ("what", "measured", "aim"),
        rows,
    )


def _bare(session: Session, socket: Path) -> list[Row]:
    """Commands where the popup has neither a portal nor a display, whose user binds a key to one of them."""
    bare = Session(session.bus, session.folder)
    with Popup(bare, socket, QT_QPA_PLATFORM="offscreen") as popup:
        popup.wait_for("armed", shortcut="")
        toggled = [_lasted(bare, "--toggle") for _ in range(ROUNDS)]
    explained = [_lasted(bare, "--help") for _ in range(ROUNDS)]
    return [
        _row(
            "`aeon-popup --toggle` without portal and display, 95th percentile",
            _percentile(toggled, 95),
            200.0,
        ),
        _row("`aeon-popup --help` there, 95th percentile", _percentile(explained, 95), 200.0),
    ]


def _lasted(session: Session, option: str) -> float:
    """Milliseconds from the start of a command to its end."""
    begun = time.monotonic()
    session.run(sys.executable, "-m", "aeon_popup", option)
    return (time.monotonic() - begun) * 1e3


def _starts(session: XSession, socket: Path) -> list[Row]:
    armed = statistics.median(_started(session, socket) for _ in range(STARTS))
    cold = statistics.median(_activated(session, socket) for _ in range(STARTS))
    idle = _idle(session, socket)
    return [
        _row(f"start of the program to an armed hotkey, median of {STARTS}", armed, 800.0),
        _row(f"activation by D-Bus without a running window, to pixels, median of {STARTS}", cold, 900.0),
        ("processor while hidden", f"{idle:.2f}% of a core", verdict(idle, at_most=0.5, unit=" %")),
    ]


def _use(session: XSession, socket: Path) -> list[Row]:
    """The window over its life: opened again and again, and under a flood of events."""
    with Popup(session, socket) as popup:
        popup.wait_for("rested")
        process = psutil.Process(popup.process.pid)
        _opened_after_rest(popup)
        first = process.memory_info().rss
        hotkey = [_opened(popup, lambda: popup.press(HOTKEY), "pressed") for _ in range(ROUNDS)]
        pressing = [_opened(popup, lambda: popup.press(HOTKEY)) for _ in range(ROUNDS)]
        commands = [_opened(popup, lambda: _toggle(session)) for _ in range(ROUNDS)]
        for _ in range(TOGGLES - 3 * ROUNDS):
            _opened(popup, lambda: send_action("toggle", session.environment))
        used = process.memory_full_info()
        popup.wait_for("rested", popup.seen())
        rested = process.memory_full_info()
        after_rest = [_opened_after_rest(popup) for _ in range(RESTS)]
        with served(socket, "flood"):
            _forget_peak(process)
            since = _follow(popup)
            popup.wait_until(lambda entry: entry.get("seq", 0) >= 50, since)
            since = popup.seen()
            popup.wait_for("stage", since, stage="done")
            late = _lateness(popup, since)
            peak = _peak(process)
            popup.press("Escape")
        popup.wait_for("rested", popup.seen())
        grown = process.memory_info().rss - first
    per_second = f"{desktop_daemon.FLOOD_PER_SECOND:,} events/s"
    return [
        _row("hotkey to pixels, median", statistics.median(hotkey), 30.0),
        _row("hotkey to pixels, 95th percentile", _percentile(hotkey, 95), 80.0),
        _row("start of the program that presses it to pixels, median", statistics.median(pressing), 30.0),
        _row(f"hotkey to pixels after a rest, median of {RESTS}", statistics.median(after_rest), 30.0),
        _row("`aeon-popup --toggle`, program to pixels, median", statistics.median(commands), 100.0),
        _row("the same, 95th percentile", _percentile(commands, 95), 200.0),
        _row(f"worst lateness of the window at {per_second}", max(late), 50.0),
        _row("the same, median of half seconds", statistics.median(late), 50.0),
        _memory("resident memory, hidden", rested.rss),
        _memory("of it for this program alone (USS)", rested.uss),
        _memory("resident memory right after use", used.rss),
        _memory(f"most resident memory while shown at {per_second}", peak),
        (
            f"growth over {TOGGLES} toggles and {desktop_daemon.FLOOD_PER_SECOND * desktop_daemon.FLOOD_SECONDS:,} events",
            megabytes(grown),
            verdict(grown / 1e6, at_most=10, unit=" MB"),
        ),
    ]


def _portal(session: XSession, socket: Path) -> list[Row]:
    """The hotkey by a portal, and how long a portal that was started again has none."""
    again = []
    with Popup(session, socket, **WAYLAND) as popup:
        with Portal(session) as portal:
            popup.wait_for("armed", shortcut="Ctrl+Alt+Space")
            opened = [_opened(popup, portal.activate) for _ in range(ROUNDS)]
        for _ in range(STARTS):
            since, begun = popup.seen(), time.monotonic()
            with Portal(session):
                armed = popup.wait_for("armed", since, shortcut="Ctrl+Alt+Space")
                again.append(float(armed["at"] - begun) * 1e3)
    return [
        _row("hotkey of the portal to pixels, 95th percentile", _percentile(opened, 95), 50.0),
        (
            f"portal started again to an armed hotkey, worst of {STARTS}",
            f"{max(again):.1f} ms",
            verdict(max(again) / 1e3, at_most=2, unit=" s"),
        ),
    ]


def _events(session: XSession, folder: Path) -> list[Row]:
    """Events to pixels: as they come, all at once, and after the daemon was away."""
    with _window(session, folder, "steady") as (popup, times):
        since = _follow(popup)
        popup.wait_for("stage", since, stage="done")
        popup.seen()
        late = _lateness(popup, since)
        steady = popup.entries[since:]
    painted = _paint_delays(steady, times)
    with _window(session, folder, "replay") as (popup, _):
        since = _follow(popup)
        done = popup.wait_for("stage", since, stage="done")
        shown = popup.wait_for("painted", popup.entries.index(done))["at"]
        first = popup.wait_for("event", since)["at"]
        popup.wait_for("late", popup.seen())
        stalls = _lateness(popup, since)
    with _window(session, folder, "restart") as (popup, back):
        since = _follow(popup)
        popup.wait_for("stage", since, stage="done")
        came = {entry["seq"]: entry["at"] for entry in reversed(popup.all("event", since))}
    after = [(came[seq] - began) * 1e3 for seq, began in back.items()]
    return [
        _row(f"event to paint at {STEADY_PER_SECOND} events/s, median", statistics.median(painted), 40.0),
        _row("worst lateness of the window meanwhile", max(late), 50.0),
        _seconds(f"replay of {REPLAYED:,} events, from the first one to the painted end", shown - first),
        _row("longest stall of the window meanwhile", max(stalls), 250.0),
        _row(f"daemon started again to its first event, worst of {RESTARTS}", max(after), 500.0),
    ]


def _answers(session: XSession, folder: Path) -> list[Row]:
    """A long answer while it streams in, and in another window that opens its run from the history."""
    with _window(session, folder, "answer") as (popup, _):
        since = _follow(popup)
        popup.wait_for("stage", since, stage="running")
        since = popup.seen()
        popup.wait_for("stage", since, stage="done")
        popup.wait_for("late", popup.seen())
        late = _lateness(popup, since)
        popup.press("Escape")
        popup.wait_for("rested", popup.seen())
        send_action("quit", session.environment)
        popup.process.wait(DEADLINE_SECONDS)
        with Popup(session, folder / "answer.sock") as other:
            other.wait_for("armed")
            other.open()
            since = other.seen()
            other.press("ctrl+h")
            other.wait_for("history", since)
            since = other.seen()
            other.press("Return")
            done = other.wait_for("stage", since, stage="done")
            other.wait_for("painted", other.entries.index(done))
            other.wait_for("late", other.seen())
            stalls = _lateness(other, since)
    length = f"{desktop_daemon.ANSWER_LENGTH:,} characters"
    return [
        _row(f"worst lateness of the window while an answer of {length} streams in", max(late), 50.0),
        _row("longest stall of the window when its run is opened from the history", max(stalls), 250.0),
    ]


@contextmanager
def _window(session: XSession, folder: Path, kind: str) -> Iterator[tuple[Popup, Times]]:
    """A window of its own, and a daemon whose run it can follow."""
    socket = folder / f"{kind}.sock"
    with served(socket, kind) as times, Popup(session, socket) as popup:
        popup.wait_for("armed")
        yield popup, times


def _follow(popup: Popup) -> int:
    """Opens the window and sends a request; the number of entries before."""
    popup.open()
    since = popup.seen()
    popup.type("follow")
    popup.press("Return")
    return since


def _lateness(popup: Popup, since: int) -> list[float]:
    return [float(entry["milliseconds"]) for entry in popup.all("late", since)]


def _paint_delays(entries: list[Entry], times: Times) -> list[float]:
    """Milliseconds from each event in the daemon to the first painted frame after the window applied it."""
    waiting: list[float] = []
    delays: list[float] = []
    for entry in entries:
        if entry["what"] == "event" and entry["seq"] in times:
            waiting.append(times[entry["seq"]])
        elif entry["what"] == "painted":
            delays += [(entry["at"] - sent) * 1e3 for sent in waiting]
            waiting.clear()
    return delays


def _started(session: Session, socket: Path) -> float:
    """Milliseconds from the start of the program to its armed hotkey."""
    begun = time.monotonic()
    with Popup(session, socket) as popup:
        return float(popup.wait_for("armed")["at"] - begun) * 1e3


def _activated(session: XSession, socket: Path) -> float:
    """Milliseconds from a call to the popup's D-Bus name, which has no owner yet, to the first painted frame."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=session.folder)))
        program = f"{sys.executable} -m aeon_popup --background --socket {socket}"
        (folder / f"{BUS_NAME}.service").write_text(f"[D-BUS Service]\nName={BUS_NAME}\nExec={program}\n")
        trace = folder / "trace"
        environment = {**session.environment, "AEON_POPUP_TRACE": str(trace)}
        own = XSession(session.display, start_bus(stack, folder, folder, environment=environment), folder)
        begun = time.monotonic()
        send_action("show", own.environment)
        painted = _first_painted(trace)
        send_action("quit", own.environment)
    return float(painted - begun) * 1e3


def _first_painted(trace: Path) -> float:
    """When the first frame was painted, from a trace that is being written."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        for line in trace.read_text().splitlines() if trace.exists() else ():
            if '"painted"' in line:
                return float(json.loads(line)["at"])
        time.sleep(_LOOK_SECONDS)
    raise TimeoutError(f"nothing was painted in {DEADLINE_SECONDS:.0f} s")


def _idle(session: Session, socket: Path) -> float:
    """The share of a core that a hidden window takes, in percent; without the trace, which has a timer of its own."""
    command = [sys.executable, "-m", "aeon_popup", "--background", "--socket", str(socket)]
    with subprocess.Popen(command, env=session.environment) as program:
        process = psutil.Process(program.pid)
        process.cpu_percent(IDLE_SECONDS)  # the start is not idle
        share = process.cpu_percent(2 * IDLE_SECONDS)
        program.terminate()
    return float(share)


def _opened_after_rest(popup: Popup) -> float:
    """Milliseconds from the hotkey to pixels, after which the window rests again."""
    since = popup.seen()
    opened = _opened(popup, lambda: popup.press(HOTKEY), "pressed")
    popup.wait_for("rested", since)
    return opened


def _forget_peak(process: psutil.Process) -> None:
    """Lets the kernel find the most resident memory of the process from now on."""
    Path(f"/proc/{process.pid}/clear_refs").write_text("5")


def _peak(process: psutil.Process) -> int:
    """The most resident memory of the process since then, in bytes."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    (kib,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(kib) * 1024


def _memory(what: str, size: int) -> Row:
    return what, megabytes(size), verdict(size / 1e6, at_most=100, unit=" MB")


def _row(what: str, measured: float, aim: float) -> Row:
    return what, f"{measured:.1f} ms", verdict(measured, at_most=aim, unit=" ms")


def _seconds(what: str, measured: float) -> Row:
    return what, f"{measured:.2f} s", verdict(measured, at_most=2, unit=" s")


def _percentile(values: list[float], share: int) -> float:
    return statistics.quantiles(values, n=100)[share - 1]


def _opened(popup: Popup, do: Callable[[], object], start: str = "") -> float:
    """Milliseconds from the entry `start`, or from the call, to the painted window, which is hidden again."""
    since, begun = popup.seen(), time.monotonic()
    do()
    painted = popup.wait_for("painted", since)["at"]
    begun = popup.wait_for(start, since)["at"] if start else begun
    popup.wait_for("focused", since)
    popup.press("Escape")
    popup.wait_for("hidden", since)
    return float(painted - begun) * 1e3


def _toggle(session: Session) -> None:
    command = [sys.executable, "-m", "aeon_popup", "--toggle"]
    subprocess.run(command, env=session.environment, check=True, timeout=30)
