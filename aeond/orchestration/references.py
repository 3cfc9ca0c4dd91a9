"""What a request means in its session: "that", "it" and "again" spelled out, by one constrained call."""

from dataclasses import replace
from typing import Final

from aeond.domain.budgets import Grant
from aeond.domain.llm import LLMRequest
from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.runs import RunSnapshot
from aeond.domain.sessions import SessionContext
from aeond.errors import AeondError
from aeond.frozen import frozen
from aeond.orchestration.contracts import Resolved
from aeond.orchestration.metering import MeteredLLM, is_cut, problem_of
from aeond.orchestration.pointing import goes_on, may_point_back
from aeond.orchestration.reference_prompts import CONTINUING, MAX_FOUND_CHARS, POINTING
from aeond.orchestration.rewriting_checks import MAX_GROWTH_CHARS, is_quoted, what_is_wrong
from aeond.orchestration.session_telling import SessionTelling
from aeond.orchestration.strict_json import read_json
from aeond.ports import LLMAdapter

# Longer ones are letters and reports, which hardly point back, and would cost as much to write again.
MAX_REWRITTEN_CHARS: Final = 800
MAX_TOKENS: Final = 320


@frozen
class ModelReferences:
    """The References over a model and the telling of sessions.

    The model is asked once, and only where a session tells something and the request may point back. What
    it writes is checked: nothing new, nothing lost, a question still a question. A rewrite that fails, or
    changes nothing, gives way to the user's own words; if what they rest on was found in the conversation,
    it is added to them in brackets. `note` says so in either case.
    """

    llm: LLMAdapter
    telling: SessionTelling

    async def resolve(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[Resolved]:
        said = snapshot.request.text
        try:
            context = await self.telling.tell(snapshot.request.session_id, snapshot.run_id)
        except AeondError as error:
            problem = problem_of(error)
            note = f"the session could not be told ({problem.reason})"
            return failure(problem, Resolved(said, note=note))
        if not context.text or not may_point_back(said):
            return success(_kept(said, context))
        if len(said) > MAX_REWRITTEN_CHARS:
            return success(_kept(said, context, "too long to be written again"))
        return await self._rewrite(said, context, grant)

    async def _rewrite(self, said: str, context: SessionContext, grant: Grant) -> Outcome[Resolved]:
        kind = CONTINUING if goes_on(said) else POINTING
        request = LLMRequest(
            kind.messages(context.text, said),
            max_tokens=MAX_TOKENS,
            schema=kind.schema(len(said) + MAX_GROWTH_CHARS) if self.llm.capabilities.schema else None,
        )
        answered = await MeteredLLM(self.llm, grant).generate(request)
        if answered.value is None:
            problem = answered.problem or Problem("REFERENCES_FAILED", "the model gave nothing")
            return failure(problem, _kept(said, context, f"kept as said ({problem.reason})"))
        if is_cut(answered.value):
            return success(_kept(said, context, "kept as said: the rewritten request was cut off"))
        return success(_judged(said, answered.value.text, context, kind.found))


def _kept(said: str, context: SessionContext, note: str = "") -> Resolved:
    return Resolved(said, context.text, note, context.standing)


def _judged(said: str, text: str, context: SessionContext, found: str) -> Resolved:
    """What of the model's reply may go on."""
    conversation = context.text
    parsed = read_json(text).value
    fields = parsed if isinstance(parsed, dict) else {}
    rewritten, rests_on = (
        value.strip() if isinstance(value := fields.get(name), str) else "" for name in ("request", found)
    )
    wrong = what_is_wrong(said, rewritten, conversation)
    if not wrong and rewritten != said.strip():
        return replace(_kept(said, context), text=rewritten)
    usable = is_quoted(rests_on, conversation) and not is_quoted(rests_on, said)
    if usable and len(rests_on) <= MAX_FOUND_CHARS:
        note = f"what it rests on was added{': ' + wrong if wrong else ''}"
        return replace(_kept(said, context, note), text=f"{said.rstrip()} ({rests_on})")
    return _kept(said, context, f"kept as said: {wrong}" if wrong else "")
