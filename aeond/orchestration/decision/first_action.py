"""The first action for a request, before anything has been done for it."""

from dataclasses import replace
from typing import Final

import anyio

from aeond.domain.outcome import Outcome, success
from aeond.domain.plans.plan import StepState
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Effect, ToolCall
from aeond.frozen import frozen
from aeond.orchestration.context.addresses import addresses_in, may_have_address
from aeond.orchestration.context.new_files import named_folder, names_new_file
from aeond.orchestration.context.statements import beside_questions, last_question
from aeond.orchestration.decision.conversations.knowledge import general_reply
from aeond.orchestration.decision.conversations.results_reply import is_shown
from aeond.orchestration.decision.conversations.subject import Subject
from aeond.orchestration.decision.conversations.whole_things import first_call_with_new_name
from aeond.orchestration.decision.interfaces import CallTool, Decision, GiveAnswer, Offer
from aeond.orchestration.decision.invention import computes_other
from aeond.orchestration.decision.means import Means, is_unrestricted
from aeond.orchestration.decision.offers import named_files_of, reading_of, unread_of
from aeond.orchestration.decision.results import executed, result_of
from aeond.orchestration.interfaces import discard_text
from aeond.orchestration.prompts.answer_prompts import NOT_SHOWN
from aeond.orchestration.prompts.decision_prompts import facts_text
from aeond.orchestration.prompts.fitting_prompts import NONE
from aeond.ports import TextSink

MAX_FOLDER_FILES: Final = 12  # that are all read for one request
_CALLS_OF_FITTING: Final = 7  # three questions for a tool, three about the request, and a decision


def offer_in_view(run: RunSnapshot, situation: Situation, offer: Offer) -> Offer:
    """The offer, without tools that read pages where nothing in view but the names of known files may be the address of one, and where the request has
    addresses itself: those pages were read, or their content is not needed."""
    if is_unrestricted(run) and addresses_in(run.text):
        return offer.without_pages()
    lines = [line for _, line in (*situation.files, *situation.lines)]
    results = [result_of(step) for step in executed(run)]
    seen = "\n".join([run.text, run.context, facts_text(situation), *lines, *results])
    files = [path for path, _ in (*situation.files, *situation.lines)]
    files += [*situation.nearest, situation.newest, situation.largest]
    return offer if may_have_address(seen, files) else offer.without_pages()


