"""One decision at a time: the first on a request, and the next after every result.

The Router and the Evaluator of DIRECT runs are the same mechanism: the conversation so far is put before the
model, which chooses one action. A failed call is a result like any other. Every decision takes a pass, and every
call a step and a tool call of the budget: where one of these is used up, only an answer is offered.
"""

from collections.abc import Callable
from dataclasses import field
from typing import Final

from aeond.domain.outcome import Outcome, success
from aeond.domain.plans.evaluations import Issue, Severity
from aeond.domain.plans.plan import StepState
from aeond.domain.plans.profiles import Route
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import Answer, RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Effect, Recovery, ToolCall
from aeond.frozen import frozen
from aeond.orchestration.answer.equations import Computes, computes_nothing
from aeond.orchestration.context.file_search import FileSearch
from aeond.orchestration.context.new_files import names_new_file
from aeond.orchestration.decision.conversations.composing import Composer
from aeond.orchestration.decision.conversations.extent import AfterChange, order_of, question_of
from aeond.orchestration.decision.conversations.fitting import FittingTools
from aeond.orchestration.decision.conversations.knowledge import computed_reply, general_reply
from aeond.orchestration.decision.conversations.redirection import Redirection
from aeond.orchestration.decision.conversations.results_reply import (
    ResultsReply,
    not_found_reply,
    with_sources,
)
from aeond.orchestration.decision.conversations.subject import Subjects
from aeond.orchestration.decision.first_action import FirstAction, is_unrestricted, offer_in_view
from aeond.orchestration.decision.interfaces import (
    CHANGES,
    CallTool,
    Decision,
    DecisionModel,
    GiveAnswer,
    MakePlan,
    Offer,
)
from aeond.orchestration.decision.new_file import NewFile
from aeond.orchestration.decision.next_action import NextAction
from aeond.orchestration.decision.offers import Offers, named_files_of, reading_of
from aeond.orchestration.decision.results import (
    MAX_RESULT_CHARS,
    ended,
    executed,
    going_on,
    may_go_on,
    repeats_request,
    repetition,
    reports_of,
    turns_of,
)
from aeond.orchestration.interfaces import Judgement, RouteChoice, discard_text
from aeond.orchestration.last_runs import LastRuns
from aeond.orchestration.prompts.answer_prompts import NOT_SHOWN
from aeond.orchestration.prompts.decision_prompts import REPEATED
from aeond.orchestration.prompts.fitting_prompts import NONE
from aeond.ports import LLMAdapter, TextSink

UNSUPPORTED: Final = 0.5  # confidence of an answer that rests on no result
NOT_FULFILLED: Final = "the request was not carried out"
ANSWERED: Final = "ANSWERED"
CANNOT: Final = "CANNOT"
NOT_DECIDED: Final = "NOT_DECIDED"

_LOOKS: Final = 2  # before a decision about a request whose answer no look has shown
_REPLY_CALLS: Final = 2  # a question about the subject, and an answer from the results


