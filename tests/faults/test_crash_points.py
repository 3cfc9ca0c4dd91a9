"""A crash at every point of a step's life, for every effect class, and the following start."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import anyio
import pytest

from aeond.domain.plans.plan import StepState
from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.events import (
    AnswerComposed,
    AnswerStarted,
    PassStarted,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
)
from aeond.domain.runs.run import RunState
from aeond.domain.tools import Effect, ToolContext
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import StoreError
from tests.support.doubles import ScriptedTool
from tests.support.journals import journal_in
from tests.support.mortal_journal import Moment, MortalJournal
from tests.support.service_world import ONE_STEP, World, asking


@dataclass
class LedgerTool(ScriptedTool):
    """Enters each effect in a ledger that outlives the daemon, and can look there for what it did."""

    ledger: list[str] = field(default_factory=list)
    remembers: bool = False

    async def reconcile(self, arguments: JsonObject, context: ToolContext) -> JsonValue | None:
        return {"done": True} if self.remembers and self.ledger else None


CLASSES = {
    "harmless": (Effect.PURE, False, False),
    "idempotent and remembers": (Effect.WRITE_CONTAINED, True, True),
    "idempotent and forgets": (Effect.WRITE_CONTAINED, True, False),
    "anything else": (Effect.EXEC_HOST, False, False),
}

# An append is one commit: a crash before or after it loses or keeps all of its events, the results so far and the next
# intent. For each point: how often the effect has happened when the next daemon is done, by class. An effect of no
# known class is in doubt ("?") from its intent to its outcome: the step is UNKNOWN and a person decides.
BEFORE_EFFECT, AFTER_EFFECT = "before the effect", "after the effect"
EXPECTED: dict[str | Moment, tuple[str, str, str, str]] = {
    Moment("before", PassStarted): ("1", "1", "1", "1"),
    Moment("after", PassStarted): ("1", "1", "1", "0?"),  # the intent of the first step is in that append
    Moment("before", StepStarted): ("1", "1", "1", "1"),
    Moment("after", StepStarted): ("1", "1", "1", "0?"),
    BEFORE_EFFECT: ("1", "1", "1", "0?"),
    AFTER_EFFECT: ("2", "1", "2", "1?"),
    Moment("before", StepEnded): ("2", "1", "2", "1?"),
    Moment("after", StepEnded): ("1", "1", "1", "1"),
    Moment("before", AnswerStarted): ("2", "1", "2", "1?"),
    Moment("after", AnswerStarted): ("1", "1", "1", "1"),
    Moment("before", AnswerComposed): (
        "2",
        "1",
        "2",
        "1?",
    ),  # no model is needed: in the append of the outcome
    Moment("after", AnswerComposed): ("1", "1", "1", "1"),
    Moment("before", RunEnded): ("2", "1", "2", "1?"),
    Moment("after", RunEnded): ("1", "1", "1", "1"),
}


@pytest.mark.parametrize(
    ("point", "name", "expected"),
    [
        pytest.param(point, name, cell, id=f"{name}, {point}")
        for point, cells in EXPECTED.items()
        for name, cell in zip(CLASSES, cells, strict=True)
    ],
)
async def test_a_crash_does_what_the_table_says(
    tmp_path: Path, point: str | Moment, name: str, expected: str
) -> None:
    """After a crash at this point an effect of this class has happened as often as the table says, and a step
    in doubt is shown as such and left alone."""
    effect, idempotent, remembers = CLASSES[name]
    ledger: list[str] = []
    async with journal_in(tmp_path) as journal:
        mortal = MortalJournal(journal, point if isinstance(point, Moment) else None)

        async def act(arguments: JsonObject, context: ToolContext) -> JsonValue:
            if point == BEFORE_EFFECT and not mortal.died.is_set():
                mortal.die()
                await anyio.sleep_forever()
            ledger.append(context.call_id)
            if point == AFTER_EFFECT and not mortal.died.is_set():
                mortal.die()
                await anyio.sleep_forever()
            return {"done": True}

        tool = LedgerTool("work", act, effect, idempotent, ledger=ledger, remembers=remembers)
        world = World(tmp_path, journal=mortal, tools={"work": tool})
        with (
            anyio.fail_after(60),
            pytest.raises((ExceptionGroup, StoreError, ConnectionResetError)),
        ):
            async with world.working():
                await world.runs.create(asking(), ONE_STEP, BudgetRequest())
                await mortal.died.wait()
                raise ConnectionResetError("the process is gone")

        next_world = World(tmp_path, journal=journal, tools={"work": tool}, ids=world.ids)
        async with next_world.working():
            (line,) = await journal.list_runs()
            with anyio.fail_after(60):
                run = await next_world.reached(line.run_id, RunState.SUCCEEDED, RunState.SUSPENDED)
        assert run.steps["s1"].state is (StepState.UNKNOWN if "?" in expected else StepState.SUCCEEDED)
        assert run.state is (RunState.SUSPENDED if "?" in expected else RunState.SUCCEEDED)
        assert f"{len(ledger)}{'?' if run.state is RunState.SUSPENDED else ''}" == expected


@pytest.mark.parametrize(("when", "effects"), [("before", 0), ("after", 1)])
async def test_a_crash_in_a_creation_makes_a_whole_run_or_none(
    tmp_path: Path, when: Literal["before", "after"], effects: int
) -> None:
    """A crash during creation leaves either a complete run, which the next daemon executes, or none, and the client's
    call fails with a StoreError."""
    async with journal_in(tmp_path) as journal:
        mortal = MortalJournal(journal, Moment(when, RunStarted))
        tool = ScriptedTool("work", effect=Effect.EXEC_HOST)
        world = World(tmp_path, journal=mortal, tools={"work": tool})
        with anyio.fail_after(60), pytest.RaisesGroup(StoreError, StoreError, flatten_subgroups=True):
            async with world.working():
                await world.runs.create(asking(), ONE_STEP, BudgetRequest())

        next_world = World(tmp_path, journal=journal, tools={"work": tool}, ids=world.ids)
        async with next_world.working():
            with anyio.fail_after(60):
                for line in await journal.list_runs():
                    await next_world.reached(line.run_id, RunState.SUCCEEDED)
        assert len(tool.calls) == effects
