"""Planning: one constrained model call, and at most one more when the first plan cannot work."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message
from aeond.domain.outcome import Outcome, Problem, failure, success
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
        outcome, text = await self._ask(messages, schema, snapshot.text, specs, grant)
        problem = outcome.problem
        if problem is None or problem.reason not in _MEANT_WRONGLY:
            return outcome
        on_progress("planning", -1.0)
        messages = replan_messages(messages, text, problem.message)
        again, _ = await self._ask(messages, schema, snapshot.text, specs, grant)
        if again.value is None:
            return again
        repairs = (f"asked for another plan: {problem}", *again.value.repairs)
        return success(replace(again.value, repairs=repairs))

    async def _ask(
        self,
        messages: tuple[Message, ...],
        schema: JsonObject,
        goal: str,
        specs: Sequence[ToolSpec],
        grant: Grant,
    ) -> tuple[Outcome[PlanDraft | None], str]:
        most = min(MAX_PLAN_TOKENS, largest_bytes(schema))  # a token is at least one byte
        request = LLMRequest(messages, max_tokens=most, schema=schema)
        answered = await BudgetedLLM(self._model.llm, grant).generate(request)
        if answered.value is None:
            return answered.failed(None), ""
        text = answered.value.text
        if is_cut(answered.value):
            return failure(
                _cut(f"the plan is longer than {answered.value.usage.completion_tokens} tokens"), None
            ), ""
        outcome = self._read(text, goal, specs)
        if outcome.ok or (outcome.problem and outcome.problem.reason in _MEANT_WRONGLY):
            return outcome, text
        return await self._repair(text, goal, specs, grant), text

    def _read(self, text: str, goal: str, specs: Sequence[ToolSpec]) -> Outcome[PlanDraft | None]:
        """The plan if it is right as it stands."""
        parsed = read_json(text)
        if not parsed.ok:
            return parsed.failed(None)
        if _reaches_a_bound(parsed.value):
            return failure(_cut(f"a text in the plan is longer than {MAX_STRING_CHARS} characters"), None)
        read = plan_from_model(parsed.value, goal, specs)
        if read.value is None:
            return read.failed(None)
        problems = self._model.validator.validate_plan(read.value)
        if problems:
            return failure(problems[0], None)
        return success(PlanDraft(read.value))

    async def _repair(
        self, text: str, goal: str, specs: Sequence[ToolSpec], grant: Grant
    ) -> Outcome[PlanDraft | None]:
        repaired = await self._model.repair_plan(text, specs, grant)
        if repaired.value is None or not repaired.ok:
            return repaired.failed(None)
        done = (repaired.problem.message,) if repaired.problem else ()
        return success(PlanDraft(replace(repaired.value, goal=goal), done))


def _cut(message: str) -> Problem:
    return Problem("PLAN_CUT", f"{message}; let an llm step write long text and refer to its result")


def _reaches_a_bound(value: JsonValue) -> bool:
    """Whether a text ends where the schema's bound ended it: the model may have wanted to go on."""
    return any(isinstance(text, str) and len(text) >= MAX_STRING_CHARS for text in values_in(value))
