"""Phase E: a run always ends with an answer, from a model where that helps, else from the steps alone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message, Role
from aeond.domain.outcome import BUDGET_SPENT, Problem
from aeond.domain.plans.plan import Clarity, PlanStep, StepState
from aeond.domain.plans.profiles import Route
from aeond.domain.plans.steps import StepMode, StepSnapshot
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.reservations import ANSWERING, lacking
from aeond.domain.runs.run import Answer, PlanSource, RunSnapshot
from aeond.domain.values import JsonValue, display_json
from aeond.orchestration.answer.expiry import expiry_note
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM, is_cut
from aeond.orchestration.context.prompt_fitting import fit_prompt, room_in
from aeond.orchestration.context.readable_outputs import readable
from aeond.orchestration.context.shortening import shorten
from aeond.orchestration.execution.readiness import context_length, context_of, primary_value
from aeond.orchestration.planning.step_graph import final_step
from aeond.orchestration.prompts.run_prompts import ANSWER_RULES, answer_messages, in_session, with_earlier
from aeond.ports import LLMAdapter, TextSink

MAX_REPLY_TOKENS: Final = 1_024
UNSUPPORTED: Final = 0.5  # confidence of an answer that rests on the model alone
MAX_ANSWER_TOKENS: Final = 512
MAX_PROMPT_TOKENS: Final = 3_000
MAX_RESULT_CHARS: Final = 24_000
MAX_RAW_CHARS: Final = 20_000
_MAX_NOTE_CHARS: Final = 300

_WEIGHTS: Final = {Clarity.CLEAR: 1.0, Clarity.PARTIALLY_CLEAR: 0.6, Clarity.BLOCKED: 0.0}
_FALLBACK_WEIGHT: Final = 0.7  # the model stood in for a tool that is missing


async def plain_reply(llm: LLMAdapter, snapshot: RunSnapshot, grant: Grant, on_text: TextSink) -> Answer:
    """The model's own answer, for one call. Runs of earlier logic versions chose REPLY without an answer, and so
    does a run whose first decision failed.

    If the model fails or returns no text, the answer is not `synthesized` and names the problem.
    """
    rules = snapshot.request.instructions or ANSWER_RULES
    messages = (Message(Role.SYSTEM, rules), Message(Role.USER, in_session(snapshot)))
    request = LLMRequest(messages, max_tokens=MAX_REPLY_TOKENS)
    answered = await BudgetedLLM(llm, grant).stream(request, on_text)
    text = answered.value.text.strip() if answered.value else ""
    if answered.value is None or not text:
        problem = answered.problem or Problem("NOT_ANSWERED", "the model returned no text")
        return Answer(f"No answer: {problem.message}", confidence=0.0)
    notes = ("the answer was cut off at its token limit",) if is_cut(answered.value) else ()
    return Answer(text, confidence=UNSUPPORTED, notes=notes, synthesized=True)


class StepAnswerer:
    """The Answerer over an LLMAdapter.

    The final output of an Evaluation is the answer, and so is the output of a plan's last step where an agent
    wrote it. Without a final output the answer of a DIRECT run is its last result. No model is asked for these,
    nor when the plan is the client's, no step succeeded, the budget is spent or the run is being cancelled. If
    the model fails, the answer is made of the steps' results. The notes name missing steps, shortened results
    and a text that was cut off.
    """

    def __init__(self, llm: LLMAdapter) -> None:
        self._llm = llm

    async def compose(self, snapshot: RunSnapshot, grant: Grant, on_text: TextSink) -> Answer:
        given = answer_without_model(snapshot)
        ending = snapshot.exhausted or snapshot.cancel_requested
        if snapshot.route is Route.REPLY and not ending:
            return await plain_reply(self._llm, snapshot, grant, on_text)
        planned = snapshot.plan_source is PlanSource.MODEL and snapshot.route is not Route.DIRECT
        if given.synthesized or not planned or not given.step_ids or ending or grant.left.llm_calls < 1:
            return given
        return _with_expiry(await self._synthesize(snapshot, given, grant, on_text), snapshot, grant)

    async def _synthesize(
        self, snapshot: RunSnapshot, given: Answer, grant: Grant, on_text: TextSink
    ) -> Answer:
        missing = () if _has_converged(snapshot) else _missing(snapshot)

        def build(result_chars: int) -> tuple[Message, ...]:
            results = context_of(given.step_ids, snapshot, result_chars)
            return answer_messages(with_earlier(snapshot), results, missing, snapshot.request.instructions)

        available = min(context_length(given.step_ids, snapshot), MAX_RESULT_CHARS)
        room = min(room_in(grant, self._llm), MAX_PROMPT_TOKENS)
        fitted = await fit_prompt(self._llm, build, available, room)
        if fitted.value is None:
            problem = fitted.problem
            if problem and problem.reason == "PROMPT_TOO_LONG" and grant.left.tokens < MAX_PROMPT_TOKENS:
                problem = replace(problem, reason=BUDGET_SPENT)
            return _without_model(given, problem)
        request = LLMRequest(fitted.value.messages, max_tokens=MAX_ANSWER_TOKENS)
        answered = await BudgetedLLM(self._llm, grant).stream(request, on_text)
        text = answered.value.text.strip() if answered.value else ""
        if answered.value is None or not text:
            return _without_model(given, answered.problem)
        notes = list(given.notes)
        if fitted.value.shortened or context_length(given.step_ids, snapshot) > available:
            notes.append("long results were shortened before the answer was written from them")
        if is_cut(answered.value):
            notes.append("the answer was cut off at its token limit")
        return replace(given, text=text, notes=tuple(notes), synthesized=True)


def answer_without_model(snapshot: RunSnapshot) -> Answer:
    """The answer where no model is asked for one: what an evaluation or the last step wrote, or the results."""
    given = answer_from_steps(snapshot)
    judged = snapshot.evaluation
    spoken = (judged.final_output.strip() if judged else "") or _spoken_by_last_step(snapshot)
    return given if spoken is None else replace(given, text=spoken, synthesized=True)


def answer_from_steps(snapshot: RunSnapshot) -> Answer:
    """The answer without a model: the last results as they are; in the notes what failed and is missing."""
    succeeded = snapshot.steps_in(StepState.SUCCEEDED)
    direct = snapshot.route is Route.DIRECT
    results = succeeded[-1:] if direct else _final_results(succeeded)
    text = "\n\n".join(_shown(step.output, direct=direct) for step in results)
    notes = [*_missing(snapshot), *_unclear(succeeded)]
    if len(text) > MAX_RAW_CHARS:
        text = shorten(text, MAX_RAW_CHARS)
        notes.append("the result is shortened here; the step's own output is whole")
    if expiry := expiry_note(snapshot):
        notes.append(expiry)
    if snapshot.problem is not None:
        notes.append(_line(snapshot.problem.message))
    return Answer(
        text=text or _nothing(snapshot),
        step_ids=tuple(step.step_id for step in succeeded),
        confidence=confidence(snapshot),
        notes=tuple(notes),
        budget_exhausted=bool(snapshot.exhausted),
    )


def _shown(output: JsonValue, *, direct: bool) -> str:
    """An output as text: what a run below answered; of a DIRECT run's what it is about, in plain lines, unless it says that this is
    not all."""
    if isinstance(output, Mapping) and output.keys() == {"answer"} and isinstance(output["answer"], str):
        return output["answer"]
    if not direct or (isinstance(output, Mapping) and output.get("truncated") is True):
        return display_json(output)
    return readable(primary_value(output))


def confidence(snapshot: RunSnapshot) -> float:
    """The share of steps that succeeded; one that was not clear, or stood in for a tool, counts for less."""
    if not snapshot.steps:
        return 0.0
    total = sum(_weight(step) for step in snapshot.steps.values())
    return round(total / len(snapshot.steps), 2)


def _weight(step: StepSnapshot) -> float:
    if step.state is not StepState.SUCCEEDED:
        return 0.0
    clear = 1.0 if step.clarity is None else _WEIGHTS[step.clarity]
    return clear * (_FALLBACK_WEIGHT if step.mode is StepMode.FALLBACK else 1.0)


def _has_converged(snapshot: RunSnapshot) -> bool:
    """Whether what gave no result was made good by other steps."""
    judged = snapshot.evaluation
    return judged is not None and judged.converged and judged.pass_index == snapshot.pass_index > 0


def _spoken_by_last_step(snapshot: RunSnapshot) -> str | None:
    """The output of a model's last step where that is text of an agent and nothing went wrong before."""
    final = final_step(snapshot.plan) if snapshot.plan and snapshot.plan_source is PlanSource.MODEL else None
    if final is None:
        return None
    last = snapshot.steps[final.step_id]
    all_well = all(step.state is StepState.SUCCEEDED for step in snapshot.steps.values())
    all_well = all_well or (_has_converged(snapshot) and last.state is StepState.SUCCEEDED)
    if not all_well or last.step.tool_call is not None or not isinstance(last.output, str):
        return None
    return last.output


