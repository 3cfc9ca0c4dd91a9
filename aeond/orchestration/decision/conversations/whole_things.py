"""Asks what a request means to do with a whole thing: whether it is to be removed, or a part of it, and whether it is to have another name.

In the conversation of a decision a small model deletes a file where a line of it was meant, and changes the content of a file, or writes
another one, where a new name was (ADR 0093, ADR 0113).
"""

from typing import Final

from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import ToolCall
from aeond.domain.values import display_json
from aeond.orchestration.context.new_files import is_whole_name, names_file, new_paths
from aeond.orchestration.context.statements import beside_questions
from aeond.orchestration.decision.conversations.odds import first_tokens, log_odds, odds_of
from aeond.orchestration.decision.interfaces import Offer
from aeond.orchestration.prompts.decision_prompts import PART, REMOVAL
from aeond.orchestration.prompts.subject_prompts import NAMING, NEW_FILE, RENAME
from aeond.ports import LLMAdapter

_RENAME_FROM: Final = 2.0  # log-odds
_NEW_FROM: Final = 0.0


async def means_part(
    llm: LLMAdapter, call: ToolCall, run: RunSnapshot, situation: Situation, grant: Grant
) -> bool:
    """Whether the request is more likely to mean a part of what the call names, for one call of the grant; False if the model cannot
    tell."""
    if not llm.capabilities.likely or grant.left.llm_calls <= 1:  # one is needed to write the change
        return False
    begins = dict(situation.files)
    named = [display_json(value) for value in call.arguments.values()]
    view = "\n".join(f"{name}: {begins[name]}" if begins.get(name) else name for name in named)
    return await odds_of(PART, REMOVAL, llm, grant, view, run.text) > 0


async def first_call_with_new_name(
    llm: LLMAdapter, offer: Offer, run: RunSnapshot, situation: Situation, grant: Grant
) -> ToolCall | None:
    """For a request that names one file and one new name, the call that gives it to the file, or, where something is to be written under
    that name, the one that reads the file first, for one call of the grant; None if no tool can, or something else is wanted. Questions beside
    the order are not in view: with them the model takes the name for that of a new file with the answer."""
    existing = [path for path, _ in situation.files if names_file(run, path)]
    new = new_paths(run, situation)
    is_clear = len(existing) == len(new) == 1 and is_whole_name(run.text, new[0])
    call = offer.renaming(existing[0], new[0]) if is_clear else None
    if call is None or grant.left.llm_calls <= 1:
        return None
    order = beside_questions(run.text)
    said = order if new[0] in order else run.text
    likely = await first_tokens(NAMING, llm, grant, existing[0], new[0], said)
    if log_odds(likely, NAMING.read, RENAME) >= _RENAME_FROM:
        return call
    return offer.reading(existing[0]) if log_odds(likely, NAMING.read, NEW_FILE) >= _NEW_FROM else None
