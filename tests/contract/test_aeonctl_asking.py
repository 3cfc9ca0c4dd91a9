"""`ask` and `watch` in pipes and scripts: output streams and exit codes."""

import json
from pathlib import Path

import pytest

from aeond.api.v1 import events_pb2, parts_pb2, tools_pb2
from tests.support import wire_events
from tests.support.aeonctl import Printed, Run, script
from tests.support.scripted_daemon import ScriptedDaemon, journal_of


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
        "• 2/2 remember key=bonus value=420",
        "✓ 2/2 remember key=bonus value=420 → true (0.2s)",
        "writing the answer",
        "remembered: bonus",
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
    """File tools work in the current folder, in another if requested, or in a private folder of the
    daemon's."""
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
        (parts_pb2.RUN_STATE_EXPIRED, 4, "The budget is exhausted: llm calls."),
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


async def test_a_watch_that_starts_late_knows_the_steps(aeonctl: Run) -> None:
    """A watch that starts after the plan numbers the steps correctly and shows no earlier events."""
    await aeonctl("ask", "--detach", "What?")
    events = (await aeonctl("show", "last", "--events", "--json")).json_lines
    began = next(event["seq"] for event in events if event["kind"] == "step_started")
    watched = await aeonctl("watch", "last", "--after", str(began))
    assert (watched.code, watched.out) == (0, "It is 420.\n")
    assert watched.err.splitlines() == [
        "✓ 1/2 calculator 2400 * 0.175 → 420.0 (0.2s)",
        "• 2/2 remember key=bonus value=420",
        "✓ 2/2 remember key=bonus value=420 → true (0.2s)",
        "writing the answer",
        "remembered: bonus",
    ]


async def test_a_watch_behind_the_end_tells_it_too(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """A watch that starts after the last event of a run ends at once, with the run's outcome as exit code."""
    script(daemon, wire_events.created(), wire_events.ended(parts_pb2.RUN_STATE_FAILED, message="It broke."))
    await aeonctl("ask", "--detach", "What?")
    assert await aeonctl("watch", "last", "--after", "2") == Printed(1, "", "")


async def test_a_run_that_needs_a_person_is_left_and_reported(aeonctl: Run, daemon: ScriptedDaemon) -> None:
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


async def test_a_run_suspended_by_a_full_disk_is_followed_to_its_end(
    aeonctl: Run, daemon: ScriptedDaemon
) -> None:
    """A run that continues by itself once the disk has space is shown to its end, and no decision is asked for."""
    suspended = events_pb2.RunSuspended(
        reason=parts_pb2.SUSPEND_REASON_DISK_FULL, message="the disk is full: free some space"
    )
    script(daemon, wire_events.created(), suspended)
    daemon.runs.later = [[events_pb2.RunResumed(), wire_events.composed("It is 420."), wire_events.ended()]]
    printed = await aeonctl("ask", "What?")
    assert (printed.code, printed.out) == (0, "It is 420.\n")
    assert "the disk is full: free some space" in printed.err
    assert "waits for you" not in printed.err


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
    assert (printed.code, "choose one with --step: s1, s2" in printed.err) == (2, True)
    assert (await aeonctl("decide", "last", "retry", "--step", "s2")).code == 0
    assert daemon.runs.runs["01RUN0001"].numbered[-3].step_resolved.step_id == "s2"


async def test_notes_of_an_answer_are_printed_apart_from_it(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """Notes of an answer go to the person and not into the captured answer."""
    script(daemon, wire_events.created(), wire_events.composed("Half.", "s2 failed"), wire_events.ended())
    printed = await aeonctl("ask", "What?")
    assert (printed.out, printed.err.splitlines()[-1]) == ("Half.\n", "note: s2 failed")


async def test_recorded_effects_stand_under_the_answer(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """The effects of a run are printed under its answer, and are data in its JSON."""
    effect = tools_pb2.RecordedEffect(kind="file.created", target="notes.txt", detail="120 bytes")
    script(
        daemon, wire_events.created(), wire_events.composed("Done.", effects=[effect]), wire_events.ended()
    )
    printed = await aeonctl("ask", "Write notes.")
    assert (printed.out, printed.err.splitlines()[-1]) == ("Done.\n", "created: notes.txt (120 bytes)")
    lines = [json.loads(line) for line in (await aeonctl("ask", "--json", "Write notes.")).out.splitlines()]
    (answer,) = [line["data"]["answer"] for line in lines if line["kind"] == "answer_composed"]
    assert answer["effects"] == [{"kind": "file.created", "target": "notes.txt", "detail": "120 bytes"}]
