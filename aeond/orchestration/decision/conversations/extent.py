"""What a request is for besides its first change: nothing, an answer, or more changes; and the order that stands behind a question.

After the one change that was wanted, the report of the tool is the answer: a small model that words one itself takes seconds, and says
in English, or not at all, what has happened. ADR 0109 has the measurements. Where the order also asks for something, the changed
file is read again and the answer given from there: ADR 0120. Of a question with an order behind it ("What is 5 % of 640? Keep that as
my bonus.") what is asked is answered first, and the order is then decided about as a request of its own, below both: ADR 0117 has the reasons.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.llm import LLMRequest
from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import ToolCall
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM
from aeond.orchestration.context.readable_outputs import report
from aeond.orchestration.context.statements import question_and_rest
from aeond.orchestration.decision.conversations.odds import odds_of
from aeond.orchestration.decision.interfaces import Offer
from aeond.orchestration.decision.means import Means
from aeond.orchestration.decision.results import executed, result_of
from aeond.orchestration.prompts.answer_prompts import question_messages
from aeond.orchestration.prompts.run_prompts import exchange_text
from aeond.orchestration.prompts.subject_prompts import EXTENT, MEMORY, ONE
from aeond.ports import LLMAdapter

_MAX_REPORT_CHARS: Final = 800
_MAX_QUESTION_TOKENS: Final = 80
_ONE_FROM: Final = 0.3  # log-odds


async def after_change(
    means: Means, run: RunSnapshot, situation: Situation, offer: Offer, grant: Grant
) -> str | ToolCall:
    """What follows the change that a small model was asked for: the report of the tool that made it, with the findings of earlier looks
    if the person may want them, or with the answer to what the request asks for besides; the call that reads the changed file if that is
    needed first; "" if nothing of the kind follows the last step."""
    if not means.can_ask_about(run, grant):
        return ""
    steps = executed(run)
    last = next(
        (at for at in reversed(range(len(steps))) if means.offers.changes(steps[at].step.tool_call)), None
    )
    if last is None or steps[last].state is not StepState.SUCCEEDED:
        return ""
    change, looks = steps[last], steps[last + 1 :]
    if last and means.offers.made(steps[last - 1], change):
        return _of_proposal(run, steps[last - 1], change, looks)
    looks = means.results.informative(looks)
    if any(step.state is not StepState.SUCCEEDED for step in looks):
        return ""
    reported = report(change.output)
    if not 0 < len(reported) <= _MAX_REPORT_CHARS or not all(
        means.offers.looks(step.step.tool_call) for step in looks
    ):
        return ""
    if not looks and (found := means.answered.findings.get(run.run_id)):
        is_wanted = await means.answered.subjects.may_want_found(means.llm, run, grant)
        return f"{found}\n{reported}" if is_wanted else reported
    if not looks and (await means.subject(run, situation, grant)).place == MEMORY:
        return reported
    if not await means.answered.subjects.wants_answer_too(means.llm, run, grant):
        return reported if not looks and await is_likely_for_one(means.llm, run, grant, surely=True) else ""
    if not looks and (reading := _read_again(change, offer)):
        return reading
    asking = await _asking(means, run, grant)
    if looks and (selecting := await means.action.selected(asking, situation, offer, grant)):
        return selecting
    reply = await means.results.besides(asking, situation, reported, looks, grant)
    return "\n".join(filter(None, (reported, reply)))


async def _asking(means: Means, run: RunSnapshot, grant: Grant) -> RunSnapshot:
    """The run as one that only asks the question which its request leaves after the change, for a call of the grant if that is not known yet and
    another one is left: with the whole order in view a small model looks for what it has just written."""
    questions, key = means.answered.questions, (run.run_id, run.text)
    if key not in questions and grant.left.llm_calls > 1:
        request = LLMRequest(question_messages(run.text), max_tokens=_MAX_QUESTION_TOKENS, fixed=True)
        written = (await BudgetedLLM(means.llm, grant).text(request)).strip()
        if written:  # a model that failed is asked again
            questions[key] = written
    question = questions.get(key, "")
    return replace(run, resolved_text=question) if question else run


def _of_proposal(
    run: RunSnapshot, proposal: StepSnapshot, change: StepSnapshot, later: Sequence[StepSnapshot]
) -> str:
    """What the author of a proposal that was made says about it, with its note, the files that it changed, and what failed afterwards."""
    output = proposal.output if isinstance(proposal.output, Mapping) else {}
    said = [str(output.get("explanation", "")), str(output.get("note", ""))]
    effects = [one for one in run.effects if one.target not in change.values]
    done = [f"{one.target}: {one.kind.rpartition('.')[2]}" for one in effects]
    lost = [step for step in later if step.state is not StepState.SUCCEEDED and step.tool]
    failed = [f"{step.tool}: {result_of(step)}" for step in lost]
    return "\n".join(filter(None, (*said, *done, *failed)))


async def is_likely_for_one(llm: LLMAdapter, run: RunSnapshot, grant: Grant, *, surely: bool = False) -> bool:
    """Whether the run's request is likely for one thing, or surely, for one call of the grant; false if the model says neither."""
    odds = await odds_of(ONE, EXTENT, llm, grant, run.text)
    return odds >= (_ONE_FROM if surely else 0.0)


def _read_again(change: StepSnapshot, offer: Offer) -> ToolCall | None:
    """The call that reads the file that a step has changed, under the name that it has now."""
    calls = (offer.reading(value) for value in change.values if isinstance(value, str))
    return next((call for call in calls if call is not None), None)


async def question_of(means: Means, run: RunSnapshot, situation: Situation, grant: Grant) -> RunSnapshot:
    """The run as one that only asks, if an order stands behind its last question: most of what stands there only says where to look or
    how to answer. Any other run as it is. Up to eight calls of the grant, for what is not known yet."""
    question, rest = question_and_rest(run.text)
    if not rest:
        return run
    order, asking = (replace(run, resolved_text=part) for part in (rest, question))
    if not (await means.subject(order, situation, grant)).is_order:
        return run
    asked = await means.subject(asking, situation, grant)
    if not asked.wants_no_change:
        return run
    if await means.answered.subjects.wants_order_behind(means.llm, run, order, grant):
        return asking
    means.answered.subjects.settle(run, asked)
    return run


def order_of(run: RunSnapshot, found: str) -> RunSnapshot:
    """The run as one of which nothing is left but its order, below what was found for its question."""
    question, rest = question_and_rest(run.text)
    said = "\n".join(part for part in (run.context, exchange_text(question, (), found)) if part)
    return replace(run, resolved_text=rest, context=said, steps={})