def _final_results(succeeded: Sequence[StepSnapshot]) -> Sequence[StepSnapshot]:
    """The results that no other successful step was made from; the last alone if they form one chain."""
    used = {name for step in succeeded for name in step.step.depends_on}
    return [step for step in succeeded if step.step_id not in used]


def _missing(snapshot: RunSnapshot) -> list[str]:
    """A line for each step that gave no result."""
    lines = []
    for step in snapshot.steps.values():
        if step.state is not StepState.SUCCEEDED:
            why = step.error or step.reason or "it did not run"
            lines.append(_line(f"{step.step_id} ({_task(step.step)}) {step.state}: {why}"))
    return lines


def _task(step: PlanStep) -> str:
    """The description of the step; its tool or agent where there is none."""
    return step.description or (step.tool_call.tool if step.tool_call else step.agent or "")


def _unclear(succeeded: Sequence[StepSnapshot]) -> list[str]:
    return [
        _line(f"{step.step_id} is only partly clear. {step.step.handoff_to_next}".strip())
        for step in succeeded
        if step.clarity is Clarity.PARTIALLY_CLEAR
    ]


def _nothing(snapshot: RunSnapshot) -> str:
    if snapshot.problem is not None:
        return f"No result: {snapshot.problem.message}"
    if snapshot.route is Route.REPLY:
        return "No answer: the run's time was over before it was written. Ask again with more time."
    errors = [step.error for step in snapshot.steps.values() if step.error]
    return f"No result: {errors[0]}" if errors else "No step gave a result."


def _without_model(given: Answer, problem: Problem | None) -> Answer:
    note = _line(f"the model could not write the answer ({problem}): these are the steps' own results")
    spent = problem is not None and problem.reason == BUDGET_SPENT
    return replace(given, notes=(*given.notes, note), budget_exhausted=spent)


def _with_expiry(answer: Answer, snapshot: RunSnapshot, grant: Grant) -> Answer:
    """The answer, with what ran out where that kept a model from writing it."""
    lack = lacking(snapshot.ledger.left + grant.left, ANSWERING) if answer.budget_exhausted else ""
    expiry = expiry_note(replace(snapshot, exhausted=lack))
    return replace(answer, notes=(*answer.notes, *([expiry] if expiry else [])), budget_exhausted=bool(lack))


def _line(text: str) -> str:
    return " ".join(shorten(" ".join(text.split()), _MAX_NOTE_CHARS).split())
