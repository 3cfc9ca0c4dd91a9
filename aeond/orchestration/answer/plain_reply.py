"""The answer of a REPLY run whose decision carried none: one plain conversation with the model."""

from typing import Final

from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message, Role
from aeond.domain.outcome import Problem
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import Answer, RunSnapshot
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM, is_cut
from aeond.orchestration.prompts.run_prompts import ANSWER_RULES, in_session
from aeond.ports import LLMAdapter, TextSink

MAX_REPLY_TOKENS: Final = 1_024
UNSUPPORTED: Final = 0.5  # confidence of an answer that rests on the model alone


async def plain_reply(llm: LLMAdapter, snapshot: RunSnapshot, grant: Grant, on_text: TextSink) -> Answer:
    """The model's own answer, for one call. Runs of earlier logic versions chose REPLY without an answer, and so
    does a run whose first decision failed.

    If the model fails or returns no text, the answer is not `synthesized` and names the problem.
    """
    rules = snapshot.request.instructions or ANSWER_RULES
    messages = (Message(Role.SYSTEM, rules), Message(Role.USER, in_session(snapshot)))
    request = LLMRequest(messages, max_tokens=MAX_REPLY_TOKENS)
    answered = await BudgetedLLM(llm, grant).stream(request, on_text)
    text = answered.value.text.strip() if answered.value else ""
    if answered.value is None or not text:
        problem = answered.problem or Problem("NOT_ANSWERED", "the model returned no text")
        return Answer(f"No answer: {problem.message}", confidence=0.0)
    notes = ("the answer was cut off at its token limit",) if is_cut(answered.value) else ()
    return Answer(text, confidence=UNSUPPORTED, notes=notes, synthesized=True)
