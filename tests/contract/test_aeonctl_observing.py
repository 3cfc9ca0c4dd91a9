"""`aeonctl top` and `aeonctl why`."""

import os
import signal

from anyio import to_thread

from aeond.api.v1 import events_pb2
from aeond_client import Client
from tests.support import wire_events
from tests.support.aeonctl import Run, command, environment, offered, script
from tests.support.screens import terminal
from tests.support.scripted_daemon import ScriptedDaemon


async def test_why_lists_the_chain_of_a_run(aeonctl: Run) -> None:
    """The chain goes from the request to the end, one link per line with the number of its event."""
    await aeonctl("ask", "--detach", "What?")
    lines = (await aeonctl("why", "last")).out.splitlines()
    assert lines[0] == "run 01RUN0001"
    kinds = [line.split()[1] for line in lines[1:] if line[:5].strip().isdecimal()]
    assert kinds == ["request", "plan", "step", "result", "step", "result", "answer", "end"]
    assert any(line.endswith("calculator 2400 * 0.175") for line in lines)


async def test_why_of_a_step_leaves_out_the_others(aeonctl: Run) -> None:
    """With a step, the links are its own and those of the run; as JSON each is one object."""
    await aeonctl("ask", "--detach", "What?")
    links = (await aeonctl("why", "last", "s2", "--json")).json_lines
    assert {link["step_id"] for link in links} == {"", "s2"}
    assert [link["kind"] for link in links] == ["request", "plan", "step", "result", "answer", "end"]
    assert links[2]["data"]["tool"] == "remember"


async def test_why_of_a_step_without_record_names_the_known_ones(aeonctl: Run) -> None:
    """A step that never began is a mistake of usage, and the answer lists those that did."""
    await aeonctl("ask", "--detach", "What?")
    printed = await aeonctl("why", "last", "s9")
    assert printed.code == 2
    assert "choose one of s1, s2" in printed.err


async def test_why_completes_runs_and_steps(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """The shell completes the run and then the steps that have begun."""
    await aeonctl("ask", "--detach", "What?")
    assert "plain,last" in (await offered("why ", str(daemon.path))).out.splitlines()
    steps = (await offered("why last ", str(daemon.path))).out.splitlines()
    assert [step.split("\t")[0] for step in steps] == ["plain,s1", "plain,s2"]


async def test_top_prints_once_into_a_pipe(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """Without a terminal one look is printed, with the runs at work; --json gives the same as an object."""
    step = wire_events.tool_step("s1", "echo", text="hello")
    script(
        daemon,
        wire_events.created(),
        events_pb2.RunStarted(),
        wire_events.adopted(step),
        wire_events.step_started(step),
    )
    await aeonctl("ask", "--detach", "What?")
    for words in (("top",), ("top", "--once")):
        printed = await aeonctl(*words)
        assert printed.code == 0
        assert printed.out.startswith("aeond   ")
        assert "01RUN0001" in printed.out
        assert "echo hello" in printed.out
    (shown,) = (await aeonctl("top", "--once", "--json")).json_lines
    assert shown["runs"][0]["current"] == ["echo hello"]
    assert shown["status"]["state"] == "ready"


async def test_top_redraws_until_it_is_interrupted(daemon: ScriptedDaemon) -> None:
    """On a terminal the display follows the daemon, says when it does not answer and goes on when it does; Ctrl-C
    ends it with 0."""
    variables = environment(AEOND_SOCKET=str(daemon.path), TERM="xterm-256color")
    async with terminal(command("top", "--interval", "0.1"), environment=variables) as shown:
        await shown.read_until("No unfinished run.")
        daemon.status.messages = ["the disk is full"]
        await shown.read_until("! the disk is full")
        assert "aeond   degraded" in shown.screen.text
        await daemon.stop()
        await shown.read_until("! The daemon does not respond", 90.0)
        await daemon.start()
        daemon.status.messages = ["the disk is full again"]
        await shown.read_until("full again", 90.0)
        os.kill(shown.process.pid, signal.SIGINT)
        assert await shown.read_to_end() == 0
    assert not shown.screen.cursor_hidden


async def test_top_fits_a_narrow_terminal(daemon: ScriptedDaemon) -> None:
    """On a narrow terminal a run takes two lines, so that what it does now and its request can be read; more runs than lines
    are announced."""
    step = wire_events.tool_step("s1", "echo", text="hello")
    script(
        daemon,
        wire_events.created("Say hello to everybody in the house"),
        events_pb2.RunStarted(),
        wire_events.adopted(step),
        wire_events.step_started(step),
    )
    with Client(daemon.path) as client:
        for _ in range(12):
            await to_thread.run_sync(client.create_run, "Say hello to everybody in the house")
    variables = environment(AEOND_SOCKET=str(daemon.path), TERM="xterm-256color")
    async with terminal(command("top", "--interval", "0.1"), environment=variables, columns=60) as shown:
        await shown.read_until("and more: aeonctl runs")
        assert "  echo hello (Say hello to everybody in the house)" in shown.screen.text
        os.kill(shown.process.pid, signal.SIGINT)
        assert await shown.read_to_end() == 0
