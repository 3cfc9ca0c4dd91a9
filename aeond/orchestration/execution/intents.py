"""What a step will do, settled before it is journaled: its mode, its bound arguments, what a crash would mean."""

import json
from hashlib import sha256

from aeond.domain.outcome import Problem
from aeond.domain.plans.copying import replace
from aeond.domain.plans.plan import PlanStep, StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.plans.subtasks import ChildRun, SubtaskRequest
from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.events import ChildRunStarted, StepEnded, StepStarted
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import Recovery, ToolCall
from aeond.frozen import frozen
from aeond.orchestration.execution.readiness import bound_arguments, prepared_step
from aeond.orchestration.execution.tool_visibility import may_use
from aeond.orchestration.interfaces import Templates
from aeond.ports import Ids, Reasoner, ToolRegistry, Validator


@frozen
class PreparedIntents:
    """Chooses the mode: the tool if it is registered and its arguments fit; else the agent; else repair.

    A step that was sent to repair once is not sent again: without a tool it falls back to the model.
    """

    registry: ToolRegistry
    reasoner: Reasoner
    validator: Validator
    templates: Templates
    ids: Ids

    def prepare(self, run: RunSnapshot, step_id: str, reservation: Amounts) -> StepStarted:
        assert run.plan is not None
        current = run.steps[step_id]
        step = prepared_step(run.plan.step(step_id), run)
        attempt = current.attempt + 1
        repaired = current.mode is StepMode.REPAIR
        planned = step.tool_call
        tool = None
        if planned is not None and may_use(run, planned.tool):
            tool = self.registry.get(planned.tool)
        if planned is None or tool is None:
            mode = StepMode.AGENT
            if step.agent is None or not self.reasoner.has_agent(step.agent):
                step = self._without_tool(step, run)
                mode = StepMode.FALLBACK if repaired else StepMode.REPAIR
            return StepStarted(step, attempt, mode, Recovery.RERUN, reservation)
        arguments = planned.arguments
        # A call with an id was bound before its arguments were repaired: it holds data and no references.
        if not planned.call_id:
            ok, arguments, problem = bound_arguments(arguments, run, tool.spec, self.validator)
            if not ok:
                step = replace(step, errors=(str(problem),))
                return StepStarted(step, attempt, StepMode.TOOL, Recovery.RERUN, reservation)
        # The call id is the same for every attempt, so that a tool can tell a repeat.
        call = ToolCall(planned.tool, arguments, f"{run.run_id}/{step_id}")
        problems = () if repaired else self.validator.validate_tool_call(call, tool.spec)
        step = replace(step, tool_call=call, errors=tuple(str(p) for p in problems))
        if problems:
            return StepStarted(step, attempt, StepMode.REPAIR, Recovery.RERUN, reservation)
        return StepStarted(step, attempt, StepMode.TOOL, tool.spec.recovery, reservation)

    def prepare_child(
        self, run: RunSnapshot, step_id: str, request: SubtaskRequest, used: Amounts
    ) -> ChildRunStarted | StepEnded:
        matched = self.templates.match(request)
        if matched.value is None:
            return _refused(step_id, matched.cause, used)
        template = matched.value
        entry = f"{template.name}:{_digest(request)}"
        if entry in run.ancestry.lineage:
            message = f"{template.name} with the same inputs is being done already, by a run above this one"
            return _refused(step_id, Problem("SUBTASK_CYCLE", message), used)
        settled = run.ledger.settle(run.steps[step_id].reservation, used)
        share = settled.share(run.elapsed_seconds)
        if share.depth < 0:
            message = "child runs may not nest any deeper below this run"
            return _refused(step_id, Problem("SUBTASK_TOO_DEEP", message), used)
        lineage = (*run.ancestry.lineage, entry)
        budget = template.budget.within(limit=share, default=share)
        child = ChildRun(
            self.ids.new_id(),
            template.name,
            budget,
            request,
            lineage,
            template.instructions,
            template.tools,
            template.agent,
        )
        return ChildRunStarted(step_id, child, used)

    def _without_tool(self, step: PlanStep, run: RunSnapshot) -> PlanStep:
        """The step with why its tool or agent cannot be had."""
        if step.tool_call is not None and not may_use(run, step.tool_call.tool):
            return replace(step, errors=(f"Tool '{step.tool_call.tool}' is not one that this run may use",))
        return self.validator.validate_step_tool(step)


def _refused(step_id: str, problem: Problem, used: Amounts) -> StepEnded:
    return StepEnded(
        step_id, StepState.FAILED, StepMode.TOOL, error=problem.message, reason=problem.reason, used=used
    )


def _digest(request: SubtaskRequest) -> str:
    """The same for the same work, however the inputs are ordered; without inputs the description is the work."""
    canonical = json.dumps(
        request.inputs or request.description, sort_keys=True, ensure_ascii=False, separators=(",", ":")
    )
    return sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
