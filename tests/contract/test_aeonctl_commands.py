"""The commands of aeonctl that look at things and change them."""

import re
from pathlib import Path

import pytest

from aeond.api.v1 import events_pb2, models_pb2, parts_pb2
from tests.support import wire_events
from tests.support.aeonctl import Run, script
from tests.support.scripted_daemon import ScriptedDaemon, journal_of


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
    assert (await aeonctl("runs", "--state", "failed")).err == "No run matches.\n"


def below(parent_run_id: str) -> events_pb2.RunCreated:
    """The beginning of a run that another one started."""
    created = wire_events.created()
    created.parent_run_id = parent_run_id
    return created


async def test_last_is_found_behind_many_runs_that_a_run_started(
    aeonctl: Run, daemon: ScriptedDaemon
) -> None:
    """However many runs were started since, `last` is the newest that a person asked for; where there is none, it says so."""
    assert (await aeonctl("show", "last")).code == 2
    for parent_run_id in ("", "", *["01RUN0001"] * 12):
        script(daemon, below(parent_run_id), wire_events.ended())
        await aeonctl("ask", "--detach", "What?")
    assert "run       01RUN0002\n" in (await aeonctl("show", "last")).out
    marked = [line.split()[0] for line in (await aeonctl("runs")).out.splitlines() if "↳" in line]
    assert marked == [f"01RUN{number:04}" for number in range(14, 2, -1)]


async def test_a_decision_goes_to_the_run_of_the_last_tree_that_waits(
    aeonctl: Run, daemon: ScriptedDaemon
) -> None:
    """`decide last` is about the run below the last one that is suspended, however deep, and about none of another tree."""
    waits = events_pb2.RunSuspended(reason=parts_pb2.SUSPEND_REASON_UNKNOWN_STEP)
    for parent_run_id, kind in (
        ("", events_pb2.RunStarted()),
        ("", events_pb2.RunStarted()),
        ("01RUN0002", events_pb2.RunStarted()),
        ("01RUN0003", waits),
        ("01RUN0001", waits),
    ):
        script(daemon, below(parent_run_id), kind)
        await aeonctl("ask", "--detach", "What?")
    assert (await aeonctl("decide", "last", "done")).code == 0
    decided = [run.run_id for run in daemon.runs.runs.values() if run.ended]
    assert decided == ["01RUN0004"]


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


async def test_the_model_that_was_asked_for_is_shown(aeonctl: Run) -> None:
    """The requested model of a run is shown, as text and as JSON."""
    await aeonctl("ask", "--detach", "--model", "tiny", "What?")
    assert "\nmodel     tiny\n" in (await aeonctl("show", "last")).out
    assert (await aeonctl("show", "last", "--json")).json_lines[0]["model"] == "tiny"


async def test_events_of_a_run_that_goes_on_are_those_so_far(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """Looking at a run's events does not wait for its end."""
    script(daemon, wire_events.created(), events_pb2.RunStarted())
    await aeonctl("ask", "--detach", "What?")
    kinds = [event["kind"] for event in (await aeonctl("show", "last", "--events", "--json")).json_lines]
    assert kinds == ["run_created", "run_started"]


async def test_cancelling_is_reported(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """A cancelled run is reported with its final state."""
    script(daemon, wire_events.created(), events_pb2.RunStarted())
    await aeonctl("ask", "--detach", "What?")
    printed = await aeonctl("cancel", "last", "--reason", "enough")
    assert (printed.code, printed.out) == (0, "The run has already ended: cancelled.\n")
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


async def test_escapes_in_a_tool_result_do_not_reach_the_terminal(aeonctl: Run) -> None:
    """Escapes in a tool's text stay escapes in a pipe too."""
    assert (await aeonctl("call", "loud")).out == "\\x1b]0;owned\\x07\\u202egnp.exe\\x9b31m\n"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (("", ()), ""),
        (("r1", ()), "run r1"),
        (("r1", ("file:/x", "memory:b")), "run r1, untrusted: file:/x, memory:b"),
        (("", ("memory:tip",)), "unknown run, untrusted: memory:tip"),
    ],
    ids=["client", "run", "untrusted", "unknown"],
)
async def test_the_source_of_a_fact_is_shown(
    aeonctl: Run, daemon: ScriptedDaemon, source: tuple[str, tuple[str, ...]], shown: str
) -> None:
    """The list shows the run that wrote a fact and its untrusted sources; a read of an untrusted fact warns."""
    daemon.memory.values["tip"] = '"buy"'
    daemon.memory.sources["tip"] = source
    listed = (await aeonctl("memory", "list")).out.splitlines()[-1]
    assert listed.split() == ["tip", "buy", *shown.split()]
    assert (await aeonctl("memory", "get", "tip")).err == (f"{shown}\n" if source[1] else "")


