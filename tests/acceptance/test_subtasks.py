"""Subtasks with the real daemon and a scripted model: a child run, its tree in one stream, a stop of all."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aeond_client.calls.run_calls import RunOptions
from aeond_client.client import Client
from aeond_client.events import ChildRunEnded, ChildRunStarted, InputRequested, RunEnded
from aeond_client.records.runs import Plan, PlanStep, RunState
from tests.support.aeonctl import command, environment, finished
from tests.support.daemon_process import DaemonProcess, daemon_folder
from tests.support.poem import POEM

RULES = [
    {"contains": "You plan how", "pattern": "rain", "json": {"steps": [{"agent": "llm"}]}},
    {
        "contains": "You plan how",
        "pattern": "snow",
        "json": {"steps": [{"tool": "request_user_input", "arguments": {"prompt": "Which mood?"}}]},
    },
    {"contains": "You write one line", "text": "It rains, it rains."},
    {"contains": "You read one part", "text": "The mill burnt down in 1903."},
    {"contains": "You do the task", "pattern": "Notes of part 2", "text": "A mill burnt down."},
    {"contains": "You do the task", "text": "A short story of a mill."},
    {"contains": "Say in English", "text": "Gives the main points of a text."},
    {"contains": "Answer yes if", "pattern": "points of a long text[^\n]*$", "text": "yes"},
    {"contains": "You pass requests on", "json": {"helper": "summarise"}},
]


@contextmanager
def with_template(folder: Path) -> Iterator[DaemonProcess]:
    """A daemon with a template of the user's that is offered as a tool."""
    (folder / "templates").mkdir()
    (folder / "templates" / "poem.toml").write_text(POEM)
    tools = {"templates": [str(folder / "templates")], "subtasks": ["poem", "delegate"]}
    daemon = DaemonProcess(folder, {"tools": tools})
    daemon.script.write_text(json.dumps({"rules": RULES}))
    with daemon:
        yield daemon


@pytest.fixture(scope="module")
def daemon() -> Iterator[DaemonProcess]:
    """A daemon for the tests that do not stop it."""
    with daemon_folder() as folder, with_template(folder) as daemon:
        yield daemon


@pytest.fixture
def own_daemon(folder: Path) -> Iterator[DaemonProcess]:
    """A daemon for one test."""
    with with_template(folder) as daemon:
        yield daemon


def poem(subject: str) -> RunOptions:
    return RunOptions(plan=Plan("a poem", (PlanStep("s1", "a poem", "poem", {"subject": subject}),)))


def test_a_subtask_is_a_run_whose_answer_is_the_result(daemon: DaemonProcess) -> None:
    """The tool of a user's template starts a run with the template's words; its answer comes back."""
    with Client(str(daemon.socket)) as client:
        assert client.get_tool("poem").input_schema["required"] == ["subject"]
        run = client.create_run("a poem on rain", poem("rain"))
        with client.watch(run.run_id, children=True) as events:
            seen = list(events)
        (child,) = client.list_runs(parent_run_id=run.run_id)
        ended, below = client.get_run(run.run_id), client.get_run(child.run_id)
    assert ended.state is RunState.SUCCEEDED
    assert ended.steps[0].output == {"answer": "It rains, it rains."}
    assert (below.parent_run_id, below.depth, below.text) == (
        run.run_id,
        1,
        "Write a poem.\n\nsubject:\nrain",
    )
    for shown in (ended, below):
        numbers = [event.seq for event in seen if event.run_id == shown.run_id and event.seq]
        assert numbers == list(range(1, shown.last_seq + 1))
    own = [event.kind for event in seen if event.run_id == run.run_id]
    (began,) = (kind for kind in own if isinstance(kind, ChildRunStarted))
    (done,) = (kind for kind in own if isinstance(kind, ChildRunEnded))
    assert began.child_run_id == done.child_run_id == child.run_id


def test_a_described_subtask_is_done_by_the_agent_of_its_template(daemon: DaemonProcess) -> None:
    """A subtask without a template's name starts the run of the template that the model says fits, here one step of the
    shipped agent `reader`: no further decision is made."""
    task = {"task": "What is this about, in a few words?", "text": "The old mill. " * 20}
    plan = Plan("a digest", (PlanStep("s1", "a digest", "delegate", task),))
    with Client(str(daemon.socket)) as client:
        run = client.create_run("a digest", RunOptions(plan=plan))
        with client.watch(run.run_id, children=True) as events:
            (began,) = (one.kind for one in events if isinstance(one.kind, ChildRunStarted))
        ended, below = client.get_run(run.run_id), client.get_run(began.child_run_id)
    assert (began.template, began.agent) == ("summarise", "reader")
    assert ended.steps[0].output == {"answer": "A short story of a mill."}
    assert [one.plan_step.agent for one in below.steps] == ["reader"]
    assert below.used.llm_calls == 1


def test_the_reader_reads_long_material_in_parts(daemon: DaemonProcess) -> None:
    """The shipped template for summaries has a text that is too long for one prompt read in parts by the agent `reader`,
    whose answer comes from its notes."""
    text = {"text": "The old mill stood by the river until it burnt. " * 400}
    plan = Plan("a digest", (PlanStep("s1", "a digest", "summarise", text),))
    with Client(str(daemon.socket)) as client:
        run = client.create_run("a digest", RunOptions(plan=plan))
        with client.watch(run.run_id, children=True) as events:
            (began,) = (one.kind for one in events if isinstance(one.kind, ChildRunStarted))
        ended, below = client.get_run(run.run_id), client.get_run(began.child_run_id)
    assert ended.steps[0].output == {"answer": "A mill burnt down."}
    assert below.used.llm_calls == 3


