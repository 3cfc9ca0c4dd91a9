"""`aeonctl why` of a run of the real daemon: the whole chain of causes, in the order of the journal."""

import os
import re
from pathlib import Path
from typing import Any

from anyio import to_thread

from aeond_client import Client, RunOptions, RunState
from aeond_client.events import ApprovalRequested, RunSuspended
from tests.support.ledgers import chain, deed
from tests.support.stages import Stage, planned, staged

REQUEST = "Copy the recipe"
TEXT = "Flour, water, salt."
SCRIPT = {
    "rules": [
        {"contains": "reply only: @tools", "text": "@tools"},
        planned(
            REQUEST,
            {"tool": "read_file", "arguments": {"path": "recipe.txt"}},
            {"tool": "write_file", "arguments": {"path": "copy.txt", "content": TEXT}, "depends_on": ["s1"]},
        ),
        {"text": "Copied."},
    ]
}
# Kind, step, and the beginning of the words of each link.
BEFORE = [
    ("request", "", f"user {os.getuid()} asked: {REQUEST}"),
    ("route", "", "plan"),
    ("profile", "", "difficulty 3 of 5"),
    ("plan", "", "2 steps, made by the model"),
    ("evaluation", "", "the plan can be executed (PLAN_VALID)"),
]
READING = [
    ("step", "s1", "read_file recipe.txt"),
    ("policy", "s1", "allowed, rule ask.reading"),
    ("result", "s1", "succeeded after "),
]
WRITING = [
    ("step", "s2", "write_file "),
    ("evidence", "s2", "the results of s1"),
    ("policy", "s2", "a person must allow it, no rule matched"),
    ("approval", "s2", "asked a person about 1 call"),
    ("approval", "s2", f"allowed by user {os.getuid()}, scope once"),
    ("step", "s2", "write_file "),
    ("evidence", "s2", "the results of s1"),
    ("policy", "s2", "a person must allow it, no rule matched"),
    ("effect", "s2", "created: copy.txt (19 bytes)"),
    ("result", "s2", "succeeded after "),
]
AFTER = [
    ("evaluation", "", "the work is done (ALL_STEPS_COMPLETE)"),
    ("answer", "", "written by the model, from s1, s2: Copied."),
    ("end", "", "succeeded"),
]
LINE = re.compile(r" *(\d+)  (\w+(?: \w+)?) +(?:(s\d+) +)?(\S.*)")
DETAIL = " " * 20

Link = tuple[str, str, str]


def fulfilled(stage: Stage) -> str:
    """A run of the request, whose only call with an effect a person has approved."""
    with Client(stage.socket) as client:
        run_id = client.create_run(REQUEST, RunOptions(workspace=str(stage.workspace))).run_id
        with client.watch(run_id) as events:
            for event in events:
                if isinstance(event.kind, ApprovalRequested):
                    asked = event.kind.approval
                    client.decide_approval(run_id, asked.approval_id, asked.digest, approved=True)
        assert client.get_run(run_id).state is RunState.SUCCEEDED
    return run_id


def must_be(expected: list[Link], found: list[Link]) -> None:
    """The same links in the same order, each with words that begin as expected."""
    assert [link[:2] for link in found] == [link[:2] for link in expected]
    for (_, _, words), (_, _, beginning) in zip(found, expected, strict=True):
        assert words.startswith(beginning)


def printed(text: str, run_id: str) -> tuple[list[Link], list[int], list[str]]:
    """The links, the numbers of their events, and the details below them, as a person reads them."""
    first, *lines = text.splitlines()
    assert first == f"run {run_id}"
    details = [line.strip() for line in lines if line.startswith(DETAIL)]
    matches = [LINE.fullmatch(line) for line in lines if not line.startswith(DETAIL)]
    links = [(match[2], match[3] or "", match[4]) for match in matches if match]
    assert len(links) == len(matches)
    return links, [int(match[1]) for match in matches if match], details


async def test_why_names_every_cause_of_a_run_in_order(tmp_path: Path) -> None:
    """Request, route, plan, decisions of the policy and of a person, evidence, effect and answer of a real run are listed in the
    order of its record, as text and as JSON, also of one step alone.
    """
    with staged(tmp_path, {"policy": {"profile": "ask"}}, SCRIPT) as stage:
        (stage.workspace / "recipe.txt").write_text(f"{TEXT}\n", encoding="utf-8")
        run_id = await to_thread.run_sync(fulfilled, stage)
        for step, expected in (
            ((), [*BEFORE, *READING, *WRITING, *AFTER]),
            (("s2",), [*BEFORE, *WRITING, *AFTER]),
        ):
            text = await stage.aeonctl("why", run_id, *step)
            lines: list[dict[str, Any]] = (await stage.aeonctl("why", run_id, *step, "--json")).json_lines
            links, numbers, details = printed(text.out, run_id)
            must_be(expected, links)
            must_be(expected, [(line["kind"], line["step_id"], line["words"]) for line in lines])
            assert numbers == sorted(numbers) == [line["seq"] for line in lines]
            assert details == [detail for line in lines for detail in line["details"]]
            by_kind = {(line["kind"], line["step_id"]): line["data"] for line in lines}
            assert by_kind["evidence", "s2"] == {"step_ids": ["s1"]}
            assert by_kind["effect", "s2"] == {"kind": "file.created", "target": "copy.txt"}
            assert by_kind["policy", "s2"]["verdict"] == "ask"
            assert (stage.workspace / "copy.txt").read_text(encoding="utf-8") == TEXT
            # The evidence is what the first step has read.
            assert any(detail.startswith("s1: ") and TEXT in detail for detail in details)


def interrupted(stage: Stage) -> str:
    """A run whose step has begun an effect, whose end was not recorded, when the daemon was killed; it is suspended now."""
    with Client(stage.socket) as client:
        gate = stage.gate()
        run_id = client.create_run("Send it", RunOptions(plan=chain(deed("s1", "send", gate=gate)))).run_id
        gate.held()
        stage.daemon.restart()
        with client.watch(run_id) as events:
            assert any(isinstance(event.kind, RunSuspended) for event in events)
    return run_id


async def test_why_names_the_decision_about_an_interrupted_step(tmp_path: Path) -> None:
    """Of a run whose step was interrupted, the chain has the suspension and then what a person decided about the step."""
    with staged(tmp_path) as stage:
        run_id = await to_thread.run_sync(interrupted, stage)
        text = (await stage.aeonctl("why", run_id)).out
        assert f"decide with: aeonctl decide {run_id}" in text
        assert (await stage.aeonctl("decide", run_id, "done")).code == 0
        assert (await stage.aeonctl("watch", run_id)).code == 0
        links, _, _ = printed((await stage.aeonctl("why", run_id)).out, run_id)
        expected = [
            ("request", "", f"user {os.getuid()} asked: Send it"),
            ("plan", "", "1 step, given by the client"),
            ("step", "s1", "send "),
            ("suspended", "", "the outcome of these steps is unknown: s1"),
            ("decision", "s1", f"user {os.getuid()} decided: done"),
            ("answer", "", "the output of the steps, from s1"),
            ("end", "", "succeeded"),
        ]
        must_be(expected, links)
