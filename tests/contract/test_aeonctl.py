"""aeonctl in pipes and scripts: what goes where, and which exit code says what."""

import io
import json
import os
import re
import shutil
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import grpc
import pytest

from aeon_cli.main import main
from aeond.api.v1 import events_pb2, parts_pb2
from tests.support import wire_events
from tests.support.repository import ROOT
from tests.support.scripted_daemon import ScriptedDaemon, journal_of
from tests.support.surfaces import wait_until


@dataclass(frozen=True)
class Printed:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json_lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Awaitable[Printed]]


@pytest.fixture
async def daemon(tmp_path: Path) -> AsyncIterator[ScriptedDaemon]:
    async with ScriptedDaemon(tmp_path / "aeond.sock") as daemon:
        yield daemon


@pytest.fixture
def aeonctl(
    daemon: ScriptedDaemon, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """The program in a thread of the test's process, with its output captured as by a pipe."""
    monkeypatch.setenv("AEOND_SOCKET", str(daemon.path))

    async def run(*words: str, stdin: str | bytes = "") -> Printed:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        with anyio.fail_after(30):
            code = await anyio.to_thread.run_sync(main, list(words))
        return Printed(code, *capsys.readouterr())

    return run


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "aeon_cli.main", *words]


def environment(**settings: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **settings}


def script(daemon: ScriptedDaemon, *kinds: Any) -> None:
    daemon.runs.script = lambda _: list(kinds)


# ---------------------------------------------------------------- ask and watch


async def test_the_answer_stands_alone_on_standard_output(aeonctl: Run) -> None:
    """A script that captures the output of `ask` has the answer and nothing else; progress is elsewhere."""
    printed = await aeonctl("ask", "What", "is", "17.5%", "of", "2400?")
    assert (printed.code, printed.out) == (0, "It is 420.\n")
    assert printed.err.splitlines() == [
        "run 01RUN0001",
        "planning",
        "plan: 2 steps",
        "• 1/2 calculator 2400 * 0.175",
        "✓ 1/2 calculator 2400 * 0.175 → 420.0 (0.2s)",
        "• 2/2 memory_write key=bonus value=420",
        "✓ 2/2 memory_write key=bonus value=420 → true (0.2s)",
        "writing the answer",
    ]
    assert "\x1b" not in printed.out + printed.err


async def test_quiet_says_nothing_but_the_answer(aeonctl: Run) -> None:
    """With --quiet standard error stays empty when all is well."""
    assert await aeonctl("ask", "-q", "What?") == Printed(0, "It is 420.\n", "")


