"""One decision at a time: the first on a request, and the next after every result.

The Router and the Evaluator of DIRECT runs are the same mechanism: the conversation so far is put before the
model, which chooses one action. A failed call is a result like any other. Every decision takes a pass, and every
call a step and a tool call of the budget: where one of these is used up, only an answer is offered.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.outcome import Outcome, success
from aeond.domain.plans.evaluations import Issue, Severity
from aeond.domain.plans.plan import StepState
from aeond.domain.plans.profiles import Route
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import Answer, RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Recovery, ToolCall
from aeond.frozen import frozen
from aeond.orchestration.decision.after_looks import AfterLooks, Looked
from aeond.orchestration.decision.conversations.extent import (
    after_change,
    is_likely_for_one,
    order_of,
    question_of,
)
from aeond.orchestration.decision.conversations.results_reply import with_sources
from aeond.orchestration.decision.first_action import FirstAction, offer_in_view
from aeond.orchestration.decision.interfaces import (
    CallTool,
    Decision,
    GiveAnswer,
    MakePlan,
    Offer,
)
from aeond.orchestration.decision.means import Means
from aeond.orchestration.decision.results import (
    ANSWERED,
    CANNOT,
    ended,
    executed,
    going_on,
    may_go_on,
    only_failed,
    repeats_request,
    repetition,
    reports_of,
)
from aeond.orchestration.interfaces import Judgement, RouteChoice, discard_text
from aeond.orchestration.prompts.decision_prompts import REPEATED
from aeond.orchestration.prompts.fitting_prompts import NONE
from aeond.ports import TextSink

UNSUPPORTED: Final = 0.5  # confidence of an answer that rests on no result
NOT_FULFILLED: Final = "the request was not carried out"
NOT_DECIDED: Final = "NOT_DECIDED"
NOT_CHANGED: Final = "I could not change it: nothing was changed."


@frozen
class Decider:
    """The Router, and the Evaluator of DIRECT runs.

    A decision that cannot be read, like any other failure, leaves the first decision to a plan, and ends a run that has results with the
    last of them. A call that was made already is put back to the model once, without its tool; then only the answer is left.
    """

    means: Means

    @property
    def _first_action(self) -> FirstAction:
        return FirstAction(self.means)

    async def choose(self, snapshot: RunSnapshot, grant: Grant, on_text: TextSink) -> Outcome[RouteChoice]:
        situation = await self.means.search.situations.observe(snapshot)
        offer = await self.means.offers.first(snapshot, situation)
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
                if not given.fulfilled and (said := await self.means.refusal(snapshot, text, grant)) != text:
                    given = replace(given, text=said)
                    on_text("")  # what was shown of the refusal starts over
                    on_text(said)
                return success(RouteChoice(Route.REPLY, answer=_answer(given)))
            case MakePlan():
                return success(RouteChoice(Route.PLAN))
            case None:
                return decided.failed(RouteChoice(Route.PLAN if offer.plan else Route.REPLY))

    async def evaluate(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[Judgement]:
        situation = await self.means.search.situations.observe(snapshot)
        offer = await self.means.offers.next(snapshot, situation) if may_go_on(snapshot) else Offer()
        if pages := await self._first_action.page_calls(snapshot, situation, offer, grant):
            return success(going_on(snapshot, *pages))
        if unread := await self._first_action.unread_pages(snapshot, situation, grant):
            return success(ended(snapshot, CANNOT, unread))
        fitting, rest, offer = await self._fitting(snapshot, situation, offer, grant)
        if rest:
            return success(going_on(snapshot, *rest))
        if (following := await self._following(snapshot, situation, offer, fitting, grant)) is not None:
            return success(following)
        after = await after_change(self.means, snapshot, situation, offer, grant)
        if isinstance(after, ToolCall):
            return success(going_on(snapshot, after))
        if after:
            return success(ended(snapshot, ANSWERED, after))
        asking = await self._asking(snapshot, situation, grant)
        looked = await AfterLooks(self.means).judge(asking, situation, offer, grant)
        if looked.judgement is not None:
            return success(looked.judgement)
        if looked.answers:
            return await self._answered(snapshot, asking, looked.situation, looked.offer, looked.found, grant)
        return await self._decided(snapshot, asking, looked, grant)

    async def _fitting(
        self, snapshot: RunSnapshot, situation: Situation, offer: Offer, grant: Grant
    ) -> tuple[str, Sequence[ToolCall], Offer]:
        """The tool of another author that fits, as `FirstAction.fitting_tool` says it, its calls that the request still needs, and the offer
        after it."""
        possible = self.means.redirection.possible
        offer = offer_in_view(snapshot, situation, offer) if possible else offer
        fitting = await self._first_action.fitting_tool(snapshot, situation, offer, grant)
        pages_read = possible and bool(self.means.offers.page_steps(snapshot))
        if fitting == NONE or (pages_read and not fitting):
            return fitting, (), offer.known
        if offer.tool(fitting) is None:
            return fitting, (), offer
        rest = self.means.answered.fitting.rest(snapshot)
        if rest is None or rest or snapshot.steps_in(StepState.FAILED, StepState.INVALID):
            return fitting, rest or (), offer
        return fitting, (), offer.without(fitting)  # all its calls that the request needs were made

    async def _decided(
        self, whole: RunSnapshot, asking: RunSnapshot, looked: Looked, grant: Grant
    ) -> Outcome[Judgement]:
        """What the model decides next, after what the looks of the run have found. An answer in place of a change is put back to it, and so is
        a call that was made already. A refusal does not hide a change that was made: if that was likely all that was wanted, its report
        is the answer."""
        situation, offer = looked.situation, looked.offer
        decided = await self.means.action.choose(asking, situation, offer, grant, discard_text)
        undone = await self._undone(decided.value, offer, asking, situation, grant)
        if undone is not None:
            changed = await self.means.action.choose(asking, situation, undone, grant, discard_text)
            decided = changed if changed.value is not None else decided
        if (repeated := repetition(decided.value, asking, offer)) is not None:
            other = offer.without(repeated.tool)
            decided = await self.means.action.choose(asking, situation, other, grant, discard_text, REPEATED)
        if repetition(decided.value, asking, offer) is not None:
            decided = await self.means.action.choose(
                asking, situation, Offer(), grant, discard_text, REPEATED
            )
        match decided.value:
            case CallTool(call=call):
                return success(going_on(asking, call))
            case GiveAnswer(text=text, fulfilled=True):
                says_nothing = bool(repeated) or repeats_request(text, asking)  # the remark, or the request
                if says_nothing and self.means.redirection.possible:
                    text = reports_of(asking, self.means.offers.changes) or text
                return await self._answered(whole, asking, situation, offer, looked.found or text, grant)
            case GiveAnswer(text=text):
                done = (
                    reports_of(asking, self.means.offers.changes) if self.means.redirection.possible else ""
                )
                if done and await is_likely_for_one(self.means.llm, asking, grant):
                    return await self._answered(whole, asking, situation, offer, done, grant)
                text = await self.means.refusal(whole, text, grant)
                return success(ended(asking, CANNOT, "\n".join(filter(None, (done, text)))))
            case _:
                issue = Issue(decided.cause.reason, Severity.MEDIUM, "", decided.cause.message)
                return decided.failed(ended(asking, NOT_DECIDED, issues=(issue,)))

    async def _following(
        self, snapshot: RunSnapshot, situation: Situation, offer: Offer, fitting: str, grant: Grant
    ) -> Judgement | None:
        """How the run goes on with what may follow its last step: a proposed change is made if its tool is the one that fits the request, or the
        subject of the request is no question; anything else is done if the request asks for it, too. The run ends with what the step says where
        a person should look first."""
        follows = self.means.offers.following(snapshot, offer) if self.means.redirection.possible else None
        if follows is None:
            return None
        if isinstance(follows, str):
            return ended(snapshot, CANNOT, follows or NOT_FULFILLED)
        last = executed(snapshot)[-1].step.tool_call
        if not self.means.offers.proposes(last):
            wanted = await self.means.answered.fitting.is_asked_for(
                self.means.llm, snapshot, offer.tool(follows.tool), grant
            )
        elif last is not None and last.tool == fitting:
            wanted = True
        else:
            wanted = not (await self.means.subject(snapshot, situation, grant)).wants_no_change
        return going_on(snapshot, follows) if wanted else None

    async def _asking(self, snapshot: RunSnapshot, situation: Situation, grant: Grant) -> RunSnapshot:
        """The run as one that only asks, until what is asked before its order is found."""
        asked = self.means.can_ask_about(snapshot, grant)
        if not asked or snapshot.run_id in self.means.answered.findings:
            return snapshot
        return await question_of(self.means, snapshot, situation, grant)

    async def _answered(
        self,
        whole: RunSnapshot,
        asking: RunSnapshot,
        situation: Situation,
        offer: Offer,
        text: str,
        grant: Grant,
    ) -> Outcome[Judgement]:
        """The end of the run with this answer, or the call for the order behind what it asked. A small model claims changes that failed: such a run
        ends with a refusal, unless an answer was wanted."""
        order = asking is not whole and await self._ordered(whole, situation, offer, text, grant)
        if order:
            return success(going_on(whole, order))
        if self.means.asks_about(whole):
            failed = only_failed(whole, self.means.offers.changes)
            if failed and not (await self.means.subject(whole, situation, grant)).wants_no_change:
                return success(ended(whole, CANNOT, await self.means.refusal(whole, NOT_CHANGED, grant)))
            text = with_sources(text, whole.text, situation, executed(whole))
        return success(ended(whole, ANSWERED, text))

    async def _ordered(
        self, snapshot: RunSnapshot, situation: Situation, offer: Offer, found: str, grant: Grant
    ) -> ToolCall | None:
        """The call for the order behind the question to which this answer was found; None if there is none."""
        order = order_of(snapshot, found)
        if self.means.offers.page_steps(snapshot):
            offer = offer.without_pages()  # what the order needs of them was found
        decided = (await self._first_action.choose(order, situation, offer, grant, discard_text)).value
        if not isinstance(decided, CallTool):
            return None
        self.means.answered.findings[snapshot.run_id] = found
        return decided.call

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
        return await self.means.redirection.of_undone(offer, snapshot, situation, grant)


def _answer(given: GiveAnswer) -> Answer:
    notes = () if given.fulfilled else (NOT_FULFILLED,)
    return Answer(given.text, confidence=UNSUPPORTED, notes=notes, synthesized=True)
