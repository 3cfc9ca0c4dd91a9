"""aeonctl on a terminal."""

import os
import signal
from contextlib import AbstractAsyncContextManager

import anyio
import pytest

from aeond.api.v1 import events_pb2, parts_pb2
from tests.support import wire_events
from tests.support.aeonctl import command, environment, script
from tests.support.screens import Screen, Terminal, terminal
from tests.support.scripted_daemon import ScriptedDaemon

LOUD = "\x1b[2J\x1b]0;owned\x07\u202e"


def aeonctl(
    daemon: ScriptedDaemon, *words: str, columns: int = 80, lines: int = 24, **settings: str
) -> AbstractAsyncContextManager[Terminal]:
    variables = environment(**{"AEOND_SOCKET": str(daemon.path), "TERM": "xterm-256color", **settings})
    return terminal(command(*words), environment=variables, columns=columns, lines=lines)


async def test_the_screen_of_a_whole_run(daemon: ScriptedDaemon) -> None:
    """In the end the steps stand there as they went, then the answer, then what it took."""
    async with aeonctl(daemon, "ask", "What?") as shown:
        assert await shown.read_to_end() == 0
    assert shown.screen.text.splitlines() == [
        "✓ calculator 2400 * 0.175 → 420.0" + " " * 43 + "0.2s",
        "✓ remember key=bonus value=420 → true" + " " * 39 + "0.2s",
        "",
        "It is 420.",
        "remembered: bonus",
        "",
        "2 steps, 12s, run 01RUN0001",
    ]
    assert shown.screen.colours > {"32"}


@pytest.mark.parametrize("columns", [24, 40, 80, 120])
async def test_no_line_of_the_view_is_broken(daemon: ScriptedDaemon, columns: int) -> None:
    """At any width each step stays on one line of the screen, wide characters included."""
    step = wire_events.tool_step("s1", "search_files", pattern="日本語の" * 9, folder="docs")
    script(
        daemon,
        wire_events.created(),
        wire_events.adopted(step),
        wire_events.step_started(step),
        wire_events.step_ended("s1", error="とても長い説明 " * 9),
        wire_events.composed("One word after the other fills the line until it is full."),
        wire_events.ended(),
    )
    async with aeonctl(daemon, "ask", "What?", columns=columns) as shown:
        assert await shown.read_to_end() == 0
    lines = shown.screen.text.splitlines()
    assert lines[0].startswith("✗ search")
    assert lines[0].endswith("0.2s")
    assert " ".join(filter(None, lines[1:-2])) == "One word after the other fills the line until it is full."


async def test_a_step_at_work_moves(daemon: ScriptedDaemon) -> None:
    """A running step has an animated symbol, a waiting one a still symbol, and partial text is visible."""
    first, second = wire_events.tool_step("s1", "now"), wire_events.tool_step("s2", "echo", text="later")
    script(daemon, wire_events.created(), wire_events.adopted(first, second), wire_events.step_started(first))
    async with aeonctl(daemon, "ask", "What?") as shown:
        await shown.read_until("· echo later")
        signs: set[str] = set()
        with anyio.fail_after(60):
            while len(signs) < 3:
                await shown.read_until("now")
                signs.add(shown.screen.text[0])
                await shown.read_once()
        (run,) = daemon.runs.runs.values()
        run.append(events_pb2.TextDelta(step_id="s1", text="some words"))
        await shown.read_until("now → some words")
        run.append(wire_events.ended())
        await shown.read_to_end()
    assert signs < set("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")


async def test_the_answer_streams_below_the_steps(daemon: ScriptedDaemon) -> None:
    """The answer appears while it is written, and is not printed a second time when it is whole."""
    script(daemon, *wire_events.answered_run()[:-5])
    async with aeonctl(daemon, "ask", "What?") as shown:
        await shown.read_until("writing the answer")
        (run,) = daemon.runs.runs.values()
        run.append(events_pb2.TextDelta(text="It is "))
        await shown.read_until("It is")
        assert "writing the answer" not in shown.screen.text
        run.append(events_pb2.TextDelta(text="420.", offset=6))
        run.append(wire_events.composed("It is 420."))
        run.append(wire_events.ended())
        assert await shown.read_to_end() == 0
    assert shown.screen.text.count("It is 420.") == 1


