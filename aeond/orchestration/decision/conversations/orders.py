"""An order behind a question ("What is 5 % of 640? Keep that as my bonus."): what is asked is answered first, and the order is then decided
about as a request of its own, below the question and its answer. ADR 0117 has the reasons.
"""

from dataclasses import replace

from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.orchestration.context.statements import question_and_rest
from aeond.orchestration.decision.conversations.subject import Subjects
from aeond.orchestration.prompts.run_prompts import exchange_text
from aeond.ports import LLMAdapter


async def question_of(subjects: Subjects, llm: LLMAdapter, run: RunSnapshot, grant: Grant) -> RunSnapshot:
    """The run as one that only asks, if an order stands behind its last question: most of what stands there only says where to look or
    how to answer. Any other run as it is. Up to four calls of the grant, for what is not known yet."""
    question, rest = question_and_rest(run.text)
    if not rest:
        return run
    order, asking = (replace(run, resolved_text=part) for part in (rest, question))
    if not (await subjects.of(llm, order, grant)).is_order:
        return run
    return asking if (await subjects.of(llm, asking, grant)).wants_no_change else run


def order_of(run: RunSnapshot, found: str) -> RunSnapshot:
    """The run as one of which nothing is left but its order, below what was found for its question."""
    question, rest = question_and_rest(run.text)
    said = "\n".join(part for part in (run.context, exchange_text(question, (), found)) if part)
    return replace(run, resolved_text=rest, context=said, steps={})
