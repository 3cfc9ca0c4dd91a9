"""DIRECT runs between two calls: is it done, is there something to say, or what is called next."""

from collections.abc import Sequence
from typing import Final

from aeond.domain.budgets import Amounts, Grant
from aeond.domain.evaluations import Evaluation, Issue, RefinementAction, RefinementOperation, Severity
from aeond.domain.messages import Message
from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans import MAX_REFINEMENTS, PlanStep, StepState
from aeond.domain.profiles import Route
from aeond.domain.runs import RunSnapshot
from aeond.domain.steps import StepSnapshot
from aeond.domain.tools import ToolCall, ToolSpec
from aeond.domain.values import JsonValue
from aeond.orchestration.call_reading import CallReading
from aeond.orchestration.call_schema import CallSchemas
from aeond.orchestration.constrained_asking import ConstrainedModel
from aeond.orchestration.contracts import Judgement, Supervisor
from aeond.orchestration.fitting import fit_prompt
from aeond.orchestration.grounding import GroundedAsking
from aeond.orchestration.metering import USEFUL_TOKENS
from aeond.orchestration.plan_reading import describe_call
from aeond.orchestration.route_preamble import RoutePreamble
from aeond.orchestration.routing_prompts import call_turns, results_length, routing_messages
from aeond.orchestration.schema_parts import as_object
from aeond.orchestration.told_by_user import repeats_the_user
from aeond.ports import LLMAdapter, ToolRegistry, Validator

MAX_RESULT_CHARS: Final = 12_000
MAX_FAILURES: Final = 3  # failed calls after which no other one is asked for

_NEXT_CALL: Final = Amounts(ttl=1, tool_calls=1, passes=1)


class CallEvaluator:
    """The Evaluator of DIRECT runs, over an LLMAdapter.

    One constrained call that goes on with the conversation of the routing. What the model wants called next
    is validated; a call that cannot be made, or was made before, ends the run with what there is. Nothing
    more is asked for than the budget has room for: its passes bound the loop. A run converges when its last
    call succeeded, or when an answer was written and there is a result that it can rest on.
    """

    def __init__(
        self, llm: LLMAdapter, registry: ToolRegistry, supervisor: Supervisor, validator: Validator
    ) -> None:
        self._llm = llm
        self._preamble = RoutePreamble(registry, validator)
        self._asking = GroundedAsking(ConstrainedModel(llm, supervisor, validator))
        self._calls = CallReading(supervisor, validator)
        self._schemas = CallSchemas()

    async def evaluate(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[Judgement]:
        """A judgement; on failure the one that the states of the steps give."""
        specs = self._preamble.specs(snapshot)
        callable_now = specs if _may_go_on(snapshot) else ()
        asked = await self._ask(snapshot, callable_now, grant)
        if not asked.ok:
            return _failed(snapshot, "NOT_JUDGED", asked.problem)
        said = as_object(asked.value)
        answer = said.get("answer")
        if isinstance(answer, str) and answer.strip() and not repeats_the_user(answer, snapshot):
            return success(_ended(snapshot, "ANSWERED", final_output=answer.strip()))
        if said.get("route") != Route.DIRECT:
            return success(_ended(snapshot, "DONE"))
        call = await self._calls.read(said, callable_now, grant)
        if call.value is None:
            return _failed(snapshot, "NEXT_STEP_INVALID", call.problem)
        if any(_is_of(call.value, step) for step in snapshot.steps.values()):
            problem = Problem("CALL_REPEATED", f"it was called before: {describe_call(call.value)}")
            return _failed(snapshot, "CALL_REPEATED", problem)
        return success(_going_on(snapshot, call.value))

    async def _ask(
        self, snapshot: RunSnapshot, callable_now: Sequence[ToolSpec], grant: Grant
    ) -> Outcome[JsonValue]:
        left = grant.left
        room = min(left.tokens, self._llm.capabilities.context_length) - USEFUL_TOKENS
        if left.llm_calls < 1 or room <= 0:
            return failure(Problem("BUDGET_SPENT", "no model call is left to judge the result"), None)
        opening = self._preamble.messages(snapshot)
        routed = routing_messages(snapshot, opening)

        def build(result_chars: int) -> tuple[Message, ...]:
            return (*routed, *call_turns(snapshot, result_chars))

        longest = min(results_length(snapshot), MAX_RESULT_CHARS)
        fitted = await fit_prompt(self._llm, build, longest, room)
        if fitted.value is None:
            return failure(fitted.problem or Problem("PROMPT_TOO_LONG", "the results do not fit"), None)
        schema = self._schemas.following(callable_now)
        told = fitted.value.messages[len(opening) :]
        return await self._asking.ask(opening, told, schema, callable_now, grant)


def _may_go_on(snapshot: RunSnapshot) -> bool:
    """Whether another call would find budget, and the run has not failed too often."""
    failures = len(snapshot.steps_in(StepState.FAILED, StepState.INVALID))
    return (
        not _NEXT_CALL.exceeding(snapshot.ledger.left)
        and failures < MAX_FAILURES
        and snapshot.refinement_count < MAX_REFINEMENTS
    )


def _going_on(snapshot: RunSnapshot, call: ToolCall) -> Judgement:
    step = PlanStep(f"s{len(snapshot.steps) + 1}", describe_call(call), tool_call=call)
    action = RefinementAction(RefinementOperation.ADD, step.step_id, step, "the next call")
    evaluation = Evaluation(snapshot.pass_index, False, ("NEXT_STEP",), completeness=_share_done(snapshot))
    return Judgement(evaluation, (action,))


def _ended(
    snapshot: RunSnapshot, reason: str, issues: tuple[Issue, ...] = (), final_output: str = ""
) -> Judgement:
    steps = list(snapshot.steps.values())
    succeeded = snapshot.steps_in(StepState.SUCCEEDED)
    converged = bool(succeeded) and (bool(final_output) or steps[-1].state is StepState.SUCCEEDED)
    agrees = float(converged)
    return Judgement(
        Evaluation(
            snapshot.pass_index,
            converged,
            (reason,),
            issues,
            completeness=_share_done(snapshot),
            coherence=agrees,
            consistency=agrees,
            final_output=final_output,
        )
    )


def _failed(snapshot: RunSnapshot, reason: str, problem: Problem | None) -> Outcome[Judgement]:
    why = problem or Problem(reason, "the model did not say what is next")
    return failure(why, _ended(snapshot, reason, (Issue(why.reason, Severity.MEDIUM, "", why.message),)))


def _share_done(snapshot: RunSnapshot) -> float:
    return len(snapshot.steps_in(StepState.SUCCEEDED)) / max(1, len(snapshot.steps))


def _is_of(call: ToolCall, step: StepSnapshot) -> bool:
    made = step.step.tool_call
    return made is not None and (made.tool, made.arguments) == (call.tool, call.arguments)
