"""The actions that suit a request where the first choice of a small model does not.

One word for what the request needs, and one for where something is to be done, are right more often than the choice among all
actions: ADR 0094 and ADR 0099 have the measurements. Models with native tool calls are not asked.
"""

from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Effect, ToolSpec
from aeond.frozen import frozen
from aeond.orchestration.context.new_files import names_file, names_new_file
from aeond.orchestration.context.statements import gives_operands, last_question
from aeond.orchestration.decision.conversations.correction import Corrections
from aeond.orchestration.decision.conversations.place import EFFECTS, place_of
from aeond.orchestration.decision.conversations.subject import Subject, Subjects
from aeond.orchestration.decision.interfaces import CHANGES, GiveAnswer, Offer, acts_here
from aeond.orchestration.prompts.subject_prompts import FILE, MEMORY, WORLD
from aeond.ports import LLMAdapter


@frozen
class Redirection:
    """Asks one model. Each question is one call of the grant, two for the fact that is corrected, and one more is needed to decide again."""

    llm: LLMAdapter
    subjects: Subjects
    corrections: Corrections

    @property
    def possible(self) -> bool:
        """Whether the model needs to be asked what a request is about, and can be."""
        return self.llm.capabilities.likely and not self.llm.capabilities.tool_calls

    def can_ask(self, grant: Grant) -> bool:
        """Whether it is possible, and leaves a call for the decision."""
        return self.possible and grant.left.llm_calls > 1

    def of_calculation(self, subject: Subject, offer: Offer, run: RunSnapshot) -> Offer | None:
        """The tools that compute, for a request that most likely needs a calculation and gives its operands, so that no look is needed
        before it; None for others."""
        computing = offer.to_look((Effect.PURE,))
        wanted = subject.is_computation() and gives_operands(run.text) and computing.tools
        return computing if wanted else None

    async def of_intent(
        self, subject: Subject, offer: Offer, run: RunSnapshot, situation: Situation, grant: Grant
    ) -> Offer | None:
        """The tools for what the person does with the request, as far as that is known before a decision: those of the memory for
        something to be remembered or forgotten, those that other authors know, or a refusal, for what is to be done elsewhere."""
        if subject.is_beyond:
            return offer.beyond()
        may_keep = subject.is_statement or await self._sure_place(subject, run, situation, grant) == MEMORY
        if not may_keep or await self._place(subject, run, situation, grant) != MEMORY:
            return None
        keeping = offer.to_act(EFFECTS[MEMORY])
        return keeping if keeping.tools else None

    async def of_sure(
        self, subject: Subject, offer: Offer, run: RunSnapshot, situation: Situation, grant: Grant
    ) -> Offer | None:
        """The tools that change files and those that look here, for a request that surely wants a file changed; an answer and the tools
        that look something up, for one that is surely answered from what is kept here; None for others."""
        suited = None
        if await self._sure_place(subject, run, situation, grant) == FILE:
            suited = offer.to_act(EFFECTS[FILE])
        elif subject.only_looks:
            suited = offer.without_effects((Effect.PURE, *CHANGES))
        return suited if suited and suited.tools else None

    async def of_call(
        self, spec: ToolSpec | None, offer: Offer, run: RunSnapshot, situation: Situation, grant: Grant
    ) -> Offer | None:
        """The offer in place of a first call of this tool; None if the call suits the request.

        A call that would change something is decided again without such tools if no change is wanted, and with those of the place
        where it is wanted if that is another one. Whether a removal is wanted is not asked: it has a question of its own
        (`means_part`). For a tool that knows no values the place is unknown.
        """
        if spec is None or spec.effect not in CHANGES or not offer.answer or not self.can_ask(grant):
            return None
        subject = await self.subjects.of(self.llm, run, situation, grant)
        if not spec.for_part and subject.wants_no_change:
            return offer.without_effects(CHANGES)
        if not acts_here(spec):
            return None
        place = await self._place(subject, run, situation, grant)
        if place == WORLD:
            return offer.beyond()
        if not place or spec.effect in EFFECTS[place]:
            return None
        acting = offer.to_act(EFFECTS[place])
        return acting if acting.tools else None

    async def of_text(
        self,
        given: GiveAnswer,
        subject: Subject,
        offer: Offer,
        run: RunSnapshot,
        situation: Situation,
        grant: Grant,
    ) -> Offer | None:
        """The offer in place of an answer or a refusal; None if that suits the subject.

        An answer does not where a change is surely wanted. A refusal does not where nothing is to be done, so that a look may tell,
        nor where something is to be done that is not surely about the world; what asks the memory a question is looked up there.
        """
        if given.fulfilled:
            return await self._to_change(subject, offer, run, situation, grant)
        if subject.wants_no_change:
            return offer.to_look()
        place = await self._place(subject, run, situation, grant)
        if place == MEMORY and last_question(run.text):
            return offer.to_look()
        if place == WORLD:
            return None
        return offer.to_act(EFFECTS[place]) if place else offer.to_look()

    async def of_undone(
        self, offer: Offer, run: RunSnapshot, situation: Situation, grant: Grant
    ) -> Offer | None:
        """The offer in place of an answer after steps that changed nothing; None unless a change is surely wanted."""
        if not offer.to_change(CHANGES).tools or not self.can_ask(grant):
            return None
        return await self._to_change(
            await self.subjects.of(self.llm, run, situation, grant), offer, run, situation, grant
        )

    async def _to_change(
        self, subject: Subject, offer: Offer, run: RunSnapshot, situation: Situation, grant: Grant
    ) -> Offer | None:
        """The tools that change something, of one place if that is known, and a refusal; None unless a change is surely wanted."""
        if not subject.wants_change:
            return None
        place = await self._place(subject, run, situation, grant)
        changing = offer.to_change(EFFECTS.get(place, CHANGES))
        return changing if changing.tools else offer.to_change(CHANGES)

    async def _place(self, subject: Subject, run: RunSnapshot, situation: Situation, grant: Grant) -> str:
        """Where something is to be done; "" if that is not known. The model is asked if it can be, and the subject does not say it. A request
        with the name of a file that exists is about the file unless it is about the world: a small model says memory for a setting."""
        place = await self._sure_place(subject, run, situation, grant)
        if place or not self.can_ask(grant):
            return place
        asked = await place_of(self.llm, run, situation, grant)
        return FILE if asked != WORLD and _names_known_file(run, situation) else asked

    async def _sure_place(
        self, subject: Subject, run: RunSnapshot, situation: Situation, grant: Grant
    ) -> str:
        """Where something is surely to be done: in the memory, too, where a fact in view is corrected; "" if that has to be asked. Unless the
        request is surely for something else, or names a file, the model is asked for the fact, for two calls of the grant."""
        may_correct = not (subject.place == MEMORY or subject.wants_no_change or subject.is_beyond)
        if may_correct and self.possible and not _names_any_file(run, situation):
            found = await self.corrections.of(self.llm, run, situation, grant)
            if found and (found.is_sure or (found.is_likely and subject.tells_rather_than_edits)):
                return MEMORY
        return subject.place


def _names_any_file(run: RunSnapshot, situation: Situation) -> bool:
    return names_new_file(run, situation) or _names_known_file(run, situation)


def _names_known_file(run: RunSnapshot, situation: Situation) -> bool:
    return any(names_file(run, path) for path, _ in situation.files)
