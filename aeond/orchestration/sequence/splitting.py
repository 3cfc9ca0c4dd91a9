"""Asks a small model where the further parts of a request for several things begin, and cuts it there.

The parts are the person's own words: a small model that words them itself translates them, and loses numbers. ADR 0111 has the measurements.
"""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Final

from aeond.domain.llm import LLMRequest
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.frozen import frozen
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM, is_cut
from aeond.orchestration.decision.conversations.odds import LIKELY, log_odds
from aeond.orchestration.prompts.subject_prompts import parts_messages
from aeond.orchestration.repair.strict_json import read_json
from aeond.ports import LLMAdapter
from aeond.schemas.parts import is_list

MAX_PARTS: Final = 5
MAX_WORDS: Final = 120  # of a request that is cut
MAX_TOKENS: Final = 120
SECONDS: Final = 120.0
_WORDS_OF_BEGINNING: Final = 3
_NONE: Final = "[]"
_SOME: Final = "["
_WORD: Final = re.compile(r"\S+")
_LOOSE: Final = " \t\n,;"  # what a part does not end with


@frozen
class Cut:
    """The parts of a request, and the log-odds that it has several. `known` says that the model was asked and has answered."""

    parts: tuple[str, ...] = ()
    several: float = -math.inf
    known: bool = False


async def cut_of(llm: LLMAdapter, run: RunSnapshot, grant: Grant) -> Cut:
    """The parts of the run's request, at most MAX_PARTS, for one call of the grant; none if it has no two, or more than MAX_WORDS words."""
    if not 1 < len(_WORD.findall(run.text)) <= MAX_WORDS:
        return Cut()
    possible = _beginnings(run.text)
    request = LLMRequest(
        parts_messages(run.text),
        max_tokens=MAX_TOKENS,
        schema={"type": "array", "items": {"enum": list(possible)}, "maxItems": MAX_PARTS - 1},
        likely=LIKELY,
        fixed=True,
        deadline_seconds=SECONDS,
    )
    answered = (await BudgetedLLM(llm, grant).generate(request)).value
    if answered is None or is_cut(answered):
        return Cut()
    written = read_json(answered.text).value
    known = is_list(written)
    beginnings = [one for one in written if one in possible] if is_list(written) else []
    parts = _cut(run.text, map(str, beginnings))
    if len(parts) < 2:
        return Cut(known=known)
    return Cut(tuple(parts), log_odds(answered.likely, _begins, _SOME), known)


def _begins(start: str) -> str:
    """What the first token of a list says of it: that it has something, or nothing."""
    return "" if not start.startswith("[") else _NONE if start.startswith(_NONE) else _SOME


def _beginnings(text: str) -> Sequence[str]:
    """The first words of every part that the text may have behind its first word."""
    words = list(_WORD.finditer(text))
    ends = [word.end() for word in words]
    last = len(words) - 1
    found = (
        text[words[place].start() : ends[min(place + _WORDS_OF_BEGINNING - 1, last)]]
        for place in range(1, len(words))
    )
    return list(dict.fromkeys(found))


def _cut(text: str, beginnings: Iterable[str]) -> Sequence[str]:
    """The text, cut where these words stand first."""
    places = sorted({place for words in beginnings if (place := text.find(words, 1)) > 0})
    parts = (text[begin:end] for begin, end in zip([0, *places], [*places, len(text)], strict=True))
    return [part for one in parts if (part := one.strip(_LOOSE))]