def test_a_tree_survives_a_kill_while_a_run_below_asks(own_daemon: DaemonProcess) -> None:
    """The watcher of the root is asked what a run below asks, also by the next own_daemon, and all of it ends."""
    with Client(str(own_daemon.socket)) as client:
        run = client.create_run("a poem on snow", poem("snow"))
        seen = []
        with client.watch(run.run_id, children=True) as events:
            for event in events:
                seen.append(event)
                if isinstance(event.kind, InputRequested):
                    own_daemon.restart()
                    assert client.get_run(event.run_id).state is RunState.AWAITING_INPUT
                    client.answer_run(event.run_id, "merry")
        ended = client.get_run(run.run_id)
        (child,) = client.list_runs(parent_run_id=run.run_id)
    assert ended.state is RunState.SUCCEEDED
    for run_id in (run.run_id, child.run_id):
        numbers = [event.seq for event in seen if event.run_id == run_id and event.seq]
        assert numbers == list(range(1, len(numbers) + 1))
    assert {event.run_id for event in seen if isinstance(event.kind, RunEnded)} == {run.run_id, child.run_id}


def test_a_request_to_stop_reaches_the_runs_below(daemon: DaemonProcess) -> None:
    """Cancelling the root ends the run that it waits for."""
    with Client(str(daemon.socket)) as client:
        run = client.create_run("a poem on snow", poem("snow"))
        with client.watch(run.run_id, children=True) as events:
            for event in events:
                if isinstance(event.kind, InputRequested):
                    client.cancel_run(run.run_id)
        (child,) = client.list_runs(parent_run_id=run.run_id)
        states = [client.get_run(one).state for one in (run.run_id, child.run_id)]
    assert states == [RunState.CANCELLED, RunState.CANCELLED]


async def test_the_command_line_shows_the_tree(daemon: DaemonProcess) -> None:
    """`watch --children` tells what the runs below do, `show` and `runs --parent` name them."""
    variables = environment(AEOND_SOCKET=str(daemon.socket))

    async def said(*words: str) -> str:
        done = await finished(command(*words), variables)
        assert done.code == 0, done.err
        return done.out + done.err

    with Client(str(daemon.socket)) as client:
        run = client.create_run("a poem on rain", poem("rain"))
        watched = await said("watch", run.run_id, "--children")
        (child,) = client.list_runs(parent_run_id=run.run_id)
    assert f"  {child.run_id}: started: Write a poem." in watched
    assert f"  {child.run_id}: succeeded" in watched
    assert child.run_id not in await said("watch", run.run_id)
    assert f"run {child.run_id}  Write a poem." in await said("show", run.run_id)
    assert f"parent    {run.run_id}" in await said("show", child.run_id)
    listed = await said("runs", "--parent", run.run_id)
    assert child.run_id in listed
    assert run.run_id not in listed


async def test_the_last_run_is_the_one_that_was_asked_for(daemon: DaemonProcess) -> None:
    """`last` is never a run that a run started, except for `answer`, which goes to the one that asks."""
    variables = environment(AEOND_SOCKET=str(daemon.socket))

    async def said(*words: str) -> str:
        done = await finished(command(*words), variables)
        assert done.code == 0, done.err
        return done.out

    with Client(str(daemon.socket)) as client:
        run = client.create_run("a poem on snow", poem("snow"))
        with client.watch(run.run_id, children=True) as events:
            child_run_id = next(event.run_id for event in events if isinstance(event.kind, InputRequested))
        assert f"run       {run.run_id}\n" in await said("show", "last")
        assert [line.split()[0] for line in (await said("runs", "--parent", "last")).splitlines()] == [
            child_run_id
        ]
        asks, started = (await said("runs")).splitlines()[:2]
        assert (asks.split()[0], "↳ Write a poem." in asks) == (child_run_id, True)
        assert (started.split()[0], "↳" in started) == (run.run_id, False)
        await said("answer", "last", "merry")
        await said("watch", "last")
        assert client.get_run(run.run_id).state is RunState.SUCCEEDED


async def test_cancelling_the_last_run_ends_what_it_started(daemon: DaemonProcess) -> None:
    """`cancel last` stops what was asked for, with the run below that asks."""
    variables = environment(AEOND_SOCKET=str(daemon.socket))
    with Client(str(daemon.socket)) as client:
        run = client.create_run("a poem on snow", poem("snow"))
        with client.watch(run.run_id, children=True) as events:
            for event in events:
                if isinstance(event.kind, InputRequested):
                    assert (await finished(command("cancel", "last"), variables)).code == 0
        (child,) = client.list_runs(parent_run_id=run.run_id)
        states = [client.get_run(one).state for one in (run.run_id, child.run_id)]
    assert (states, child.parent_run_id) == ([RunState.CANCELLED, RunState.CANCELLED], run.run_id)


def test_a_wrong_template_keeps_the_daemon_from_starting(folder: Path) -> None:
    """The start fails with the file and the key that is wrong."""
    (folder / "templates").mkdir()
    (folder / "templates" / "poem.toml").write_text(POEM.replace("hints", "hint"))
    daemon = DaemonProcess(folder, {"tools": {"templates": [str(folder / "templates")]}})
    daemon.write_config()
    daemon.spawn()
    assert daemon.wait() != 0
    assert "poem.toml: hint" in daemon.log
