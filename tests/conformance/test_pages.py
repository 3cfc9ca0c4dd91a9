"""The README of each client: its examples and commands, as they stand there."""

import json
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from aeond_client import Client, RunOptions, RunState
from aeond_client.errors import NotFoundError
from aeond_client.events import InputRequested
from aeond_client.records.runs import Plan, PlanStep
from tests.support.conformance import DEADLINE_SECONDS, received
from tests.support.daemon_process import DaemonProcess, daemon_folder
from tests.support.module_proxy import module_proxy
from tests.support.repository import ROOT
from tests.support.stubs import BUILT, EXAMPLES, STUBS, Stub, environment

PAGES = [stub for stub in STUBS if stub.page]
PROJECTS = [stub for stub in STUBS if stub.copy]
RECIPES = ROOT / "clients" / "shell" / "README.md"
REQUEST = "What is 17 times 23?"
SCRIPT = {
    "rules": [
        {"pattern": r"17 times 23\?\Z", "json": {"calculator": {"expression": "17 * 23"}}},
        {"json": {"answer": "391"}},
    ]
}
ANSWER = 'a "blue" \\ or \u754c\n one'
ASKING = Plan(
    "",
    (PlanStep("s1", "", "request_user_input", {"prompt": "Which colour?"}), PlanStep("s2", "", "now")),
)


@pytest.fixture(scope="module")
def daemon() -> Iterator[DaemonProcess]:
    """A real daemon with a scripted model."""
    with daemon_folder() as folder:
        daemon = DaemonProcess(folder)
        daemon.script.write_text(json.dumps(SCRIPT), encoding="utf-8")
        with daemon:
            yield daemon


@pytest.mark.parametrize("stub", PAGES, ids=str)
def test_a_request_is_answered_by_an_example(stub: Stub, daemon: DaemonProcess) -> None:
    """The first example in each language prints the answer of a run."""
    assert printed(stub.example_command("ask", REQUEST), daemon).splitlines()[-1] == "391"


def code_lines(text: str) -> list[str]:
    """The lines of an example that count: all but blank ones, comments and docstrings, which have one line each."""
    return [
        line for line in text.splitlines() if line.strip() and not re.match(r'\s*(//|#(?!include)|""")', line)
    ]


def lines_of(stub: Stub, example: str) -> tuple[int, int | None]:
    """How many lines of an example count in all, and within its main function, if it has one."""
    code = stub.source(example).read_text(encoding="utf-8")
    main = re.search(r"^(?:func|int) main\(.*?\{\n(.*?)^\}", code, re.MULTILINE | re.DOTALL)
    return len(code_lines(code)), len(code_lines(main[1])) if main else None


@pytest.mark.parametrize("stub", PAGES, ids=str)
def test_ten_lines_send_a_request_and_print_the_answer(stub: Stub) -> None:
    """The first example in each language has at most ten lines of code in its main function, or in all if it has none."""
    whole, within_main = lines_of(stub, "ask")
    assert 0 < (whole if within_main is None else within_main) <= 10


def test_the_page_has_the_length_of_each_example() -> None:
    """The page about clients says how many lines of code a request and a served tool take in each language."""
    rows = [["lines of code", *map(str, PAGES)], ["---"] * (len(PAGES) + 1)]
    for example, about in (("ask", "a request"), ("serve", "a tool")):
        counts = [lines_of(stub, example) for stub in PAGES]
        rows.append([f"{about}, in all", *(str(whole) for whole, _ in counts)])
        rows.append(
            [f"{about}, in `main`", *("no `main`" if inside is None else str(inside) for _, inside in counts)]
        )
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    assert f"\n\n{table}\n" in (ROOT / "docs/clients.md").read_text(encoding="utf-8"), table


