"""One decision at a time: the first on a request, and the next after every result.

The Router and the Evaluator of DIRECT runs are the same mechanism: the conversation so far is put before the
model, which chooses one action. A failed call is a result like any other. Every decision takes a pass, and every
call a step and a tool call of the budget: where one of these is used up, only an answer is offered.
"""

from collections.abc import Callable, Sequence
from dataclasses import field
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
from aeond.orchestration.answer.equations import Computes, computes_nothing
from aeond.orchestration.context.file_search import FileSearch
from aeond.orchestration.decision.after_looks import AfterLooks, Looked
from aeond.orchestration.decision.conversations.composing import Composer
from aeond.orchestration.decision.conversations.extent import AfterChange, order_of, question_of
from aeond.orchestration.decision.conversations.fitting import FittingTools
from aeond.orchestration.decision.conversations.redirection import Redirection
from aeond.orchestration.decision.conversations.results_reply import (
    ResultsReply,
    with_sources,
)
from aeond.orchestration.decision.conversations.subject import Subjects
from aeond.orchestration.decision.first_action import FirstAction, is_unrestricted, offer_in_view
from aeond.orchestration.decision.interfaces import (
    CallTool,
    Decision,
    DecisionModel,
    GiveAnswer,
    MakePlan,
    Offer,
)
from aeond.orchestration.decision.new_file import NewFile
from aeond.orchestration.decision.next_action import NextAction
from aeond.orchestration.decision.offers import Offers
from aeond.orchestration.decision.results import (
    ANSWERED,
    CANNOT,
    ended,
    executed,
    going_on,
    may_go_on,
    repeats_request,
    repetition,
    reports_of,
)
from aeond.orchestration.interfaces import Judgement, RouteChoice, discard_text
from aeond.orchestration.last_runs import LastRuns
from aeond.orchestration.prompts.decision_prompts import REPEATED
from aeond.orchestration.prompts.fitting_prompts import NONE
from aeond.ports import LLMAdapter, TextSink

UNSUPPORTED: Final = 0.5  # confidence of an answer that rests on no result
NOT_FULFILLED: Final = "the request was not carried out"
NOT_DECIDED: Final = "NOT_DECIDED"


@frozen
class Decider:
    """The Router, and the Evaluator of DIRECT runs.

    `models` returns the form of decisions that suits the model that is loaded. `findings` holds, by run, what was found out in runs that
    go on, and `questions` what is asked besides a change. A decision that cannot be read, like any other failure, leaves the first
    decision to a plan, and ends a run that has results with the last of them. A call that was made already is put back to the model once, without its tool; then only the answer is left.
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
    questions: LastRuns[tuple[str, str], str] = field(default_factory=LastRuns)

    @property
    def _redirection(self) -> Redirection:
        return Redirection(self.llm, self.subjects, self.composer.corrections)

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
        fitting, rest, offer = await self._fitting(snapshot, situation, offer, grant)
        if rest:
            return success(going_on(snapshot, *rest))
        if (following := await self._following(snapshot, situation, offer, fitting, grant)) is not None:
            return success(following)
        after = await self._after_change(snapshot, situation, offer, grant)
        if isinstance(after, ToolCall):
            return success(going_on(snapshot, after))
        if after:
            return success(ended(snapshot, ANSWERED, after))
        asking = await self._asking(snapshot, situation, grant)
        after_looks = AfterLooks(self._first_action, self._new_file, self.findings)
        looked = await after_looks.judge(asking, situation, offer, grant)
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
        possible = self._redirection.possible
        offer = offer_in_view(snapshot, situation, offer) if possible else offer
        fitting = await self._first_action.fitting_tool(snapshot, situation, offer, grant)
        pages_read = possible and bool(self.offers.page_steps(snapshot))
        if fitting == NONE or (pages_read and not fitting):
            return fitting, (), offer.known
        if offer.tool(fitting) is None:
            return fitting, (), offer
        rest = self.fitting.rest(snapshot)
        if rest is None or rest or snapshot.steps_in(StepState.FAILED, StepState.INVALID):
            return fitting, rest or (), offer
        return fitting, (), offer.without(fitting)  # all its calls that the request needs were made

    async def _decided(
        self, whole: RunSnapshot, asking: RunSnapshot, looked: Looked, grant: Grant
    ) -> Outcome[Judgement]:
        """What the model decides next, after what the looks of the run have found. An answer in place of a change is put back to it, and so is
        a call that was made already."""
        situation, offer = looked.situation, looked.offer
        decided = await self._action.choose(asking, situation, offer, grant, discard_text)
        undone = await self._undone(decided.value, offer, asking, situation, grant)
        if undone is not None:
            changed = await self._action.choose(asking, situation, undone, grant, discard_text)
            decided = changed if changed.value is not None else decided
        if (repeated := repetition(decided.value, asking, offer)) is not None:
            other = offer.without(repeated.tool)
            decided = await self._action.choose(asking, situation, other, grant, discard_text, REPEATED)
        if repetition(decided.value, asking, offer) is not None:
            decided = await self._action.choose(asking, situation, Offer(), grant, discard_text, REPEATED)
        match decided.value:
            case CallTool(call=call):
                return success(going_on(asking, call))
            case GiveAnswer(text=text, fulfilled=True):
                says_nothing = bool(repeated) or repeats_request(text, asking)  # the remark, or the request
                if says_nothing and self._redirection.possible:
                    text = reports_of(asking, self.offers.changes) or text
                return await self._answered(whole, asking, situation, offer, looked.found or text, grant)
            case GiveAnswer(text=text):
                return success(ended(asking, CANNOT, text))
            case _:
                issue = Issue(decided.cause.reason, Severity.MEDIUM, "", decided.cause.message)
                return decided.failed(ended(asking, NOT_DECIDED, issues=(issue,)))

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
        after = AfterChange(
            self.llm,
            self.offers,
            self.subjects,
            self._results,
            self.findings,
            self._action.selected,
            self.questions,
        )
        return await after.answer(snapshot, situation, offer, grant)

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
