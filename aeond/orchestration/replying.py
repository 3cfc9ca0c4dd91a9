"""REPLY: a request that needs no tool is answered in one plain conversation, streamed as it comes."""

from typing import Final

from aeond.domain.budgets import Grant
from aeond.domain.llm import LLMRequest, LLMResponse
from aeond.domain.messages import Message, Role
from aeond.domain.outcome import Problem
from aeond.domain.runs import Answer, RunSnapshot
from aeond.orchestration.metering import MeteredLLM, is_cut
from aeond.orchestration.prompts import ANSWER_RULES, in_session
from aeond.ports import LLMAdapter, TextSink

MAX_REPLY_TOKENS: Final = 1_024
UNSUPPORTED: Final = 0.5  # how sure an answer is that rests on no result, only on the model


async def reply(llm: LLMAdapter, snapshot: RunSnapshot, grant: Grant, on_text: TextSink) -> Answer:
    """The model's own answer to the request, with what the session brought and the Template asks for.

    One call. Without a model, or where it says nothing, an answer that is not `synthesized` and says why.
    A request that is too long for the model is not shortened.
    """
    request = LLMRequest(reply_messages(snapshot), max_tokens=MAX_REPLY_TOKENS)
    answered = await MeteredLLM(llm, grant).stream(request, on_text)
    text = answered.value.text.strip() if answered.value else ""
    if answered.value is None or not text:
        problem = answered.problem or Problem("NOT_ANSWERED", "the model said nothing")
        return Answer(f"No answer: {problem.message}", confidence=0.0)
    return replied(answered.value)


def replied(response: LLMResponse) -> Answer:
    """What a model said to the request as the answer to it."""
    notes = ("the answer was cut off at its token limit",) if is_cut(response) else ()
    return Answer(response.text.strip(), confidence=UNSUPPORTED, notes=notes, synthesized=True)


def reply_messages(snapshot: RunSnapshot) -> tuple[Message, ...]:
    """Rules first, then the session, then the request: what changes most comes last."""
    rules = snapshot.request.instructions or ANSWER_RULES
    return (Message(Role.SYSTEM, rules), Message(Role.USER, in_session(snapshot)))