@pytest.mark.parametrize("answers", [[ANSWER], []], ids=["answer", "cancel"])
@pytest.mark.parametrize("stub", PAGES, ids=str)
def test_a_run_is_followed_from_an_event_on_by_an_example(
    stub: Stub, answers: list[str], daemon: DaemonProcess
) -> None:
    """The second example resumes after an event, and answers the question of the run or cancels it."""
    with Client(daemon.socket) as client:
        run = client.create_run("Ask", RunOptions(plan=ASKING))
        with client.watch(run.run_id) as events:
            assert any(isinstance(event.kind, InputRequested) for event in events)
        lines = printed(stub.example_command("follow", run.run_id, "3", *answers), daemon).split()
        assert lines == [str(event["seq"]) for event in received(client, run.run_id, 3)]
        ended = client.get_run(run.run_id)
    assert ended.state is (RunState.SUCCEEDED if answers else RunState.CANCELLED)
    assert ended.steps[0].output == (ANSWER if answers else None)


@pytest.mark.parametrize("stub", PAGES, ids=str)
def test_a_tool_is_served_by_an_example(stub: Stub, daemon: DaemonProcess) -> None:
    """The third example serves a tool until Ctrl-C, which withdraws it."""
    words = stub.example_command("serve")
    settings = environment(AEOND_SOCKET=str(daemon.socket))
    with Client(daemon.socket) as client, subprocess.Popen(words, env=settings) as program:
        try:
            deadline = monotonic() + DEADLINE_SECONDS
            while not offered(client, "greet"):
                assert program.poll() is None, "the program ended"
                assert monotonic() < deadline, "the tool was not offered"
            output = client.call_tool("greet", {"name": "Ann"}).data
            assert {"Hello", "Ann"} <= set(re.findall(r"\w+", json.dumps(output)))
            program.send_signal(signal.SIGINT)
            program.wait(DEADLINE_SECONDS)
            assert not offered(client, "greet")
        finally:
            program.kill()


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("stub", PAGES, ids=str)
def test_the_examples_of_a_client_are_on_its_page(stub: Stub, example: str) -> None:
    """The README of each client shows its examples as they are tested."""
    assert stub.page
    code = stub.source(example).read_text(encoding="utf-8").removeprefix("#!/usr/bin/env bash\n")
    assert f"\n{code}```\n" in stub.page.read_text(encoding="utf-8")


