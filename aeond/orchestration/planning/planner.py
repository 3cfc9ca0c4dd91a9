"""Planning: one constrained model call, and at most one more when the first plan cannot work."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message
from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans.plan import Plan
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM, is_cut
from aeond.orchestration.interfaces import PlanDraft
from aeond.orchestration.planning.plan_parsing import plan_from_model
from aeond.orchestration.planning.plan_schema import MAX_STRING_CHARS, compile_plan_schema, largest_bytes
from aeond.orchestration.prompts.preamble import Preamble
from aeond.orchestration.prompts.run_prompts import plan_messages, replan_messages, with_earlier
from aeond.orchestration.repair.provenance import values_in
from aeond.orchestration.repair.strict_json import read_json
from aeond.orchestration.repair.supervisor import Supervisor
from aeond.ports import ProgressSink

MAX_PLAN_TOKENS: Final = 900

# Mistakes in what a plan says, not in how it is written: no repair of form helps, another plan may.
_MEANT_WRONGLY: Final = ("REFERENCE_UNKNOWN", "REFERENCE_NOT_EARLIER", "PLAN_CUT")


class ModelPlanner:
    """The Planner over a supervised model.

    The schema and the prompt come from the live registry; the answer is parsed strictly and validated.
    Malformed output goes to the Supervisor. A plan that is well formed and cannot work (it refers to
    results that come later, or does not fit its bounds) is requested once more, with the problem stated.
    """

    def __init__(self, model: Supervisor, preamble: Preamble) -> None:
        self._model = model
        self._preamble = preamble

    async def draft(
        self, snapshot: RunSnapshot, grant: Grant, on_progress: ProgressSink
    ) -> Outcome[PlanDraft | None]:
        """A valid plan, or the problem of the last attempt."""
        specs = self._preamble.specs(snapshot)
        schema = compile_plan_schema(specs)
        messages = plan_messages(with_earlier(snapshot), self._preamble.messages(snapshot))
        on_progress("planning", -1.0)
        outcome, text = await self._ask(messages, schema, specs, grant)
        repairs: tuple[str, ...] = ()
        if not outcome.ok and outcome.cause.reason in _MEANT_WRONGLY:
            on_progress("planning", -1.0)
            repairs = (f"asked for another plan: {outcome.cause}",)
            messages = replan_messages(messages, text, outcome.cause.message)
            outcome, _ = await self._ask(messages, schema, specs, grant)
        if outcome.value is None or not outcome.ok:
            return outcome.failed(None)
        if outcome.problem is not None:  # how its form was repaired
            repairs = (*repairs, outcome.problem.message)
        return success(PlanDraft(replace(outcome.value, goal=snapshot.text), repairs))

    async def _ask(
        self, messages: tuple[Message, ...], schema: JsonObject, specs: Sequence[ToolSpec], grant: Grant
    ) -> tuple[Outcome[Plan | None], str]:
        """The plan, and the text that the model wrote."""
        most = min(MAX_PLAN_TOKENS, largest_bytes(schema))  # a token is at least one byte
        request = LLMRequest(messages, max_tokens=most, schema=schema)
        answered = await BudgetedLLM(self._model.llm, grant).generate(request)
        if answered.value is None:
            return answered.failed(None), ""
        if is_cut(answered.value):
            tokens = answered.value.usage.completion_tokens
            return failure(_cut(f"the plan is longer than {tokens} tokens"), None), ""
        text = answered.value.text
        outcome = self._read(text, specs)
        if not outcome.ok and outcome.cause.reason not in _MEANT_WRONGLY:
            outcome = await self._model.repair_plan(text, specs, grant)
        return outcome, text

    def _read(self, text: str, specs: Sequence[ToolSpec]) -> Outcome[Plan | None]:
        """The plan if it is right as it stands."""
        parsed = read_json(text)
        if not parsed.ok:
            return parsed.failed(None)
        if _reaches_a_bound(parsed.value):
            return failure(_cut(f"a text in the plan is longer than {MAX_STRING_CHARS} characters"), None)
        read = plan_from_model(parsed.value, specs)
        problems = self._model.validator.validate_plan(read.value) if read.value else ()
        return failure(problems[0], None) if problems else read


def _cut(message: str) -> Problem:
    return Problem("PLAN_CUT", f"{message}; let an llm step write long text and refer to its result")


def _reaches_a_bound(value: JsonValue) -> bool:
    """Whether a text ends where the schema's bound ended it: the model may have wanted to go on."""
    return any(isinstance(text, str) and len(text) >= MAX_STRING_CHARS for text in values_in(value))
