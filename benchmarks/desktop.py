"""The desktop window in a private X session: hotkey to pixels, toggle over D-Bus, lateness under events, memory."""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import psutil

from aeond.api.v1 import events_pb2
from benchmarks.page import Section, megabytes, verdict
from tests.support import wire_events
from tests.support.desktop_session import HOTKEY, Popup, Session, desktop_session
from tests.support.scripted_daemon import ScriptedDaemon

ROUNDS = 40
STARTS = 5
RESTS = 10
IDLE_SECONDS = 5.0
EVENTS_PER_SECOND = 1_000
EVENT_SECONDS = 5


def measure(folder: Path) -> Section:
    """Opens the window by hotkey and by D-Bus, then follows a run that sends events without pause."""
    socket = folder / "d.sock"
    with desktop_session() as session:
        armed = statistics.median(_started(session, socket) for _ in range(STARTS))
        idle = _idle(session, socket)
        with Popup(session, socket) as popup:
            popup.wait_for("rested")
            hotkey = [_opened(popup, lambda: popup.press(HOTKEY), "pressed") for _ in range(ROUNDS)]
            toggles = [_opened(popup, lambda: _toggle(session)) for _ in range(ROUNDS)]
            process = psutil.Process(popup.process.pid)
            used = process.memory_full_info()
            since = popup.seen()
            popup.wait_for("rested", since)
            rested = process.memory_full_info()
            after_rest = [_opened_after_rest(popup) for _ in range(RESTS)]
            with _flood(socket) as run_text:
                late = _under_events(popup, run_text)
            popup.wait_for("rested", popup.seen())
            grown = process.memory_info().rss - rested.rss
    rows = (
        _row("hotkey to pixels, median", statistics.median(hotkey), 30.0),
        _row("hotkey to pixels, 95th percentile", _percentile(hotkey, 95), 80.0),
        _row("`aeon-popup --toggle`, program to pixels, median", statistics.median(toggles), 100.0),
        _row(f"start of the program to an armed hotkey, median of {STARTS}", armed, 800.0),
        _row(f"worst lateness of the window at {EVENTS_PER_SECOND:,} events/s", max(late), 50.0),
        _row("the same, median of half seconds", statistics.median(late), 50.0),
        _row(f"hotkey to pixels after a rest, median of {RESTS}", statistics.median(after_rest), 30.0),
        _memory("resident memory, hidden", rested.rss),
        _memory("of it for this program alone (USS)", rested.uss),
        _memory("resident memory right after use", used.rss),
        ("processor while hidden", f"{idle:.2f}% of a core", verdict(idle, at_most=0.5, unit=" %")),
        (
            f"growth over {2 * ROUNDS} toggles and the events",
            megabytes(grown),
            verdict(grown / 1e6, at_most=10, unit=" MB"),
        ),
    )
    return Section(
        "The desktop window",
        f"`aeon-popup` under Xvfb with openbox, without a GPU. {ROUNDS} times each: the hotkey, from the press as the X server"
        " reports it to the first painted frame; and the command, from its start. Then a run that sends"
        f" {EVENTS_PER_SECOND:,} numbered events a second for {EVENT_SECONDS} s; lateness is that of a timer of 10 ms in the"
        " thread of the window, the worst of each half second. Two seconds after it was hidden the window rests: it gives back"
        " pages of code that it may not need again.",
        ("what", "measured", "aim"),
        rows,
    )


def _started(session: Session, socket: Path) -> float:
    """Milliseconds from the start of the program to its armed hotkey."""
    begun = time.monotonic()
    with Popup(session, socket) as popup:
        return float(popup.wait_for("armed")["at"] - begun) * 1e3


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


def _memory(what: str, size: int) -> tuple[str, str, str]:
    return what, megabytes(size), verdict(size / 1e6, at_most=100, unit=" MB")


def _row(what: str, measured: float, aim: float) -> tuple[str, str, str]:
    return what, f"{measured:.1f} ms", verdict(measured, at_most=aim, unit=" ms")


def _percentile(values: list[float], share: int) -> float:
    return statistics.quantiles(values, n=100)[share - 1]


def _opened(popup: Popup, do: Any, start: str = "") -> float:
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


@contextmanager
def _flood(socket: Path) -> Iterator[str]:
    """A daemon in a process of its own, whose run sends events at the rate."""
    command = [sys.executable, "-m", "benchmarks.desktop", str(socket)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout is not None
        assert daemon.stdout.readline() == "ready\n"
        try:
            yield "flood"
        finally:
            daemon.communicate(timeout=30)


def _under_events(popup: Popup, text: str) -> list[float]:
    popup.open()
    since = popup.seen()
    popup.type(text)
    popup.press("Return")
    popup.wait_until(lambda entry: entry.get("seq", 0) >= 50, since)
    since = popup.seen()
    popup.wait_for("stage", since, stage="done")
    late = [float(entry["milliseconds"]) for entry in popup.all("late", since)]
    popup.press("Escape")
    return late


async def _serve(socket: Path) -> None:
    """The scripted daemon with sessions; its run starts and ends one step after another."""
    from tests.support.popup_daemon import OneSession

    daemon = ScriptedDaemon(socket)
    daemon.catalogues.append(OneSession())  # type: ignore[abstract]  # the rest answers UNIMPLEMENTED
    step = wire_events.tool_step("s1", "echo", text="hello")
    daemon.runs.script = lambda _request: [
        wire_events.created(),
        events_pb2.RunStarted(),
        wire_events.adopted(step),
    ]
    daemon.runs.batch = 20
    async with daemon, anyio.create_task_group() as group:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        group.start_soon(_send, daemon, step)
        await anyio.to_thread.run_sync(sys.stdin.read)
        group.cancel_scope.cancel()


async def _send(daemon: ScriptedDaemon, step: Any) -> None:
    await daemon.runs.open_watches.reaches(1, 120)
    (run,) = daemon.runs.runs.values()
    begun = time.monotonic()
    for number in range(EVENTS_PER_SECOND * EVENT_SECONDS):
        if number % 20 == 0:
            await anyio.sleep(max(begun + number / EVENTS_PER_SECOND - time.monotonic(), 0))
        run.append(wire_events.step_ended("s1", "hello") if number % 2 else wire_events.step_started(step))
    run.append(wire_events.composed("Done."))
    run.append(wire_events.ended())


if __name__ == "__main__":
    anyio.run(_serve, Path(sys.argv[1]))