def follow_page(stub: Stub, block: str, daemon: DaemonProcess, folder: Path, **settings: str) -> str:
    """The last line that the commands of a block of the client's page print in a folder outside the checkout."""
    assert stub.page
    (commands,) = re.findall(
        rf"^```sh {block}\n(.*?)^```$", stub.page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    stub.example_command("ask")
    shutil.copy(stub.source("ask"), folder / stub.copy)
    words = ["bash", "-euo", "pipefail", "-c", commands]
    # The packages of Debian are compiled already, by the build of the client.
    settings |= {"AEOND": str(ROOT), "GOCACHE": str(BUILT / "go/cache")}
    return printed(words, daemon, folder, **settings).splitlines()[-1]


@pytest.mark.parametrize("stub", PROJECTS, ids=str)
def test_another_project_uses_a_client_as_its_page_says(stub: Stub, daemon: DaemonProcess) -> None:
    """The commands for a project outside the checkout end with the answer of the example."""
    with daemon_folder() as folder:
        assert follow_page(stub, "project", daemon, folder) == "391"


def test_another_module_uses_the_go_client_as_its_page_says(daemon: DaemonProcess) -> None:
    """The commands for a Go module outside the checkout end with the answer of the example, with the versions of Debian 12."""
    (stub,) = (stub for stub in PAGES if stub.name == "Go")
    with daemon_folder() as folder:
        settings = module_proxy(BUILT / "go/modules")
        assert follow_page(stub, "module", daemon, folder, **settings) == "391"
        required = (folder / "go.mod").read_text(encoding="utf-8")
    versions = re.findall(r"^\t(\S+ v\S+)$", (ROOT / "clients/go/go.mod").read_text("utf-8"), re.MULTILINE)
    assert versions
    assert all(f"\t{version} // indirect\n" in required for version in versions)


def test_the_project_of_the_examples_is_on_the_page_for_cpp() -> None:
    """The README of the C++ client shows the CMake project that its build uses."""
    project = (ROOT / "clients/cpp/examples/CMakeLists.txt").read_text(encoding="utf-8")
    assert f"```cmake\n{project}```\n" in (ROOT / "clients/cpp/README.md").read_text(encoding="utf-8")


def test_the_recipes_for_scripts_work(daemon: DaemonProcess) -> None:
    """Every command on the page for shells succeeds."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", RECIPES.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    shell = next(stub for stub in STUBS if stub.page == RECIPES)
    examples = [shell.source(example).read_text(encoding="utf-8") for example in EXAMPLES]
    recipes = [block for block in blocks if not any(block in example for example in examples)]
    assert len(recipes) == 2
    for recipe in recipes:
        assert printed(["bash", "-euo", "pipefail", "-c", recipe], daemon)


@pytest.mark.parametrize(
    ("call", "status", "problem"),
    [
        ("aeond_create 'no JSON'", 3, "INVALID_JSON request: "),
        ("""aeond_create '{"nonsense": 1}'""", 3, "MALFORMED_MESSAGE: "),
        ("aeond_watch 01a20a8a-549a-7000-a157-fe065208d1b7 six", 3, "MALFORMED_MESSAGE: "),
    ],
)
def test_a_script_gets_the_reason_of_a_malformed_call(
    call: str, status: int, problem: str, daemon: DaemonProcess
) -> None:
    """Input that is no message of the contract fails at once, with a reason, and is not repeated."""
    words = ["bash", "-c", f". {ROOT / 'clients/shell/aeond.sh'}; AEOND_PATIENCE_SECONDS=0 {call}"]
    done = finished(words, daemon)
    assert (done.returncode, done.stderr[: len(problem)]) == (status, problem)


def test_a_watch_of_shell_ends_with_its_processes(daemon: DaemonProcess) -> None:
    """A watch of shell that waits ends with all of its processes as its page says, and its run goes on."""
    # Each process of the watch inherits the pipe of the output as 9: the last one that ends closes it.
    script = f". {ROOT / 'clients/shell/aeond.sh'}; set -m; exec 9>&1; aeond_watch $0 & read -r; kill -- -$!"
    settings = environment(AEOND_SOCKET=str(daemon.socket))
    with Client(daemon.socket) as client:
        run_id = client.create_run("Ask", RunOptions(plan=ASKING)).run_id
        words = ["bash", "-c", script, run_id]
        with subprocess.Popen(
            words, env=settings, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as program:
            assert program.stdout
            assert any("inputRequested" in line for line in program.stdout)
            program.communicate("\n", DEADLINE_SECONDS)
        assert client.get_run(run_id).state is RunState.AWAITING_INPUT


def offered(client: Client, name: str) -> bool:
    try:
        client.get_tool(name)
    except NotFoundError:
        return False
    return True


def printed(words: list[str], daemon: DaemonProcess, folder: Path | None = None, **settings: str) -> str:
    """The standard output of a program that must succeed."""
    done = finished(words, daemon, folder, **settings)
    assert done.returncode == 0, done.stderr
    return done.stdout


def finished(
    words: list[str], daemon: DaemonProcess, folder: Path | None = None, **settings: str
) -> "subprocess.CompletedProcess[str]":
    """A program that has ended, by default in an empty folder."""
    with daemon_folder() as empty:
        return subprocess.run(
            words,
            cwd=folder or empty,
            env=environment(AEOND_SOCKET=str(daemon.socket), **settings),
            check=False,
            capture_output=True,
            text=True,
            timeout=DEADLINE_SECONDS,
        )