@frozen
class FirstAction:
    """Asks a small model short questions about the request before it chooses; another model chooses at once."""

    means: Means

    async def choose(
        self, snapshot: RunSnapshot, situation: Situation, offer: Offer, grant: Grant, on_text: TextSink
    ) -> Outcome[Decision | None]:
        """The first decision. For a small model a page is read whose address the request has. It is asked which tool of another author fits, and
        else for the subject of the request.

        General knowledge is then answered in a separate conversation, a calculation is made by a tool that computes if it can be written, and the file
        that a question is probably about is read: at once, unless other tools might know what is asked for, or, the first two, in
        place of an answer. A question that is near no file is answered from remembered facts if they show it, and else searched for by
        other words (`FileSearch`). An answer that does not suit the subject is decided again (`Redirection`). One that was to come from what
        is in view, or after a look, is given from there; what the decision has begun to answer is not needed for it.
        """
        if not self.means.redirection.can_ask(grant):
            return await self.means.action.choose(snapshot, situation, offer, grant, on_text)
        if pages := await self.page_calls(snapshot, situation, offer, grant):
            return success(CallTool(pages[0]))
        offer = offer_in_view(snapshot, situation, offer)
        fitting = await self.fitting_tool(snapshot, situation, offer, grant)
        if (tool := offer.tool(fitting)) is not None:
            validator = self.means.composer.validator
            call = await self.means.answered.fitting.first_call(
                self.means.llm, validator, snapshot, situation, offer, tool, grant
            )
            if call is not None:
                return success(CallTool(call))
            return await self.means.action.choose(snapshot, situation, offer.only(tool), grant, on_text)
        offer = offer.known if fitting == NONE else offer
        subject = await self.means.subject(snapshot, situation, grant)
        calculation = self.means.redirection.of_calculation(subject, offer, snapshot)
        if calculation is not None and subject.is_computation(likely=True) and not offer.has_others:
            computed = await self.means.action.choose(snapshot, situation, calculation, grant, discard_text)
            if isinstance(computed.value, CallTool) and not computes_other(
                computed.value.call, snapshot, situation
            ):
                return computed
        if not offer.has_others:
            at_once, situation, offer = await self._at_once(
                snapshot, situation, offer, subject, grant, on_text
            )
            if at_once is not None:
                return at_once
        return await self._decided(snapshot, situation, offer, subject, calculation, grant, on_text)

    async def _at_once(
        self,
        snapshot: RunSnapshot,
        situation: Situation,
        offer: Offer,
        subject: Subject,
        grant: Grant,
        on_text: TextSink,
    ) -> tuple[Outcome[Decision | None] | None, Situation, Offer]:
        """The first decision where the subject of the request is enough for it; otherwise None, with the situation and the offer for a decision."""
        talks = await self.means.answered.subjects.is_small_talk(subject, self.means.llm, snapshot, grant)
        if talks or await self._is_knowledge(subject, snapshot, situation, grant):
            view = situation.without_files() if talks else situation
            if reply := await general_reply(self.means.llm, snapshot, view, grant, on_text):
                return success(GiveAnswer(reply)), situation, offer
        from_view = _is_from_view(subject, snapshot)
        if from_view and not situation.nearest:
            if known := await self.means.results.from_memory(snapshot, situation, grant):
                on_text(known)
                return success(GiveAnswer(known)), situation, offer
            situation = await self.means.search.widened(snapshot, situation, grant)
        call = await self._first_look(snapshot, situation, offer, subject, grant)
        if call is not None:
            return success(CallTool(call)), situation, offer
        suited = await self.means.redirection.of_intent(subject, offer, snapshot, situation, grant)
        if suited is not None:  # files have no part in it: to read their names takes seconds
            view = situation.without_files()
            return await self.means.action.choose(snapshot, view, suited, grant, on_text), situation, offer
        order = replace(snapshot, resolved_text=beside_questions(snapshot.text))
        if (not subject.wants_no_change or names_new_file(order, situation)) and (
            call := await self._for_new_name(snapshot, situation, offer, grant)
        ):
            return success(CallTool(call)), situation, offer
        sure = await self.means.redirection.of_sure(subject, offer, snapshot, situation, grant)
        return None, situation, sure or offer

    async def _first_look(
        self, snapshot: RunSnapshot, situation: Situation, offer: Offer, subject: Subject, grant: Grant
    ) -> ToolCall | None:
        """The call that reads the first file of a folder that is needed whole, or the file that a question is probably about."""
        if calls := await self.folder_calls(snapshot, situation, offer, grant):
            return calls[0]
        if not _is_from_view(subject, snapshot) or names_new_file(snapshot, situation):
            return None
        return reading_of(snapshot, situation, offer)

    async def _for_new_name(
        self, snapshot: RunSnapshot, situation: Situation, offer: Offer, grant: Grant
    ) -> ToolCall | None:
        """The call that gives something a new name, or that reads the first of several files from which a new one is to be made."""
        if call := await first_call_with_new_name(self.means.llm, offer, snapshot, situation, grant):
            return call
        files = named_files_of(snapshot, situation, offer) if is_unrestricted(snapshot) else ()
        return files[0] if len(files) > 1 and names_new_file(snapshot, situation) else None

    async def _decided(
        self,
        snapshot: RunSnapshot,
        situation: Situation,
        offer: Offer,
        subject: Subject,
        calculation: Offer | None,
        grant: Grant,
        on_text: TextSink,
    ) -> Outcome[Decision | None]:
        """The model's decision. An answer gives way to what suits the subject, the `calculation` first; one that was to come from what is in view
        is given from there, and what the decision has begun to answer is not needed for it."""
        from_view = _is_from_view(subject, snapshot)

        def hold(_text: str) -> None:
            if from_view:
                scope.cancel()

        decided: Outcome[Decision | None] = success(None)
        with anyio.CancelScope() as scope:
            decided = await self.means.action.choose(snapshot, situation, offer, grant, hold)
        given = GiveAnswer("") if scope.cancelled_caught else decided.value
        if not isinstance(given, GiveAnswer):
            return decided
        other = calculation or await self.means.redirection.of_text(
            given, subject, offer, snapshot, situation, grant
        )
        if other is None and given.fulfilled:
            reply = await self.means.results.of(snapshot, situation, (), grant) if from_view else NOT_SHOWN
            if reply and reply != NOT_SHOWN:
                on_text(reply)
                return success(GiveAnswer(reply))
            if await self._is_knowledge(subject, snapshot, situation, grant) and (
                known := await general_reply(self.means.llm, snapshot, situation, grant, on_text)
            ):
                return success(GiveAnswer(known))
            other = offer.to_look((Effect.READ,)) if from_view and reply else None
        if other is not None and other.tools:
            again = await self.means.action.choose(snapshot, situation, other, grant, discard_text)
            refuses = isinstance(again.value, GiveAnswer) and not again.value.fulfilled
            if refuses and given.fulfilled and is_shown(given.text, snapshot.text, situation):
                again = decided  # it was a question after all
            if isinstance(again.value, GiveAnswer):
                on_text(again.value.text)
            if again.value is not None:
                return again
        if scope.cancelled_caught:
            return await self.means.action.choose(snapshot, situation, offer, grant, on_text)
        on_text(given.text)
        return decided

    async def _is_knowledge(
        self, subject: Subject, snapshot: RunSnapshot, situation: Situation, grant: Grant
    ) -> bool:
        """Whether general knowledge is enough for the request, as `Subjects.is_knowledge` says it; never for one that is no question and names a file
        to be made."""
        if names_new_file(snapshot, situation) and not last_question(snapshot.text):
            return False
        return await self.means.answered.subjects.is_knowledge(subject, self.means.llm, snapshot, grant)

    async def page_calls(
        self, snapshot: RunSnapshot, situation: Situation, offer: Offer, grant: Grant
    ) -> tuple[ToolCall, ...]:
        """The calls that read the pages whose addresses the request has, but for those that a step was about, if it needs their content,
        for a call of the grant if that is not known yet; none for what most likely is to be remembered or done elsewhere."""
        may_ask = self.means.can_ask_about(snapshot, grant)
        calls = self.means.offers.pages(snapshot, offer) if may_ask else ()
        return calls if calls and await self._needs_pages(snapshot, situation, grant) else ()

    async def unread_pages(self, snapshot: RunSnapshot, situation: Situation, grant: Grant) -> str:
        """Which pages could not be read whose content the request needs, and why; "" if none failed."""
        asks = self.means.asks_about(snapshot)
        pages = self.means.offers.page_steps(snapshot) if asks else ()
        failed = [step for step in pages if step.state is not StepState.SUCCEEDED]
        if not failed or not await self._needs_pages(snapshot, situation, grant):
            return ""
        return "\n".join(
            f"{', '.join(map(str, step.values))}: {step.error or step.reason}" for step in failed
        )

    async def _needs_pages(self, snapshot: RunSnapshot, situation: Situation, grant: Grant) -> bool:
        subject = await self.means.subject(snapshot, situation, grant)
        if subject.is_statement or subject.is_beyond:
            return False
        return await self.means.answered.subjects.needs_pages(self.means.llm, snapshot, grant)

    async def folder_calls(
        self, snapshot: RunSnapshot, situation: Situation, offer: Offer, grant: Grant
    ) -> tuple[ToolCall, ...]:
        """The calls that read the files of the folder that the request names, but for those that a step was about, if it surely needs them
        all, for a call of the grant if that is not known yet; none for what most likely is to be remembered or done elsewhere."""
        folder, files = named_folder(snapshot, situation)
        all_fit = 1 < len(files) <= MAX_FOLDER_FILES and is_unrestricted(snapshot)
        calls = unread_of(files, snapshot, offer) if all_fit else ()
        if not calls:
            return ()
        subject = await self.means.subject(snapshot, situation, grant)
        if subject.is_statement or subject.is_beyond:
            return ()
        needed = await self.means.answered.subjects.needs_all(self.means.llm, snapshot, folder, files, grant)
        return calls if needed else ()

    async def fitting_tool(
        self, snapshot: RunSnapshot, situation: Situation, offer: Offer, grant: Grant
    ) -> str:
        """The tool of another author that fits, NONE if none does; "" where there are none, or the run was given its tools."""
        asks = offer.has_others and self.means.asks_about(snapshot)
        enough = grant.left.llm_calls >= _CALLS_OF_FITTING
        return (
            await self.means.answered.fitting.of(self.means.llm, snapshot, situation, offer, grant)
            if asks and enough
            else ""
        )


def _is_from_view(subject: Subject, run: RunSnapshot) -> bool:
    """Whether an answer is wanted that is to come from what is in view, or after a look."""
    return subject.wants_no_change and is_unrestricted(run)
