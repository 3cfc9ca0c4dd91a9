"""Whether a request is for one thing, and the order that stands behind a question.

After the one change that was wanted, the report of the tool is the answer: a small model that words one itself takes seconds, and says
in English, or not at all, what has happened. ADR 0109 has the measurements. Of a question with an order behind it ("What is 5 % of 640? Keep that as
my bonus.") what is asked is answered first, and the order is then decided about as a request of its own, below both: ADR 0117 has the reasons.
"""

from dataclasses import replace
from typing import Final

from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.orchestration.context.statements import question_and_rest
from aeond.orchestration.decision.conversations.odds import odds_of
from aeond.orchestration.decision.conversations.subject import Subjects
from aeond.orchestration.prompts.run_prompts import exchange_text
from aeond.orchestration.prompts.subject_prompts import EXTENT, ONE
from aeond.ports import LLMAdapter

_ONE_FROM: Final = 0.3  # log-odds


async def is_for_one(llm: LLMAdapter, run: RunSnapshot, grant: Grant) -> bool:
    """Whether the run's request is most likely for one thing, for one call of the grant; false if the model says neither."""
    return await odds_of(ONE, EXTENT, llm, grant, run.text) >= _ONE_FROM


async def question_of(
    subjects: Subjects, llm: LLMAdapter, run: RunSnapshot, situation: Situation, grant: Grant
) -> RunSnapshot:
    """The run as one that only asks, if an order stands behind its last question: most of what stands there only says where to look or
    how to answer. Any other run as it is. Up to four calls of the grant, for what is not known yet."""
    question, rest = question_and_rest(run.text)
    if not rest:
        return run
    order, asking = (replace(run, resolved_text=part) for part in (rest, question))
    if not (await subjects.of(llm, order, situation, grant)).is_order:
        return run
    return asking if (await subjects.of(llm, asking, situation, grant)).wants_no_change else run


def order_of(run: RunSnapshot, found: str) -> RunSnapshot:
    """The run as one of which nothing is left but its order, below what was found for its question."""
    question, rest = question_and_rest(run.text)
    said = "\n".join(part for part in (run.context, exchange_text(question, (), found)) if part)
    return replace(run, resolved_text=rest, context=said, steps={})