async def test_the_words_become_the_request(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """Words are joined, a - stands for standard input, and without words all of it is the request."""
    await aeonctl("ask", "one", "two")
    await aeonctl("ask", "Summarise:", "-", stdin="the text\n")
    await aeonctl("ask", stdin="from a pipe\n")
    asked = [run.request.request.text for run in daemon.runs.runs.values()]
    assert asked == ["one two", "Summarise: the text", "from a pipe"]


async def test_the_current_folder_is_the_workspace(
    aeonctl: Run, daemon: ScriptedDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File tools work where the user is, elsewhere if told so, and in a folder of the daemon's on demand."""
    monkeypatch.chdir(tmp_path)
    for words in ((), ("--workspace", "sub"), ("--workspace", "")):
        await aeonctl("ask", "What?", *words)
    folders = [run.request.request.workspace for run in daemon.runs.runs.values()]
    assert folders == [str(tmp_path), str(tmp_path / "sub"), ""]


async def test_bounds_are_asked_for(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """Each --max option becomes its bound, and those left out stay the daemon's choice."""
    await aeonctl("ask", "What?", "--max-steps", "3", "--max-seconds", "1.5", "--max-tokens", "0")
    budget = daemon.runs.runs["01RUN0001"].request.budget
    assert {field.name: value for field, value in budget.ListFields()} == {
        "ttl": 3,
        "wall_seconds": 1.5,
        "tokens": 0,
    }


async def test_json_is_one_event_a_line(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """With --json a program reads every event with its number and kind, and nothing else is printed."""
    printed = await aeonctl("ask", "What?", "--json")
    events = [(event["seq"], event["kind"]) for event in printed.json_lines if event["seq"]]
    assert events == journal_of(daemon.runs.runs["01RUN0001"])
    answers = [
        event["data"]["answer"]["text"] for event in printed.json_lines if event["kind"] == "answer_composed"
    ]
    assert (printed.code, answers, printed.err) == (0, ["It is 420."], "")


async def test_detaching_prints_the_run(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """With --detach the run's id is printed at once, for `watch` to go on with."""
    printed = await aeonctl("ask", "--detach", "What?")
    assert printed == Printed(0, "01RUN0001\n", "")
    assert daemon.runs.watches == []
    watched = await aeonctl("watch", "-q", printed.out.strip())
    assert (watched.code, watched.out) == (0, "It is 420.\n")


async def test_a_plan_is_run_as_given(aeonctl: Run, daemon: ScriptedDaemon, tmp_path: Path) -> None:
    """A plan from a file or from standard input is sent as it is; its goal is the request where none is said."""
    plan = {
        "goal": "a sum",
        "steps": [{"step_id": "s1", "tool": "calculator", "arguments": {"expression": "1+1"}}],
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    await aeonctl("ask", "--plan", str(tmp_path / "plan.json"))
    await aeonctl("ask", "--plan", "-", "Do it", stdin=json.dumps(plan))
    sent = [run.request for run in daemon.runs.runs.values()]
    assert [request.request.text for request in sent] == ["a sum", "Do it"]
    assert [request.plan.steps[0].tool_call.tool for request in sent] == ["calculator"] * 2


@pytest.mark.parametrize(
    ("state", "code", "words"),
    [
        (parts_pb2.RUN_STATE_FAILED, 1, "The run failed: It broke. (NO_PLAN)"),
        (parts_pb2.RUN_STATE_EXPIRED, 4, "The budget ran out: llm calls."),
        (parts_pb2.RUN_STATE_CANCELLED, 5, "The run was cancelled."),
    ],
)
async def test_the_end_of_a_run_is_an_exit_code(
    aeonctl: Run, daemon: ScriptedDaemon, state: "parts_pb2.RunState.ValueType", code: int, words: str
) -> None:
    """A script can tell from the exit code how a run ended, and a person from what is said."""
    exhausted = events_pb2.BudgetExhausted(dimension="llm_calls")
    script(daemon, wire_events.created(), exhausted, wire_events.ended(state, message="It broke."))
    printed = await aeonctl("ask", "-q", "What?")
    assert (printed.code, printed.out) == (code, "")
    assert words in printed.err


async def test_a_run_that_needs_a_person_is_left_and_told(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """A suspended run ends the watch with a code of its own and with the commands to go on with."""
    suspended = events_pb2.RunSuspended(
        reason=parts_pb2.SUSPEND_REASON_UNKNOWN_STEP, message="step s1 was cut short"
    )
    script(daemon, wire_events.created(), suspended)
    printed = await aeonctl("ask", "What?")
    assert printed.code == 6
    assert "The run waits for you: step s1 was cut short." in printed.err
    assert "aeonctl decide 01RUN0001 retry|done|abort" in printed.err
    decided = await aeonctl("decide", "last", "done")
    assert (decided.code, decided.out) == (0, "Decided: done. The run is succeeded.\n")
    watched = await aeonctl("watch", "last", "-q")
    assert (watched.code, watched.out) == (0, "Done after all.\n")


async def test_several_unknown_steps_are_not_guessed_between(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """A decision that could be about two steps asks which, and decides nothing."""
    steps = [wire_events.tool_step(name, "echo") for name in ("s1", "s2")]
    script(
        daemon,
        wire_events.created(),
        wire_events.adopted(*steps),
        *(wire_events.step_ended(name, state=parts_pb2.STEP_STATE_UNKNOWN) for name in ("s1", "s2")),
        events_pb2.RunSuspended(reason=parts_pb2.SUSPEND_REASON_UNKNOWN_STEP),
    )
    await aeonctl("ask", "--detach", "What?")
    printed = await aeonctl("decide", "last", "retry")
    assert (printed.code, "name one with --step: s1, s2" in printed.err) == (2, True)
    assert (await aeonctl("decide", "last", "retry", "--step", "s2")).code == 0
    assert daemon.runs.runs["01RUN0001"].numbered[-3].step_resolved.step_id == "s2"


async def test_what_is_missing_in_an_answer_is_noted(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """Notes of an answer go to the person and not into the captured answer."""
    script(daemon, wire_events.created(), wire_events.composed("Half.", "s2 failed"), wire_events.ended())
    printed = await aeonctl("ask", "What?")
    assert (printed.out, printed.err.splitlines()[-1]) == ("Half.\n", "note: s2 failed")


# ---------------------------------------------------------------- the other commands


async def test_runs_are_listed_newest_first(aeonctl: Run) -> None:
    """A list in a pipe is one run a line without headings, as text or as JSON."""
    for text in ("first", "second"):
        await aeonctl("ask", "--detach", text)
    plain = (await aeonctl("runs")).out.splitlines()
    assert [line.split()[0] for line in plain] == ["01RUN0002", "01RUN0001"]
    assert all("succeeded" in line for line in plain)
    as_json = (await aeonctl("runs", "--json", "--limit", "1")).json_lines
    assert [(run["run_id"], run["text"], run["state"]) for run in as_json] == [
        ("01RUN0002", "second", "succeeded")
    ]
    assert (await aeonctl("runs", "--state", "failed")).err == "There are no such runs.\n"


async def test_a_run_is_shown_with_its_steps(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """`show` has the request, each step with its output, and the answer; with --events all of the journal."""
    await aeonctl("ask", "--detach", "What?")
    shown = (await aeonctl("show", "last", "--events")).out
    for words in ("asked     What?", "✓ s1  calculator 2400 * 0.175 (0.2s)\n    420.0\n", "\nIt is 420.\n"):
        assert words in shown
    kinds = re.findall(r"^ +\d+ +[\d.]+s  (\w+)  \{", shown, re.MULTILINE)
    assert kinds == [kind for _, kind in journal_of(daemon.runs.runs["01RUN0001"])]
    assert (await aeonctl("show", "last", "--json")).json_lines[0]["answer"]["text"] == "It is 420."
    as_json = (await aeonctl("show", "last", "--events", "--json")).json_lines
    assert [(event["seq"], event["kind"]) for event in as_json] == journal_of(daemon.runs.runs["01RUN0001"])


async def test_events_of_a_run_that_goes_on_are_those_so_far(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """Looking at a run's events does not wait for its end."""
    script(daemon, wire_events.created(), events_pb2.RunStarted())
    await aeonctl("ask", "--detach", "What?")
    kinds = [event["kind"] for event in (await aeonctl("show", "last", "--events", "--json")).json_lines]
    assert kinds == ["run_created", "run_started"]


async def test_cancelling_is_told(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """A cancelled run is told as what it became."""
    script(daemon, wire_events.created(), events_pb2.RunStarted())
    await aeonctl("ask", "--detach", "What?")
    printed = await aeonctl("cancel", "last", "--reason", "enough")
    assert (printed.code, printed.out) == (0, "The run has ended: cancelled.\n")
    assert daemon.runs.runs["01RUN0001"].numbered[-2].cancel_requested.reason == "enough"


async def test_tools_are_listed_and_shown(aeonctl: Run) -> None:
    """The list names every tool; one tool is shown with schemas that can be copied."""
    assert [line.split()[:2] for line in (await aeonctl("tools")).out.splitlines()] == [
        ["echo", "pure"],
        ["fail", "pure"],
        ["loud", "pure"],
    ]
    assert 'example  {"text": "hello"}' in (await aeonctl("tools", "echo")).out
    assert (await aeonctl("tools", "echo", "--json")).json_lines[0]["input_schema"] == {"type": "object"}


async def test_a_tool_is_called_by_hand(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """Arguments go in as words or JSON, data comes out as JSON, a failure as an exit code with its reason."""
    called = await aeonctl("call", "echo", "text=hello", "n=3")
    assert (called.code, called.json_lines) == (0, [{"text": "hello", "n": 3}])
    assert daemon.tools.calls[0].workspace == str(Path.cwd())
    failed = await aeonctl("call", "fail")
    assert (failed.code, failed.out) == (1, "")
    assert failed.err == "fail failed: It did not work. (TOOL_FAILED)\n"
    as_json = await aeonctl("call", "fail", "--json")
    assert (as_json.code, as_json.json_lines[0]["reason"]) == (1, "TOOL_FAILED")


async def test_what_a_tool_gives_cannot_drive_the_terminal(aeonctl: Run) -> None:
    """Escapes in a tool's text stay escapes in a pipe too."""
    assert (await aeonctl("call", "loud")).out == "\\x1b]0;owned\\x07\\u202egnp.exe\\x9b31m\n"


async def test_memory_is_kept_by_hand(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """A value set is the value got: JSON where it is JSON, a text where that is asked for."""
    for words in (("bonus", "420"), ("name", "Ada"), ("zip", "007"), ("code", "420", "--text")):
        assert (await aeonctl("memory", "set", *words)).code == 0
    assert daemon.memory.values == {"bonus": "420", "name": '"Ada"', "zip": '"007"', "code": '"420"'}
    assert (await aeonctl("memory", "get", "name")).out == "Ada\n"
    assert (await aeonctl("memory", "get", "name", "--json")).out == '"Ada"\n'
    assert (await aeonctl("memory", "list", "n", "--json")).json_lines == [{"key": "name", "value": "Ada"}]
    assert [(await aeonctl("memory", "delete", "bonus")).code for _ in range(2)] == [0, 1]
    assert (await aeonctl("memory", "get", "bonus")).code == 1


async def test_models_and_status_are_told(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """The catalogue, the loaded model and the daemon's state are there for people and programs."""
    assert (await aeonctl("models", "list")).out.split()[:5] == ["tiny", "(default)", "loaded", "98.0", "MB"]
    assert (await aeonctl("models", "unload")).out == "cold\n"
    assert (await aeonctl("models", "load", "--wait")).out == "tiny ready\n"
    unknown = await aeonctl("models", "load", "huge")
    assert (unknown.code, "MODEL_NOT_FOUND" in unknown.err) == (1, True)
    status = await aeonctl("status")
    assert (status.code, str(daemon.path) + " (from AEOND_SOCKET)" in status.out) == (0, True)
    assert (await aeonctl("status", "--json")).json_lines[0]["engine"]["model"] == "tiny"


# ---------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("ask",),
        ("ask", "--max-steps", "-1", "x"),
        ("ask", "--plan", "/nowhere.toml"),
        ("show",),
        ("decide", "run", "perhaps"),
        ("call", "echo", "what"),
        ("nothing",),
        ("--nothing",),
        ("completion", "tcsh"),
    ],
)
async def test_wrong_usage_is_exit_code_2(
    aeonctl: Run, daemon: ScriptedDaemon, words: tuple[str, ...]
) -> None:
    """A command that cannot be understood does nothing and says what is wrong with it."""
    printed = await aeonctl(*words)
    assert (printed.code, printed.out, daemon.runs.runs) == (2, "", {})
    assert printed.err


@pytest.mark.parametrize(
    ("stdin", "words"),
    [(b"\xff\xfe", "no UTF-8: see byte 1"), (b"x" * (3 << 20), "too long"), (b" \n", "is empty")],
)
async def test_a_request_that_is_no_text_is_refused(
    aeonctl: Run, daemon: ScriptedDaemon, stdin: bytes, words: str
) -> None:
    """Binary, huge and empty standard input make no run."""
    printed = await aeonctl("ask", stdin=stdin)
    assert (printed.code, words in printed.err, daemon.runs.runs) == (2, True, {})


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (grpc.StatusCode.INVALID_ARGUMENT, 2),
        (grpc.StatusCode.NOT_FOUND, 1),
        (grpc.StatusCode.PERMISSION_DENIED, 7),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, 8),
        (grpc.StatusCode.INTERNAL, 1),
    ],
)
async def test_each_kind_of_refusal_has_its_exit_code(
    aeonctl: Run, daemon: ScriptedDaemon, status: grpc.StatusCode, code: int
) -> None:
    """A script can tell a wrong request from a busy daemon and from a missing right."""
    daemon.runs.refusals = [(status, "SOME_REASON")]
    printed = await aeonctl("ask", "What?")
    assert (printed.code, printed.out, printed.err) == (code, "", "aeonctl: Refused: SOME_REASON.\n")


async def test_without_a_daemon_it_says_how_to_start_one(aeonctl: Run, tmp_path: Path) -> None:
    """Nothing is started behind the user's back: what was tried is named, and what to do."""
    printed = await aeonctl("--socket", str(tmp_path / "none.sock"), "status")
    assert printed.code == 3
    for words in ("none.sock (as told): there is no such socket", "aeond serve", "AEOND_SOCKET"):
        assert words in printed.err


async def test_a_socket_of_others_is_told_apart(tmp_path: Path) -> None:
    """A user without the right to the socket reads that, and not that no daemon runs."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    path = Path("/tmp") / f"aeond-test-{os.getpid()}.sock"  # a folder that nobody can enter would hide it
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        try:
            path.chmod(0o600)
            listener.listen()
            # Everything is imported first: somebody else may not be able to read this checkout.
            program = (
                "import os, sys, aeond_client.client, aeon_cli.flowing; from aeon_cli.main import main; "
                "os.setgroups([]); os.setgid(65534); os.setuid(65534); sys.exit(main(['status']))"
            )
            finished = await anyio.run_process(
                [sys.executable, "-c", program], check=False, env=environment(AEOND_SOCKET=str(path))
            )
        finally:
            path.unlink()
    assert finished.returncode == 7, finished.stderr.decode()
    assert "permission denied" in finished.stderr.decode()


async def test_a_lost_daemon_ends_the_watch_once_patience_does(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """A daemon that does not come back within --patience is exit code 3, and the run is not blamed."""
    script(daemon, wire_events.created())
    await aeonctl("ask", "--detach", "What?")
    printed: list[Printed] = []
    async with anyio.create_task_group() as group:

        async def watch() -> None:
            printed.append(await aeonctl("watch", "last", "--patience", "0.2"))

        group.start_soon(watch)
        await wait_until(lambda: daemon.runs.open_watches == 1)
        await daemon.stop()
    assert printed[0].code == 3
    assert "The daemon went away; waiting for it to come back" in printed[0].err


# ---------------------------------------------------------------- as a program of its own


async def test_a_reader_that_goes_away_is_no_error(daemon: ScriptedDaemon) -> None:
    """`aeonctl ... | head -1` ends quietly, also when there is much more to print."""
    kinds = [events_pb2.PassStarted(pass_index=n) for n in range(5_000)]
    script(daemon, wire_events.created(), *kinds, wire_events.ended())
    pipeline = f"{' '.join(command('ask', '--json', 'What?'))} | head -1"
    finished = await anyio.run_process(
        ["bash", "-o", "pipefail", "-c", pipeline],
        check=False,
        env=environment(AEOND_SOCKET=str(daemon.path)),
    )
    assert json.loads(finished.stdout)["kind"] == "run_created"
    assert (finished.returncode, finished.stderr) == (141, b"")


async def test_interrupting_a_pipe_leaves_the_run(daemon: ScriptedDaemon) -> None:
    """An interrupted `ask` ends with 130 and says that the run goes on, terminal or not."""
    script(daemon, wire_events.created(), events_pb2.PlanningStarted())
    async with await anyio.open_process(
        command("ask", "What?"), env=environment(AEOND_SOCKET=str(daemon.path)), start_new_session=True
    ) as process:
        await wait_until(lambda: daemon.runs.open_watches == 1)
        assert process.stderr is not None
        said = b""
        with anyio.fail_after(20):
            while b"planning" not in said:
                said += await process.stderr.receive()
            process.send_signal(signal.SIGINT)
            async for more in process.stderr:
                said += more
            assert await process.wait() == 130
    assert b"The run goes on." in said
    assert b"Traceback" not in said


@pytest.mark.parametrize("example", ["ask.py", "watch_async.py"])
async def test_the_examples_run(daemon: ScriptedDaemon, example: str) -> None:
    """Each example program runs as it stands and prints the answer."""
    finished = await anyio.run_process(
        [sys.executable, str(ROOT / "docs" / "examples" / example), "What", "is", "it?"],
        env=environment(AEOND_SOCKET=str(daemon.path)),
    )
    assert "It is 420." in finished.stdout.decode()
    assert daemon.runs.runs["01RUN0001"].request.request.text == "What is it?"


COMPLETE = {
    "bash": 'eval "$(aeonctl completion bash)"; COMP_WORDS=(aeonctl @@); COMP_CWORD=1; '
    '_aeonctl_completion aeonctl; printf "%s\\n" "${COMPREPLY[@]}"',
    "fish": 'aeonctl completion fish | source; complete --do-complete "aeonctl @@"',
    "zsh": "autoload -Uz compinit; compinit -u -d /dev/null; compadd() { print -l -- ${(P)@[-1]} }; "
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
    finished = await anyio.run_process(
        [shell, "-c", COMPLETE[shell].replace("@@", "stat")], env=settings, check=False
    )
    assert "status" in finished.stdout.decode(), finished.stderr.decode()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("show ", ["last", "01RUN0001"]),
        ("call e", ["echo"]),
        ("memory get b", ["bonus"]),
        ("models load t", ["tiny"]),
        ("decide last ", ["retry", "done", "abort"]),
    ],
)
async def test_names_that_the_daemon_knows_are_offered(
    aeonctl: Run, daemon: ScriptedDaemon, words: str, offered: list[str]
) -> None:
    """Runs, tools, keys and models are completed from the daemon; without one nothing is, and quietly."""
    daemon.memory.values = {"bonus": "420"}
    await aeonctl("ask", "--detach", "What?")
    typed = f"aeonctl {words}"
    settings = {
        "_AEONCTL_COMPLETE": "bash_complete",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split(" ")) - 1),
    }
    found = await anyio.run_process(
        command(), env=environment(AEOND_SOCKET=str(daemon.path), **settings), check=False
    )
    assert [line.partition(",")[2] for line in found.stdout.decode().splitlines()] == offered
    await daemon.stop()
    without = await anyio.run_process(
        command(), env=environment(AEOND_SOCKET=str(daemon.path), **settings), check=False
    )
    assert without.stderr == b""
