"""Simple requests, each to the daemon and in a plain chat: which of the two is right more often, and which is quicker.

They are asked in turns, now the one first, now the other, so that what the machine does meanwhile falls on both.
"""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Final

from aeond.ports import LLMAdapter
from tests.eval.cases import Case, read_cases
from tests.eval.verdicts import Terms, Verdict
from tests.eval.work import chatted, worked
from tests.eval.workplaces import Way

SIMPLE, SIMPLE_HELD = "simple.toml", "simple_held.toml"
CHAT: Final = "in a plain chat"
DAEMON: Final = "to the daemon"


def simple_cases(terms: Terms) -> Iterator[tuple[Case, bool]]:
    """The simple requests that are judged, and whether each is one of those that are held aside."""
    for name in (SIMPLE, SIMPLE_HELD):
        for case in read_cases(name):
            if terms.admit(case.says, name == SIMPLE_HELD):
                yield case, name == SIMPLE_HELD


async def judge_simple(llm: LLMAdapter, terms: Terms) -> AsyncIterator[Verdict]:
    """Two verdicts for each request, in groups of their own."""
    for number, (case, held) in enumerate(simple_cases(terms)):
        groups = (CHAT, DAEMON) if number % 2 else (DAEMON, CHAT)
        for group in groups:
            asked = chatted(llm, case) if group == CHAT else worked(llm, Way.ROUTED, case, terms)
            yield replace(await asked, group=group, held=held)