@frozen
class Decider:
    """The Router, and the Evaluator of DIRECT runs.

    `models` returns the form of decisions that suits the model that is loaded. `findings` holds, by run, what was found out in runs that
    go on. A decision that cannot be read, like any other failure, leaves the first decision to a plan, and ends a run that has results
    with the last of them. A call that was made already is put back to the model once, without its tool; then only the answer is left.
    """

    models: Callable[[], DecisionModel]
    llm: LLMAdapter
    offers: Offers
    search: FileSearch
    composer: Composer
    subjects: Subjects = field(default_factory=Subjects)
    findings: LastRuns[str, str] = field(default_factory=LastRuns)
    fitting: FittingTools = field(default_factory=FittingTools)
    compute: Computes = computes_nothing

    @property
    def _redirection(self) -> Redirection:
        return Redirection(self.llm, self.subjects)

    @property
    def _action(self) -> NextAction:
        return NextAction(
            self.models, self.llm, self.offers, self.search, self.composer, self._redirection, self.findings
        )

    @property
    def _results(self) -> ResultsReply:
        return ResultsReply(self.llm, self.offers.selects, self.compute)

    @property
    def _new_file(self) -> NewFile:
        return NewFile(self.llm, self._results, self.composer.validator, self.compute)

    @property
    def _first_action(self) -> FirstAction:
        return FirstAction(self._action, self._results, self.fitting)

    async def choose(self, snapshot: RunSnapshot, grant: Grant, on_text: TextSink) -> Outcome[RouteChoice]:
        situation = await self.search.situations.observe(snapshot)
        offer = await self.offers.first(snapshot, situation)
        asking = await self._asking(snapshot, situation, grant)
        shown = on_text if asking is snapshot else discard_text
        decided = await self._first_action.choose(asking, situation, offer, grant, shown)
        match decided.value:
            case CallTool(call=call):
                return success(RouteChoice(Route.DIRECT, call))
            case GiveAnswer(text=text) as given:
                if asking is not snapshot:
                    order = given.fulfilled and await self._ordered(snapshot, situation, offer, text, grant)
                    if order:
                        return success(RouteChoice(Route.DIRECT, order))
                    on_text(text)
                return success(RouteChoice(Route.REPLY, answer=_answer(given)))
            case MakePlan():
                return success(RouteChoice(Route.PLAN))
            case None:
                return decided.failed(RouteChoice(Route.PLAN if offer.plan else Route.REPLY))

    async def evaluate(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[Judgement]:
        situation = await self.search.situations.observe(snapshot)
        offer = await self.offers.next(snapshot, situation) if may_go_on(snapshot) else Offer()
        if pages := await self._first_action.page_calls(snapshot, situation, offer, grant):
            return success(going_on(snapshot, *pages))
        if unread := await self._first_action.unread_pages(snapshot, situation, grant):
            return success(ended(snapshot, CANNOT, unread))
        pages_read = self._redirection.possible and bool(self.offers.page_steps(snapshot))
        if self._redirection.possible:
            offer = offer_in_view(snapshot, situation, offer)
        fitting = await self._first_action.fitting_tool(snapshot, situation, offer, grant)
        rest = self.fitting.rest(snapshot) if offer.tool(fitting) is not None else None
        if rest:
            return success(going_on(snapshot, *rest))
        if fitting == NONE or (pages_read and not fitting):
            offer = offer.known
        elif rest is not None and not snapshot.steps_in(StepState.FAILED, StepState.INVALID):
            offer = offer.without(fitting)  # all its calls that the request needs were made
        if (following := await self._following(snapshot, situation, offer, fitting, grant)) is not None:
            return success(following)
        after = await self._after_change(snapshot, situation, offer, grant)
        if isinstance(after, ToolCall):
            return success(going_on(snapshot, after))
        if after:
            return success(ended(snapshot, ANSWERED, after))
        whole, snapshot = snapshot, await self._asking(snapshot, situation, grant)
        looked = self._has_only_looked(snapshot)
        calls = named_files_of(snapshot, situation, offer) if looked else ()
        calls = calls or (
            await self._first_action.folder_calls(snapshot, situation, offer, grant) if looked else ()
        )
        if calls:
            return success(going_on(snapshot, *calls))
        if looked and (call := await self._action.selection(snapshot, situation, offer, grant)) is not None:
            return success(going_on(snapshot, call))
        reply = await self._reply_from_results(snapshot, situation, grant) if looked else ""
        found = "" if reply == NOT_SHOWN else reply
        made = await self._new_file_call(snapshot, situation, offer, reply, grant) if looked else None
        if made is not None:
            return success(going_on(snapshot, made))
        changing = await self._to_change(snapshot, situation, offer, found, grant) if reply else None
        if found and changing is None:
            return await self._answered(whole, snapshot, situation, offer, found, grant)
        offer = changing or offer
        if reply == NOT_SHOWN and changing is None:
            # A question about a page is answered nowhere else.
            may_look = not pages_read and self._results.places(executed(snapshot)) < _LOOKS
            if may_look and not offer.has_others:
                situation = await self.search.widened(snapshot, situation, grant)
            if may_look and (call := reading_of(snapshot, situation, offer)) is not None:
                return success(going_on(snapshot, call))
            elsewhere = offer.elsewhere([step.step.tool_call for step in executed(snapshot)])
            may_look = may_look and bool(elsewhere.tools)
            # What a small model decides where nothing was shown was never right: it can only refuse.
            refuses = not may_look and not offer.has_others
            knows = refuses and not pages_read
            if knows and (known := await self._known(snapshot, situation, grant)):
                return success(ended(snapshot, ANSWERED, known))
            if refuses and (refusal := await not_found_reply(self.llm, snapshot, situation, grant)):
                return success(ended(snapshot, CANNOT, refusal))
            offer = elsewhere if may_look else offer.others
        decided = await self._action.choose(snapshot, situation, offer, grant, discard_text)
        undone = await self._undone(decided.value, offer, snapshot, situation, grant)
        if undone is not None:
            changed = await self._action.choose(snapshot, situation, undone, grant, discard_text)
            decided = changed if changed.value is not None else decided
        if (repeated := repetition(decided.value, snapshot, offer)) is not None:
            other = offer.without(repeated.tool)
            decided = await self._action.choose(snapshot, situation, other, grant, discard_text, REPEATED)
        if repetition(decided.value, snapshot, offer) is not None:
            decided = await self._action.choose(snapshot, situation, Offer(), grant, discard_text, REPEATED)
        match decided.value:
            case CallTool(call=call):
                return success(going_on(snapshot, call))
            case GiveAnswer(text=text, fulfilled=True):
                says_nothing = bool(repeated) or repeats_request(text, snapshot)  # the remark, or the request
                if says_nothing and self._redirection.possible:
                    text = reports_of(snapshot, self.offers.changes) or text
                return await self._answered(whole, snapshot, situation, offer, found or text, grant)
            case GiveAnswer(text=text):
                return success(ended(snapshot, CANNOT, text))
            case _:
                issue = Issue(decided.cause.reason, Severity.MEDIUM, "", decided.cause.message)
                return decided.failed(ended(snapshot, NOT_DECIDED, issues=(issue,)))

    async def _following(
        self, snapshot: RunSnapshot, situation: Situation, offer: Offer, fitting: str, grant: Grant
    ) -> Judgement | None:
        """How the run goes on with what may follow its last step: a proposed change is made if its tool is the one that fits the request, or the
        subject of the request is no question; anything else is done if the request asks for it, too. The run ends with what the step says where
        a person should look first."""
        follows = self.offers.following(snapshot, offer) if self._redirection.possible else None
        if follows is None:
            return None
        if isinstance(follows, str):
            return ended(snapshot, CANNOT, follows or NOT_FULFILLED)
        last = executed(snapshot)[-1].step.tool_call
        if not self.offers.proposes(last):
            wanted = await self.fitting.is_asked_for(self.llm, snapshot, offer.tool(follows.tool), grant)
        elif last is not None and last.tool == fitting:
            wanted = True
        else:
            wanted = not (await self.subjects.of(self.llm, snapshot, situation, grant)).wants_no_change
        return going_on(snapshot, follows) if wanted else None

    async def _after_change(
        self, snapshot: RunSnapshot, situation: Situation, offer: Offer, grant: Grant
    ) -> str | ToolCall:
        """What `AfterChange.answer` returns; "" for a run that it does not concern."""
        if not is_unrestricted(snapshot) or not self._redirection.can_ask(grant):
            return ""
        after = AfterChange(self.llm, self.offers, self.subjects, self._results, self.findings)
        return await after.answer(snapshot, situation, offer, grant)

    def _has_only_looked(self, snapshot: RunSnapshot) -> bool:
        """Whether all steps of a small model's run without restrictions looked something up or computed, the last one with success."""
        steps = self._results.informative(executed(snapshot))
        return (
            bool(steps)
            and self._redirection.possible
            and is_unrestricted(snapshot)
            and steps[-1].state is StepState.SUCCEEDED
            and all(self.offers.looks(step.step.tool_call) for step in steps)
        )

    async def _reply_from_results(self, snapshot: RunSnapshot, situation: Situation, grant: Grant) -> str:
        """The answer from the results alone, where a change is not surely all that was wanted; NOT_SHOWN if they may not show it, "" for
        other runs."""
        steps = executed(snapshot)
        if grant.left.llm_calls <= _REPLY_CALLS:
            return ""
        if (await self.subjects.of(self.llm, snapshot, situation, grant)).wants_only_change:
            return ""
        if all(self.offers.looks(step.step.tool_call, (Effect.PURE,)) for step in steps):
            return await computed_reply(self.llm, snapshot, turns_of(steps, MAX_RESULT_CHARS), grant)
        of_pages = bool(self.offers.page_steps(snapshot))
        return await self._results.of(snapshot, situation, steps, grant, of_pages=of_pages)

    async def _known(self, snapshot: RunSnapshot, situation: Situation, grant: Grant) -> str:
        """The answer from memory or general knowledge, after looks that showed none; "" if the model does not surely have one."""
        if remembered := await self._results.from_memory(snapshot, situation, grant):
            return remembered
        subject = await self.subjects.of(self.llm, snapshot, situation, grant)
        if not await self.subjects.is_knowledge(subject, self.llm, snapshot, grant, nothing_else=True):
            return ""
        return await general_reply(self.llm, snapshot, situation, grant, discard_text)

    async def _asking(self, snapshot: RunSnapshot, situation: Situation, grant: Grant) -> RunSnapshot:
        """The run as one that only asks, until what is asked before its order is found."""
        asked = is_unrestricted(snapshot) and self._redirection.can_ask(grant)
        if not asked or snapshot.run_id in self.findings:
            return snapshot
        return await question_of(self.subjects, self.llm, snapshot, situation, grant)

    async def _answered(
        self,
        whole: RunSnapshot,
        asking: RunSnapshot,
        situation: Situation,
        offer: Offer,
        text: str,
        grant: Grant,
    ) -> Outcome[Judgement]:
        """The end of the run with this answer, or the call for the order behind what it asked."""
        order = asking is not whole and await self._ordered(whole, situation, offer, text, grant)
        if order:
            return success(going_on(whole, order))
        if self._redirection.possible and is_unrestricted(whole):
            text = with_sources(text, whole.text, situation, executed(whole))
        return success(ended(whole, ANSWERED, text))

    async def _ordered(
        self, snapshot: RunSnapshot, situation: Situation, offer: Offer, found: str, grant: Grant
    ) -> ToolCall | None:
        """The call for the order behind the question to which this answer was found; None if there is none."""
        order = order_of(snapshot, found)
        if self.offers.page_steps(snapshot):
            offer = offer.without_pages()  # what the order needs of them was found
        decided = (await self._first_action.choose(order, situation, offer, grant, discard_text)).value
        if not isinstance(decided, CallTool):
            return None
        self.findings[snapshot.run_id] = found
        return decided.call

    async def _new_file_call(
        self, snapshot: RunSnapshot, situation: Situation, offer: Offer, reply: str, grant: Grant
    ) -> ToolCall | None:
        """The call that makes the new file for which a run has looked, with what was replied from the results; None for a question, and
        where the reply says that nothing is shown, unless the request names all that was read."""
        subject = await self.subjects.of(self.llm, snapshot, situation, grant)
        if subject.wants_no_change or (reply == NOT_SHOWN and not self.offers.names_all_seen(snapshot)):
            return None
        found = "" if reply == NOT_SHOWN else reply
        made = await self._new_file.call(snapshot, situation, offer, found, grant)
        if made is not None and found and not subject.asks_too:
            self.findings[snapshot.run_id] = found
        return made

    async def _to_change(
        self, snapshot: RunSnapshot, situation: Situation, offer: Offer, found: str, grant: Grant
    ) -> Offer | None:
        """The offer for a change with what was found out, or beside it; None if only an answer is wanted: findings in more than the
        usual places, because the request names them, are one unless a change is surely wanted. A question may name a file that is missing, and
        nothing was found."""
        subject = await self.subjects.of(self.llm, snapshot, situation, grant)
        makes_file = bool(found) and names_new_file(snapshot, situation)
        gathered = bool(found) and self._results.places(executed(snapshot)) > _LOOKS
        if (subject.wants_no_change or (gathered and not subject.is_order)) and not makes_file:
            return None
        # What is asked besides an order is answered from what the change leaves.
        if found and not subject.asks_too:
            self.findings[snapshot.run_id] = found
        changing = offer.to_change(CHANGES)
        return changing if changing.tools and subject.wants_change_too else offer

    async def _undone(
        self,
        decision: Decision | None,
        offer: Offer,
        snapshot: RunSnapshot,
        situation: Situation,
        grant: Grant,
    ) -> Offer | None:
        """The offer in place of the answer with which a small model would end a run that was to change something and has not
        tried to."""
        tried = any(step.recovery is not Recovery.RERUN for step in executed(snapshot))
        if not isinstance(decision, GiveAnswer) or not decision.fulfilled or tried:
            return None
        return await self._redirection.of_undone(offer, snapshot, situation, grant)


def _answer(given: GiveAnswer) -> Answer:
    notes = () if given.fulfilled else (NOT_FULFILLED,)
    return Answer(given.text, confidence=UNSUPPORTED, notes=notes, synthesized=True)
