"""aeonctl as a program of its own: in pipelines, interrupted, completed by shells; and the examples."""

import re
import shutil
import signal
import sys
from pathlib import Path

import anyio
import pytest

from aeond.api.v1 import events_pb2
from tests.support import wire_events
from tests.support.aeonctl import Run, command, environment, finished, offered, script
from tests.support.repository import ROOT
from tests.support.scripted_daemon import ScriptedDaemon


async def test_a_reader_that_goes_away_is_no_error(daemon: ScriptedDaemon) -> None:
    """A pipe into `head -1` ends quietly, also when there is much more to print."""
    kinds = [events_pb2.PassStarted(pass_index=n) for n in range(5_000)]
    script(daemon, wire_events.created(), *kinds, wire_events.ended())
    pipeline = f"{' '.join(command('ask', '--json', 'What?'))} | head -1"
    printed = await finished(
        ["bash", "-o", "pipefail", "-c", pipeline], environment(AEOND_SOCKET=str(daemon.path))
    )
    assert [line["kind"] for line in printed.json_lines] == ["run_created"]
    assert (printed.code, printed.err) == (141, "")


async def test_interrupting_a_pipe_leaves_the_run(daemon: ScriptedDaemon) -> None:
    """An interrupted `ask` ends with 130 and says that the run goes on, terminal or not."""
    script(daemon, wire_events.created(), events_pb2.PlanningStarted())
    async with await anyio.open_process(
        command("ask", "What?"), env=environment(AEOND_SOCKET=str(daemon.path)), start_new_session=True
    ) as process:
        await daemon.runs.open_watches.reaches(1)
        assert process.stderr is not None
        said = b""
        try:
            with anyio.fail_after(60):
                while b"planning" not in said:
                    said += await process.stderr.receive()
                process.send_signal(signal.SIGINT)
                async for more in process.stderr:
                    said += more
                assert await process.wait() == 130
        finally:
            if process.returncode is None:
                process.kill()
    assert b"The run continues." in said
    assert b"Traceback" not in said


@pytest.mark.parametrize("example", ["ask.py", "watch_async.py"])
async def test_the_examples_run(daemon: ScriptedDaemon, example: str) -> None:
    """Each example program runs as it stands and prints the answer."""
    program = [sys.executable, str(ROOT / "docs" / "examples" / example), "What", "is", "it?"]
    printed = await finished(program, environment(AEOND_SOCKET=str(daemon.path)))
    assert (printed.code, "It is 420." in printed.out) == (0, True), printed.err
    assert daemon.runs.runs["01RUN0001"].request.request.text == "What is it?"


async def test_the_page_on_clients_tells_the_truth(daemon: ScriptedDaemon) -> None:
    """The program on the page of clients runs as it stands there and prints the answer."""
    page = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    printed = await finished([sys.executable, "-c", program], environment(AEOND_SOCKET=str(daemon.path)))
    assert (printed.code, printed.out) == (0, "It is 420.\n"), printed.err


COMPLETE = {
    "bash": 'eval "$(aeonctl completion bash)"; COMP_WORDS=(aeonctl @@); COMP_CWORD=1; '
    '_aeonctl_completion aeonctl; printf "%s\\n" "${COMPREPLY[@]}"',
    "fish": 'aeonctl completion fish | source; complete --do-complete "aeonctl @@"',
    "zsh": "autoload -Uz compinit; compinit -u -D; compadd() { print -l -- ${(P)@[-1]} }; "
    '_describe() { print -l -- ${(P)@[3]} }; eval "$(aeonctl completion zsh)"; words=(aeonctl @@); '
    "CURRENT=2; _aeonctl_completion",
}


@pytest.mark.parametrize("shell", sorted(COMPLETE))
async def test_the_shell_completes(daemon: ScriptedDaemon, tmp_path: Path, shell: str) -> None:
    """In each shell a half-typed command is completed by the script that `completion` prints."""
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    (tmp_path / "aeonctl").write_text(f'#!/bin/sh\nexec {sys.executable} -m aeon_cli.main "$@"\n')
    (tmp_path / "aeonctl").chmod(0o755)
    settings = environment(AEOND_SOCKET=str(daemon.path), HOME=str(tmp_path))
    settings["PATH"] = f"{tmp_path}:{settings['PATH']}"
    printed = await finished([shell, "-c", COMPLETE[shell].replace("@@", "stat")], settings)
    assert "status" in printed.out, printed.err


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("show ", ["last", "01RUN0001"]),
        ("call e", ["echo"]),
        ("memory get b", ["bonus"]),
        ("models load t", ["tiny"]),
        ("decide last ", ["retry", "done", "abort"]),
    ],
)
async def test_names_that_the_daemon_knows_are_offered(
    aeonctl: Run, daemon: ScriptedDaemon, words: str, names: list[str]
) -> None:
    """Runs, tools, keys and models are completed from the daemon; without one nothing is, and quietly."""
    daemon.memory.values = {"bonus": "420"}
    await aeonctl("ask", "--detach", "What?")
    found = await offered(words, str(daemon.path))
    assert [line.partition(",")[2] for line in found.out.splitlines()] == names
    await daemon.stop()
    without = await offered(words, str(daemon.path))
    assert without.err == ""


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("ask --plan x", "file"),
        ("fork last --plan x", "file"),
        ("ask --workspace x", "dir"),
        ("call echo --workspace x", "dir"),
    ],
)
async def test_files_and_folders_are_the_shells_to_complete(
    daemon: ScriptedDaemon, words: str, kind: str
) -> None:
    """For files and folders the shell is asked to complete them itself."""
    assert (await offered(words, str(daemon.path))).out == f"{kind},x\n"


@pytest.mark.parametrize("words", ["answer last ", "fork last --step ", "fork --step "])
async def test_where_there_is_no_run_nothing_of_one_is_offered(daemon: ScriptedDaemon, words: str) -> None:
    """Completing what belongs to a run that is not there says nothing, on standard error neither."""
    nothing = await offered(words, str(daemon.path))
    assert (nothing.out.strip(), nothing.err) == ("", "")
