"""How a small model's run goes on that has only looked: with another look, a new file, an answer from what it saw, or a change.

A model that is asked to decide with the results in view recites them: what follows is asked in single questions here, and a decision is the
last resort.
"""

from collections.abc import Sequence
from typing import Final

from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Effect, ToolCall
from aeond.frozen import frozen
from aeond.orchestration.context.new_files import names_new_file
from aeond.orchestration.decision.conversations.knowledge import computed_reply, general_reply
from aeond.orchestration.decision.conversations.results_reply import not_found_reply
from aeond.orchestration.decision.first_action import FirstAction
from aeond.orchestration.decision.interfaces import CHANGES, Offer
from aeond.orchestration.decision.means import Means
from aeond.orchestration.decision.new_file import new_file_call
from aeond.orchestration.decision.offers import named_files_of, reading_of
from aeond.orchestration.decision.results import (
    ANSWERED,
    CANNOT,
    MAX_RESULT_CHARS,
    ended,
    executed,
    going_on,
    turns_of,
)
from aeond.orchestration.interfaces import Judgement, discard_text
from aeond.orchestration.prompts.answer_prompts import NOT_SHOWN

_LOOKS: Final = 2  # before a decision about a request whose answer no look has shown
_REPLY_CALLS: Final = 2  # a question about the subject, and an answer from the results


@frozen
class Looked:
    """Where the looks of a run have led: to a `judgement`, or to what they have `found`, which is the answer if it `answers`. If neither, the
    next action is to be decided about, in this situation and with this offer."""

    situation: Situation
    offer: Offer
    judgement: Judgement | None = None
    found: str = ""
    answers: bool = False


