"""Judges whether a subtask that a plan describes starts the run of the right template, or rightly none."""

import tempfile
import time
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import anyio
from pydantic import BaseModel, ConfigDict

from aeond.capabilities.templates.subtask_tools import DELEGATE
from aeond_client import AsyncClient, Plan, PlanStep, RunOptions
from aeond_client.events import ChildRunStarted
from tests.eval.subjects import JudgedDaemon, Subject
from tests.eval.verdicts import OnVerdict, Terms, Verdict

FOLDER: Final = Path(__file__).parent
REQUESTS: Final = FOLDER / "requests.toml"
LIBRARY: Final = FOLDER / "library"
NONE: Final = "none"
GROUPS: Final = ("a template fits", "no template fits")


class Described(BaseModel):
    """A request for a subtask, and the name of the template that fits ("": none does)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fits: str
    language: str
    says: str


def read_requests(path: Path = REQUESTS) -> tuple[Described, ...]:
    return tuple(Described.model_validate(one) for one in tomllib.loads(path.read_text("utf-8"))["requests"])


async def judge_subtasks(subject: Subject, terms: Terms, on_verdict: OnVerdict) -> None:
    """Each request as the task of a step that calls `delegate`, in one daemon whose library has the templates."""
    await judge_requests(read_requests(), subject, terms, on_verdict)


async def judge_requests(
    requests: Sequence[Described], subject: Subject, terms: Terms, on_verdict: OnVerdict
) -> None:
    tools = subject.config.tools.model_copy(update={"templates": (str(LIBRARY),), "subtasks": (DELEGATE,)})
    with_library = replace(subject, config=subject.config.model_copy(update={"tools": tools}))
    with tempfile.TemporaryDirectory(prefix="aeond-eval-") as name:
        async with with_library.daemon(Path(name).resolve()) as judged:
            for one in terms.sample([one for one in requests if terms.admit(one.says, False)]):
                on_verdict(await _judged(judged, one, terms))


async def _judged(judged: JudgedDaemon, one: Described, terms: Terms) -> Verdict:
    before, began = judged.counted.effort.calls, time.monotonic()
    with anyio.fail_after(terms.wall_seconds):
        started = await _started(judged.client, one.says)
    effort = replace(
        judged.counted.effort, calls=judged.counted.effort.calls - before, seconds=time.monotonic() - began
    )
    fits = one.fits or NONE
    missed = () if started == fits else (f"{fits} fits",)
    return Verdict(one.says, GROUPS[not one.fits], started, missed, effort=effort, language=one.language)


async def _started(client: AsyncClient, says: str) -> str:
    """The template whose run the step starts, "none" if it starts none. The run is cancelled as soon as that is known."""
    step = PlanStep("s1", says, tool=DELEGATE, arguments={"task": says})
    run = await client.create_run(says, RunOptions(plan=Plan(says, (step,))))
    async with client.watch(run.run_id) as events:
        async for event in events:
            if isinstance(event.kind, ChildRunStarted):
                await client.cancel_run(run.run_id)
                return event.kind.template
    return NONE