async def test_an_answer_that_starts_over_is_distinguished(daemon: ScriptedDaemon) -> None:
    """When the model begins again, the screen ends with the whole answer in one piece."""
    script(daemon, wire_events.created(), events_pb2.AnswerStarted())
    async with aeonctl(daemon, "ask", "What?") as shown:
        await shown.read_until("writing the answer")
        (run,) = daemon.runs.runs.values()
        run.append(events_pb2.TextDelta(text="It was 41"))
        await shown.read_until("It was")
        run.append(events_pb2.TextDelta(text="It is 420."))
        run.append(wire_events.composed("It is 420."))
        run.append(wire_events.ended())
        await shown.read_to_end()
    assert shown.screen.text.splitlines()[:3] == ["It was 41", "", "It is 420."]


async def test_progress_of_the_engine_is_seen(daemon: ScriptedDaemon) -> None:
    """While a model loads, a bar says how far it is."""
    script(daemon, wire_events.created(), events_pb2.PlanningStarted())
    async with aeonctl(daemon, "ask", "What?") as shown:
        await shown.read_until("planning")
        (run,) = daemon.runs.runs.values()
        run.append(events_pb2.Progress(activity="loading the model", fraction=0.5))
        await shown.read_until("loading the model 50%  ━━━━━━━━━━━━────────────")
        run.append(wire_events.ended())
        await shown.read_to_end()
    assert "loading" not in shown.screen.text


async def test_nothing_that_a_tool_or_model_writes_drives_the_terminal(daemon: ScriptedDaemon) -> None:
    """Titles, outputs, errors, activities, deltas, answers, notes and problems are all escaped."""
    step = wire_events.tool_step("s1", "echo", text=LOUD)
    script(
        daemon,
        wire_events.created(LOUD),
        events_pb2.Progress(activity=LOUD, fraction=0.5),
        wire_events.adopted(step),
        wire_events.step_started(step),
        events_pb2.Progress(step_id="s1", activity=LOUD),
        events_pb2.TextDelta(step_id="s1", text=LOUD),
        wire_events.step_ended("s1", LOUD, error=LOUD),
        events_pb2.TextDelta(text=LOUD),
        wire_events.composed(LOUD + "more", LOUD),
        wire_events.ended(parts_pb2.RUN_STATE_FAILED, message=LOUD),
    )
    async with aeonctl(daemon, "ask", "What?") as shown:
        assert await shown.read_to_end() == 1
    assert shown.screen.text.count("\\x1b[2J") >= 4
    for words in (("show", "last", "--events"), ("call", "loud"), ("watch", "last", "--json")):
        async with aeonctl(daemon, *words, columns=200) as shown:
            await shown.read_to_end()
        assert "owned" in shown.screen.text
        assert "\u202e" not in shown.screen.text


async def test_without_colour_there_is_none(daemon: ScriptedDaemon) -> None:
    """NO_COLOR leaves the moving list and takes every colour away."""
    async with aeonctl(daemon, "ask", "What?", NO_COLOR="1") as shown:
        assert await shown.read_to_end() == 0
    assert shown.screen.colours <= {"0", "1", "2"}
    assert "✓ calculator" in shown.screen.text


async def test_a_dumb_terminal_gets_plain_lines(daemon: ScriptedDaemon) -> None:
    """TERM=dumb gets lines and not one control sequence."""
    async with aeonctl(daemon, "ask", "What?", TERM="dumb") as shown:
        assert await shown.read_to_end() == 0
    assert shown.screen.colours == set()
    assert "run 01RUN0001" in shown.screen.text.splitlines()
    assert "• 1/2 calculator 2400 * 0.175" in shown.screen.text


