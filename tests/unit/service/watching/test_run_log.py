"""A run's story in the log."""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

import anyio
import pytest

from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs.budgets import Budget, BudgetRequest
from aeond.domain.runs.events import Event, EventKind, RunCreated, StepEnded
from aeond.domain.runs.run import Owner, RunRequest
from aeond.service.watching.feed import HotFeed
from aeond.service.watching.run_log import log_events
from tests.support.every_kind import EVERY_KIND
from tests.support.service_world import ONE_STEP, World, asking


def records(caplog: pytest.LogCaptureFixture) -> list[tuple[str, ...]]:
    """Kind, run, number and step of each record, as programs read them."""
    return [
        tuple(str(vars(record).get(name, "")) for name in ("kind", "run_id", "event_seq", "step_id"))
        for record in caplog.records
        if record.name == "aeond.runs"
    ]


async def test_a_run_s_records_tell_its_story(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Creation, start, steps and end of a run are each one record with the number of its event."""
    caplog.set_level(logging.INFO, "aeond.runs")
    async with World(tmp_path).working() as world:
        run = await world.runs.create(asking(), ONE_STEP, BudgetRequest())
        with anyio.fail_after(60):
            ended = await world.ended(run.run_id)
        events = await world.journal.read(run.run_id)
    feed = HotFeed(log_events)
    feed.publish(events)
    logged = records(caplog)
    assert [kind for kind, *_ in logged] == ["run_created", "run_started", "step_ended", "run_ended"]
    assert "with a plan of 1 steps" in caplog.text
    assert {run_id for _, run_id, *_ in logged} == {run.run_id}
    assert logged[-1][2] == str(ended.seq)
    assert [step for *_, step in logged if step] == [ONE_STEP.steps[0].step_id]


def said(caplog: pytest.LogCaptureFixture, kind: EventKind) -> str:
    caplog.clear()
    log_events([Event("r1", 1, 0.0, 0.5, kind)])
    return caplog.text


def test_no_content_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    """Neither what was asked nor what a step gave or says of its failure is in the log."""
    caplog.set_level(logging.DEBUG, "aeond.runs")
    request = RunRequest(owner=Owner(1000, 1), text="secret-7321")
    assert "user 1000" in (logged := said(caplog, RunCreated(request, Budget())))
    assert "7321" not in logged
    ended = StepEnded(
        "s1", StepState.FAILED, StepMode.TOOL, output="out-7321", error="e-7321", reason="because 7321"
    )
    assert "failed" in (logged := said(caplog, ended))
    assert "7321" not in logged


def test_a_code_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    """The reason of a failed step is logged if it is a code."""
    caplog.set_level(logging.INFO, "aeond.runs")
    ended = StepEnded("s1", StepState.FAILED, StepMode.TOOL, reason="TOOL_TIMEOUT", duration_seconds=1.25)
    assert "step ended: failed (TOOL_TIMEOUT), after 1.250 s" in said(caplog, ended)


def test_no_message_is_formatted_that_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    """At level warning the story costs nothing and says nothing."""
    caplog.set_level(logging.WARNING, "aeond.runs")
    assert said(caplog, StepEnded("s1", StepState.SUCCEEDED, StepMode.TOOL)) == ""


def texts_in(value: object) -> Iterator[str]:
    """Every text of more than one word in an event: text written by people and models."""
    if isinstance(value, str):
        if " " in value:
            yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from texts_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from texts_in(part)


def test_events_of_every_kind_are_reported_without_their_texts(caplog: pytest.LogCaptureFixture) -> None:
    """Of events of every kind, with every field that they can have, no text of anybody's is in the log."""
    caplog.set_level(logging.INFO, "aeond.runs")
    events = [Event("r1", seq, 0.0, 0.5, kind) for seq, kind in enumerate(EVERY_KIND, start=1)]
    log_events(events)
    assert {kind for kind, *_ in records(caplog)} >= {"route_chosen", "input_requested", "child_ended"}
    texts = [text for event in events for text in texts_in(asdict(event))]
    assert len(texts) > 10
    assert [text for text in texts if text in caplog.text] == []
