"""Asks a small model in one word whether a request updates the fact that its call names, or tells something new.

With the facts in view, a small model gives something new the name of a fact that is alike, and so overwrites it. ADR 0108 has the
measurements.
"""

from collections.abc import Sequence
from typing import Final

from aeond.domain.names import same_form
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.values import JsonValue, display_json
from aeond.orchestration.decision.conversations.odds import first_tokens, is_answered, log_odds
from aeond.orchestration.prompts.subject_prompts import FACT_UPDATE, UPDATE
from aeond.ports import LLMAdapter

_UPDATES_FROM: Final = 0.65  # log-odds


async def overwrites(
    llm: LLMAdapter, run: RunSnapshot, situation: Situation, written: Sequence[JsonValue], grant: Grant
) -> bool:
    """Whether a call for the memory names a fact in view that the request most likely does not update; one call of the grant
    if it names one and changes it."""
    texts = [display_json(value) for value in written]
    for name, value in situation.facts:
        known = display_json(value)
        if not any(same_form(name, text) for text in texts) or known in texts:
            continue
        likely = await first_tokens(FACT_UPDATE, llm, grant, f"{name} = {known}", run.text)
        return is_answered(likely, FACT_UPDATE) and log_odds(likely, FACT_UPDATE.read, UPDATE) < _UPDATES_FROM
    return False
