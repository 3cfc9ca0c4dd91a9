"""Coreference: spells out "that", "it" and "again" from the session, with up to three constrained calls."""

from dataclasses import replace
from typing import Final

from aeond.domain.llm import LLMRequest
from aeond.domain.outcome import Outcome, failure, success
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.sessions import SessionContext
from aeond.errors import AeondError
from aeond.frozen import frozen
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM, is_cut, problem_of
from aeond.orchestration.context.rewrite_validation import is_quoted, what_is_wrong, words_of
from aeond.orchestration.context.session_context import SessionContextBuilder
from aeond.orchestration.interfaces import Resolved
from aeond.orchestration.prompts.coreference_prompts import (
    DEPENDENCE_SCHEMA,
    MAX_FOUND_CHARS,
    REQUEST,
    REWRITINGS,
    Dependence,
    Rewriting,
    dependence_messages,
)
from aeond.orchestration.repair.strict_json import read_json
from aeond.ports import LLMAdapter

# Longer ones are letters and reports, which hardly point back, and would cost as much to write again.
MAX_REWRITTEN_CHARS: Final = 800
MAX_TOKENS: Final = 320
MAX_KIND_TOKENS: Final = 8


@frozen
class ModelReferences:
    """The References over a model and the context of sessions.

    Only in a session with messages the model is asked how the request depends on them, and rewrites one that does. Its
    rewrite is checked: no new names or numbers, no number lost, a question still a question. A rewrite that fails or
    changes nothing is discarded in favour of the user's own words; if the words that they rest on were found in the
    conversation, these are added in brackets. `note` says so in either case.
    """

    llm: LLMAdapter
    contexts: SessionContextBuilder

    async def resolve(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[Resolved]:
        said = snapshot.request.text
        try:
            context = await self.contexts.build(snapshot.request.session_id, snapshot.run_id)
        except AeondError as error:
            problem = problem_of(error)
            note = f"the session's context is not available ({problem.reason})"
            return failure(problem, Resolved(said, note=note))
        if not context.text:
            return success(_kept(said, context))
        if len(said) > MAX_REWRITTEN_CHARS:
            return success(_kept(said, context, "too long to be written again"))
        return await self._rewrite(said, context, grant)

    async def _rewrite(self, said: str, context: SessionContext, grant: Grant) -> Outcome[Resolved]:
        model = BudgetedLLM(self.llm, grant)
        asked = LLMRequest(
            dependence_messages(context.text, said),
            max_tokens=MAX_KIND_TOKENS,
            schema=DEPENDENCE_SCHEMA,
            fixed=True,
        )
        kind = await model.generate(asked)
        if kind.value is None:
            return kind.failed(_kept(said, context, f"kept as said ({kind.cause.reason})"))
        best: Outcome[Resolved] = success(_kept(said, context))
        for rewriting in _rewritings(kind.value.text):
            resolved = await self._written(said, context, rewriting, model)
            changed = resolved.value.text != said
            if not resolved.ok or (changed and not resolved.value.note):
                return resolved
            if best.value.text == said and (changed or not best.value.note):
                best = resolved  # with the words that were found, or with the reason why it is kept as said
            if grant.left.llm_calls < 1:
                break
        return best

    async def _written(
        self, said: str, context: SessionContext, rewriting: Rewriting, model: BudgetedLLM
    ) -> Outcome[Resolved]:
        request = LLMRequest(
            rewriting.messages(context.text, said),
            max_tokens=MAX_TOKENS,
            schema=rewriting.schema,
            fixed=True,
        )
        answered = await model.generate(request)
        if answered.value is None:
            return answered.failed(_kept(said, context, f"kept as said ({answered.cause.reason})"))
        if is_cut(answered.value):
            return success(_kept(said, context, "kept as said: the rewritten request was cut off"))
        return success(_checked(said, answered.value.text, context, rewriting.found))


def _rewritings(kind: str) -> tuple[Rewriting, ...]:
    """The ways to rewrite a request of the kind, the second one for where the first does not succeed; none if it can be
    understood alone. Without a readable kind the request counts as one that points back."""
    word = read_json(kind).value
    if word == Dependence.ALONE:
        return ()
    points, differs = REWRITINGS[Dependence.POINTS], REWRITINGS[Dependence.DIFFERS]
    return (differs, points) if word == Dependence.DIFFERS else (points, differs)


def _kept(said: str, context: SessionContext, note: str = "") -> Resolved:
    return Resolved(said, context.text, note, context.standing, context.taint)


def _checked(said: str, text: str, context: SessionContext, found: str) -> Resolved:
    """The rewritten request, where it passes the checks."""
    conversation = context.text
    parsed = read_json(text).value
    fields = parsed if isinstance(parsed, dict) else {}
    rewritten, rests_on = (
        value.strip() if isinstance(value := fields.get(name), str) else "" for name in (REQUEST, found)
    )
    wrong = what_is_wrong(said, rewritten, conversation)
    if not wrong and words_of(rewritten) != words_of(said):
        return replace(_kept(said, context), text=rewritten)
    usable = is_quoted(rests_on, conversation) and not is_quoted(rests_on, said)
    if usable and len(rests_on) <= MAX_FOUND_CHARS:
        note = f"what it rests on was added{': ' + wrong if wrong else ''}"
        return replace(_kept(said, context, note), text=f"{said.rstrip()} ({rests_on})")
    return _kept(said, context, f"kept as said: {wrong}" if wrong else "")
