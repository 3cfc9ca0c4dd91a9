"""Work: whole requests through routing, tools and answer, judged by what they led to.

The same requests also go the way in which one would ask any model for a plan, and those that need no tool as
a plain chat: what routing, schemas and examples are worth is the difference, in what comes right and in what
it takes. Harder ones, which lead astray at first, are planned with and without profile, judgement and
refinement: the difference is what depth is worth.
"""

import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message, Role
from aeond.domain.plans import PlanStep
from aeond.domain.runs import RunSnapshot
from aeond.orchestration.plan_reading import describe_call
from aeond.ports import LLMAdapter
from tests.eval.cases import Case, Effects, missed, read_cases
from tests.eval.counted_model import CountedModel
from tests.eval.verdicts import Terms, Verdict
from tests.eval.workplaces import FILES, Way, Workplace, asked_in

TUNED, HELD, HARD = "everyday.toml", "everyday_held.toml", "hard_work.toml"
NO_TOOL: Final = "no tool needed"
CHAT_RULES: Final = "You are a helpful assistant."
MAX_CHAT_TOKENS: Final = 1_024
HARD_FILES: Final = {
    "notes.md": "# Notes\n\nCall the printer on Monday. Water the plants. Book the train to Vienna.\n",
    "invoice.txt": "Invoice 17: 2400.00 EUR, due at the end of the month.\n",
    "letter_anna.md": "Dear Tom,\nI would be grateful for my book when it suits you.\nKind regards, Anna\n",
    "letter_tom.md": "Anna,\nstop nagging. You get your book when I feel like it.\nTom\n",
    "travel/spring.md": "In spring I went to Paris and saw the Louvre.\n",
    "numbers.txt": "12\n30\n58\n",
    "reports/q3.txt": "Third quarter. Revenue was 81250 EUR. Costs were 64000 EUR.\n",
    "budget.csv": "item,eur\nrent,900\nfood,350\nsport,60\n",
}


def everyday_cases(terms: Terms) -> Iterator[tuple[Case, bool]]:
    """All requests of everyday that are judged, and whether each is one of those that are held aside."""
    for name in (TUNED, HELD):
        for case in read_cases(name):
            if terms.admit(case.says, name == HELD):
                yield case, name == HELD


def hard_cases(terms: Terms) -> Iterator[Case]:
    return (case for case in read_cases(HARD) if terms.admit(case.says, False))


async def judge_work(llm: LLMAdapter, terms: Terms) -> AsyncIterator[Verdict]:
    """Each request as the daemon does it."""
    for case, held in everyday_cases(terms):
        yield replace(await worked(llm, Way.ROUTED, case, terms), held=held)


async def judge_flat(llm: LLMAdapter, terms: Terms) -> AsyncIterator[Verdict]:
    """Each request as a whole plan in a flat schema."""
    for case, held in everyday_cases(terms):
        yield replace(await worked(llm, Way.FLAT, case, terms), held=held)


async def judge_chat(llm: LLMAdapter, terms: Terms) -> AsyncIterator[Verdict]:
    """The requests that need no tool, as a plain chat."""
    for case, held in everyday_cases(terms):
        if case.group == NO_TOOL:
            yield replace(await chatted(llm, case), held=held)


async def judge_depth(llm: LLMAdapter, terms: Terms) -> AsyncIterator[Verdict]:
    """Each hard case planned, judged and refined."""
    for case in hard_cases(terms):
        yield await worked(llm, Way.JUDGED, case, terms, HARD_FILES)


async def judge_shallow(llm: LLMAdapter, terms: Terms) -> AsyncIterator[Verdict]:
    """Each hard case planned and carried out."""
    for case in hard_cases(terms):
        yield await worked(llm, Way.PLAIN, case, terms, HARD_FILES)


async def worked(
    llm: LLMAdapter, way: Way, case: Case, terms: Terms, files: Mapping[str, str] = FILES
) -> Verdict:
    """A request in a folder of its own, and what it led to."""
    with tempfile.TemporaryDirectory(prefix="aeond-eval-work-") as folder:
        counted, began = CountedModel(llm), time.monotonic()
        place = Workplace(counted, Path(folder), way, {**case.given, **files})
        place.furnish()
        for key, value in case.remembered.items():
            await place.memory.write(key, value)
        memory, before = await place.remembered(), place.texts()
        run = await place.work(case.says, case.tells, terms.wall_seconds)
        found = Effects(
            answer=run.answer.text if run.answer else "",
            notes=run.answer.notes if run.answer else (),
            asked=asked_in(run),
            memory=await place.remembered(),
            memory_before=memory,
            files=place.texts(),
            files_before=before,
        )
        effort = replace(counted.effort, seconds=time.monotonic() - began)
        return Verdict(case.says, case.group, _told(run), missed(case, found), effort=effort)


async def chatted(llm: LLMAdapter, case: Case) -> Verdict:
    """A request in a plain chat."""
    counted, began = CountedModel(llm), time.monotonic()
    messages = (Message(Role.SYSTEM, CHAT_RULES), Message(Role.USER, case.says))
    chunks = [chunk async for chunk in counted.stream(LLMRequest(messages, max_tokens=MAX_CHAT_TOKENS))]
    said = "".join(chunk.text for chunk in chunks)
    effort = replace(counted.effort, seconds=time.monotonic() - began)
    return Verdict(case.says, case.group, said, missed(case, Effects(said)), effort=effort)


def _told(run: RunSnapshot) -> str:
    """The answer, how it came about, and what it cost."""
    route = run.route.value if run.route else "none"
    steps = "; ".join(f"{_did(step.step):.120} {step.state}" for step in run.steps.values())
    answer = f"{run.answer.text if run.answer else '':.300}"
    asked = asked_in(run)
    questions = f" asked {list(asked)}" if asked else ""
    return f"{answer} [{run.state}, {route}: {steps}]{questions}"


def _did(step: PlanStep) -> str:
    return describe_call(step.tool_call) if step.tool_call else step.description