@frozen
class AfterLooks:
    """Judges a run by these means."""

    means: Means

    async def judge(self, run: RunSnapshot, situation: Situation, offer: Offer, grant: Grant) -> Looked:
        """Leaves the decision open for every run that has not only looked. After a calculation that failed its numbers are looked for."""
        if self._computed_in_vain(run):
            return await self._elsewhere(run, situation, offer.without_effects((Effect.PURE,)), grant)
        if not self._has_only_looked(run):
            return Looked(situation, offer)
        if further := await self._further_looks(run, situation, offer, grant):
            return Looked(situation, offer, going_on(run, *further))
        reply = await self._reply(run, situation, offer, grant)
        made = await self._new_file_call(run, situation, offer, reply, grant)
        if made is not None:
            return Looked(situation, offer, going_on(run, made))
        if not reply:
            return Looked(situation, offer)
        found = "" if reply == NOT_SHOWN else reply
        changing = await self._to_change(run, situation, offer, found, grant)
        if changing is not None:
            return Looked(situation, changing, found=found)
        if found:
            return Looked(situation, offer, found=found, answers=True)
        return await self._elsewhere(run, situation, offer, grant)

    def _has_only_looked(self, run: RunSnapshot) -> bool:
        """Whether all steps of a small model's run without restrictions looked something up or computed, the last one with success."""
        steps = self.means.results.informative(executed(run))
        return (
            bool(steps)
            and self.means.asks_about(run)
            and steps[-1].state is StepState.SUCCEEDED
            and all(self.means.offers.looks(step.step.tool_call) for step in steps)
        )

    def _computed_in_vain(self, run: RunSnapshot) -> bool:
        """Whether a small model's run without restrictions has done nothing but calculations, the last of which failed."""
        steps = executed(run)
        return (
            bool(steps)
            and self.means.asks_about(run)
            and steps[-1].state is StepState.FAILED
            and all(map(self._computes, steps))
        )

    def _computes(self, step: StepSnapshot) -> bool:
        return self.means.offers.looks(step.step.tool_call, (Effect.PURE,))

    async def _further_looks(
        self, run: RunSnapshot, situation: Situation, offer: Offer, grant: Grant
    ) -> Sequence[ToolCall]:
        """The calls that read what else the request names, or that select from the table that was read."""
        named = named_files_of(run, situation, offer)
        named = named or await FirstAction(self.means).folder_calls(run, situation, offer, grant)
        if named:
            return named
        selecting = await self.means.action.selection(run, situation, offer, grant)
        return () if selecting is None else (selecting,)

    async def _reply(self, run: RunSnapshot, situation: Situation, offer: Offer, grant: Grant) -> str:
        """The answer from the results alone, where a change is not surely all that was wanted; NOT_SHOWN if they may not show it, "" for
        other runs. A table that lacks what a question is about is left out."""
        if grant.left.llm_calls <= _REPLY_CALLS:
            return ""
        subject = await self.means.subject(run, situation, grant)
        if subject.wants_only_change:
            return ""
        steps = [
            step for step in executed(run) if step.state is StepState.SUCCEEDED or not self._computes(step)
        ]
        if subject.wants_no_change:
            steps = [step for step in steps if not self.means.action.lacks(step, run, offer)]
        if not steps:
            return NOT_SHOWN
        if all(map(self._computes, steps)):
            return await computed_reply(self.means.llm, run, turns_of(steps, MAX_RESULT_CHARS), grant)
        of_pages = bool(self.means.offers.page_steps(run))
        return await self.means.results.of(run, situation, steps, grant, of_pages=of_pages)

    async def _new_file_call(
        self, run: RunSnapshot, situation: Situation, offer: Offer, reply: str, grant: Grant
    ) -> ToolCall | None:
        """The call that makes the new file for which a run has looked, with what was replied from the results; None for a question, and
        where the reply says that nothing is shown, unless the request names all that was read."""
        subject = await self.means.subject(run, situation, grant)
        if subject.wants_no_change or (reply == NOT_SHOWN and not self.means.offers.names_all_seen(run)):
            return None
        found = "" if reply == NOT_SHOWN else reply
        made = await new_file_call(self.means, run, situation, offer, found, grant)
        if made is not None and found and not subject.asks_too:
            self.means.answered.findings[run.run_id] = found
        return made

    async def _to_change(
        self, run: RunSnapshot, situation: Situation, offer: Offer, found: str, grant: Grant
    ) -> Offer | None:
        """The offer for a change with what was found out, or beside it; None if only an answer is wanted: findings in more than the
        usual places, because the request names them, are one unless a change is surely wanted. A question may name a file that is missing, and
        nothing was found."""
        subject = await self.means.subject(run, situation, grant)
        makes_file = bool(found) and names_new_file(run, situation)
        gathered = bool(found) and self.means.results.places(executed(run)) > _LOOKS
        if (subject.wants_no_change or (gathered and not subject.is_order)) and not makes_file:
            return None
        # A question besides an order is answered from the changed file.
        if found and not subject.asks_too:
            self.means.answered.findings[run.run_id] = found
        changing = offer.to_change(CHANGES)
        return changing if changing.tools and subject.wants_change_too else offer

    async def _elsewhere(self, run: RunSnapshot, situation: Situation, offer: Offer, grant: Grant) -> Looked:
        """Where the looks did not show the answer: the next nearest file, another look, an answer without one, or a refusal. A question about
        a page is answered nowhere else."""
        pages_read = bool(self.means.offers.page_steps(run))
        looks = [step for step in executed(run) if not self._computes(step)]
        may_look = not pages_read and self.means.results.places(looks) < _LOOKS
        if may_look and not offer.has_others:
            situation = await self.means.search.widened(run, situation, grant)
        if may_look and (call := reading_of(run, situation, offer)) is not None:
            return Looked(situation, offer, going_on(run, call))
        elsewhere = offer.elsewhere([value for step in executed(run) for value in step.values])
        if may_look and elsewhere.tools:
            return Looked(situation, elsewhere)
        # What a small model decides where nothing was shown was never right: it can only refuse.
        if not offer.has_others:
            if not pages_read and (known := await self._known(run, situation, grant)):
                return Looked(situation, offer, ended(run, ANSWERED, known))
            if refusal := await not_found_reply(self.means.llm, run, situation, grant):
                refusal = await self.means.refusal(run, refusal, grant)
                return Looked(situation, offer, ended(run, CANNOT, refusal))
        return Looked(situation, offer.others)

    async def _known(self, run: RunSnapshot, situation: Situation, grant: Grant) -> str:
        """The answer from memory or general knowledge, after looks that showed none; "" if the model does not surely have one."""
        if remembered := await self.means.results.from_memory(run, situation, grant):
            return remembered
        subject = await self.means.subject(run, situation, grant)
        if not await self.means.answered.subjects.is_knowledge(
            subject, self.means.llm, run, grant, nothing_else=True
        ):
            return ""
        return await general_reply(self.means.llm, run, situation, grant, discard_text)