async def test_memory_is_kept_by_hand(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """A value set is the value got: JSON where it is JSON, a text where that is asked for."""
    for words in (("bonus", "420"), ("name", "Ada"), ("zip", "007"), ("code", "420", "--text")):
        assert (await aeonctl("memory", "set", *words)).code == 0
    assert daemon.memory.values == {"bonus": "420", "name": '"Ada"', "zip": '"007"', "code": '"420"'}
    assert (await aeonctl("memory", "list", "x")).err == "No key matches.\n"
    assert (await aeonctl("memory", "get", "name")).out == "Ada\n"
    assert (await aeonctl("memory", "get", "name", "--json")).out == '"Ada"\n'
    assert (await aeonctl("memory", "list", "n", "--json")).json_lines == [
        {"key": "name", "value": "Ada", "run_id": "", "taint": []}
    ]
    assert [(await aeonctl("memory", "delete", "bonus")).code for _ in range(2)] == [0, 1]
    assert (await aeonctl("memory", "get", "bonus")).code == 1


async def test_a_reload_is_reported(aeonctl: Run) -> None:
    """Changed keys and keys that need a restart are printed on one line each, or in one JSON object."""
    printed = await aeonctl("reload")
    assert (printed.code, printed.out.splitlines()) == (
        0,
        ["changed        log.level, runs.max_running", "needs restart  model.name"],
    )
    assert (await aeonctl("reload", "--json")).json_lines[0]["restart_keys"] == ["model.name"]


@pytest.mark.parametrize(
    ("last", "out", "code"),
    [
        (models_pb2.ENGINE_STATE_READY, "tiny ready\n", 0),
        (models_pb2.ENGINE_STATE_DEAD, "tiny dead: no room\n", 1),
        (models_pb2.ENGINE_STATE_COLD, "cold: the next request loads a model\n", 1),
    ],
)
async def test_waiting_for_a_model_ends_with_its_start(
    aeonctl: Run, daemon: ScriptedDaemon, last: models_pb2.EngineState.ValueType, out: str, code: int
) -> None:
    """Waiting for a model shows its progress and outcome, also if another client unloads the model."""
    starting = models_pb2.Engine(state=models_pb2.ENGINE_STATE_STARTING, model="tiny", activity="loading")
    half = models_pb2.Engine(state=starting.state, model="tiny", activity="loading", progress=0.55)
    end = models_pb2.Engine(state=last, model="" if last == models_pb2.ENGINE_STATE_COLD else "tiny")
    end.error = "no room" if code and end.model else ""
    daemon.models.starting, daemon.status.engines = starting, [half, end]
    printed = await aeonctl("models", "load", "--wait")
    assert (printed.code, printed.out, printed.err) == (code, out, "loading\nloading 50%\n")


async def test_models_and_status_are_reported(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """The catalogue, the loaded model and the daemon's state are there for people and programs."""
    assert (await aeonctl("models", "list")).out.split()[:5] == ["tiny", "(default)", "loaded", "98.0", "MB"]
    assert (await aeonctl("models", "unload")).out == "cold: the next request loads a model\n"
    assert (await aeonctl("models", "load", "--wait")).out == "tiny ready\n"
    assert (await aeonctl("models", "sleep")).out == "tiny asleep: the next request wakes it\n"
    assert (await aeonctl("models", "wake", "--wait")).out == "tiny ready\n"
    assert (await aeonctl("models", "sleep", "--json")).json_lines[0]["state"] == "asleep"
    unknown = await aeonctl("models", "load", "huge")
    assert (unknown.code, "MODEL_NOT_FOUND" in unknown.err) == (1, True)
    status = await aeonctl("status")
    assert (status.code, str(daemon.path) + " (from AEOND_SOCKET)" in status.out) == (0, True)
    assert (await aeonctl("status", "--json")).json_lines[0]["engine"]["model"] == "tiny"


async def test_the_changes_of_a_run_are_listed(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """Each change is shown with the step that made it, as text or as JSON; a run without changes says so."""
    written = wire_events.step_ended("s1", {"written": True})
    written.effects.add(kind="file.created", target="notes.txt", detail="120 bytes")
    script(daemon, wire_events.created(), written, wire_events.ended())
    await aeonctl("ask", "--detach", "What?")
    assert (await aeonctl("changes", "last")).out.endswith("  s1  created: notes.txt (120 bytes)\n")
    (change,) = (await aeonctl("changes", "last", "--json")).json_lines
    assert (change["step_id"], change["kind"], change["target"]) == ("s1", "file.created", "notes.txt")
    script(daemon, wire_events.created(), wire_events.ended())
    await aeonctl("ask", "--detach", "What?")
    assert (await aeonctl("changes", "last")).err == "No tool reported a change.\n"


async def test_a_run_is_undone(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """Undoing prints each reverted change; a change left alone is an error line and makes the exit code 1."""
    await aeonctl("ask", "--detach", "What?")
    nothing = await aeonctl("undo", "last")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "Nothing to undo.\n")
    daemon.runs.undo_response.undone.add(target="a.txt", outcome="restored")
    done = await aeonctl("undo", "01RUN0001")
    assert (done.code, done.out, done.err) == (0, "a.txt: restored\n", "")
    daemon.runs.undo_response.refused.add(
        target="b.txt", reason="CHANGED_SINCE", message="it was changed since"
    )
    partly = await aeonctl("undo", "last")
    assert (partly.code, partly.out) == (1, "a.txt: restored\n")
    assert partly.err == "b.txt: left alone, it was changed since\n"
    (report,) = (await aeonctl("undo", "last", "--json")).json_lines
    assert report["refused"] == [
        {"target": "b.txt", "reason": "CHANGED_SINCE", "message": "it was changed since"}
    ]


async def test_runs_are_deleted(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """Deleting names each deleted run; `last` means one run, and one that has not ended stays."""
    for _ in range(3):
        await aeonctl("ask", "--detach", "What?")
    done = await aeonctl("delete", "last", "last", "01RUN0002")
    assert (done.code, done.out, done.err) == (0, "", "Deleted 01RUN0003.\nDeleted 01RUN0002.\n")
    assert list(daemon.runs.runs) == ["01RUN0001"]
    assert (await aeonctl("delete", "01RUN0003")).code != 0
    script(daemon, wire_events.created(), events_pb2.RunStarted())
    await aeonctl("ask", "--detach", "What?")
    assert (await aeonctl("delete", "last")).code != 0
    assert len(daemon.runs.runs) == 2


async def test_a_run_that_cannot_be_deleted_does_not_keep_the_others(
    aeonctl: Run, daemon: ScriptedDaemon
) -> None:
    """A refused deletion is reported, the runs after it are deleted, and the exit code is 1."""
    script(daemon, wire_events.created(), events_pb2.RunStarted())
    await aeonctl("ask", "--detach", "What?")
    script(daemon, wire_events.created(), wire_events.ended())
    await aeonctl("ask", "--detach", "What?")
    done = await aeonctl("delete", "01RUN0001", "no-run", "01RUN0002")
    refused, missing, deleted = done.err.splitlines()
    assert (done.code, done.out, deleted) == (1, "", "Deleted 01RUN0002.")
    assert refused.startswith("aeonctl: ")
    assert missing.startswith("aeonctl: ")
    assert list(daemon.runs.runs) == ["01RUN0001"]


@pytest.mark.parametrize("words", [("watch", "--after"), ("fork", "--after"), ("replay", "--until")])
async def test_an_event_number_has_a_limit(aeonctl: Run, words: tuple[str, str]) -> None:
    """A number that no event can have is a usage error that names the option."""
    command, option = words
    await aeonctl("ask", "--detach", "What?")
    printed = await aeonctl(command, "last", option, str(1 << 63))
    assert (printed.code, printed.out) == (2, "")
    assert option in printed.err


async def test_a_run_that_has_not_ended_is_not_undone(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """Undoing a run in progress, or one that does not exist, fails without a change."""
    script(daemon, wire_events.created(), events_pb2.RunStarted())
    await aeonctl("ask", "--detach", "What?")
    assert (await aeonctl("undo", "last")).code != 0
    assert (await aeonctl("undo", "no-run")).code != 0