async def test_without_utf8_everything_of_ours_is_ascii(daemon: ScriptedDaemon) -> None:
    """In the C locale signs, bars and ellipses are drawn in ASCII."""
    async with aeonctl(daemon, "ask", "What?", LC_ALL="C") as shown:
        assert await shown.read_to_end() == 0
    assert shown.screen.text.isascii()
    assert shown.screen.text.startswith("+ calculator 2400 * 0.175 -> 420.0")


async def test_interrupting_leaves_the_run_alone(daemon: ScriptedDaemon) -> None:
    """Ctrl-C leaves the run, says so, and says how to watch and how to stop it."""
    script(daemon, wire_events.created(), events_pb2.PlanningStarted())
    async with aeonctl(daemon, "ask", "What?") as shown:
        await shown.read_until("planning")
        os.killpg(shown.process.pid, signal.SIGINT)
        assert await shown.read_to_end() == 130
    assert "The run continues." in shown.screen.text
    assert "aeonctl watch 01RUN0001" in shown.screen.text
    assert "aeonctl cancel 01RUN0001" in shown.screen.text
    assert not daemon.runs.runs["01RUN0001"].ended
    await daemon.runs.open_watches.reaches(0)


async def test_being_ended_gives_the_cursor_back(daemon: ScriptedDaemon) -> None:
    """SIGTERM ends the program with the usual code and leaves a terminal that can be used."""
    script(daemon, wire_events.created(), events_pb2.PlanningStarted())
    async with aeonctl(daemon, "ask", "What?") as shown:
        await shown.read_until("planning")
        while_it_worked = shown.screen.cursor_hidden
        shown.process.terminate()
        assert await shown.read_to_end() == 143
    assert (while_it_worked, shown.screen.cursor_hidden) == (True, False)
    assert "Traceback" not in shown.screen.text


async def test_interrupting_cancels_where_that_was_asked_for(daemon: ScriptedDaemon) -> None:
    """With --cancel-on-interrupt Ctrl-C ends the run and says that it did."""
    script(daemon, wire_events.created(), events_pb2.PlanningStarted())
    async with aeonctl(daemon, "ask", "--cancel-on-interrupt", "What?") as shown:
        await shown.read_until("planning")
        os.killpg(shown.process.pid, signal.SIGINT)
        assert await shown.read_to_end() == 5
    assert daemon.runs.runs["01RUN0001"].ended


async def test_a_restart_of_the_daemon_is_reported_and_survived(daemon: ScriptedDaemon) -> None:
    """While the daemon is away the screen says so, and afterwards the run goes on as if nothing had been."""
    script(daemon, *wire_events.answered_run()[:8])
    async with aeonctl(daemon, "ask", "What?") as shown:
        await shown.read_until("✓ calculator")
        await daemon.stop()
        await shown.read_until("The daemon went away")
        await daemon.start()
        for kind in wire_events.answered_run()[8:]:
            daemon.runs.runs["01RUN0001"].append(kind)
        assert await shown.read_to_end() == 0
    assert "went away" not in shown.screen.text
    assert shown.screen.text.splitlines()[3] == "It is 420."


async def test_lists_fit_narrow_and_wide_terminals(daemon: ScriptedDaemon) -> None:
    """A list has headings and columns where there is room, and two lines for each item where there is none."""
    daemon.memory.values = {"a long key": '"a value that is rather long for a narrow terminal"'}
    async with aeonctl(daemon, "memory", "list", columns=80) as shown:
        assert await shown.read_to_end() == 0
    assert [line.split()[0] for line in shown.screen.text.splitlines()] == ["KEY", "a"]
    async with aeonctl(daemon, "memory", "list", columns=24) as shown:
        assert await shown.read_to_end() == 0
    assert shown.screen.text.splitlines() == ["a long key", "  a value that is rathe…"]


def test_the_screen_refuses_what_could_do_harm() -> None:
    """The terminal of these tests accepts no sequence that a tool's output could abuse."""
    for attack in ("\x1b[2J", "\x1b]0;x\x07", "\x07", "\x08", "\x1b[6n", "\x9b31m"):
        with pytest.raises(ValueError, match="the program sent"):
            Screen(80).feed(attack)
