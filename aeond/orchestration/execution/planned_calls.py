"""The calls of a plan that are fully known before they are made."""

from collections.abc import Sequence

from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode, StepSnapshot
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import ToolCall
from aeond.frozen import frozen
from aeond.orchestration.execution.tool_visibility import may_use
from aeond.orchestration.planning.step_references import references_in_value
from aeond.ports import ToolRegistry, Validator


@frozen
class PlannedCalls:
    """Finds the calls of steps that have not ended and have no reference to another step in their arguments."""

    registry: ToolRegistry
    validator: Validator

    def __call__(self, run: RunSnapshot) -> Sequence[tuple[str, ToolCall]]:
        """The valid ones by step id, in plan order, with the call ids that they are made with."""
        registry = self.registry.of(run.request.owner.uid)
        known: list[tuple[str, ToolCall]] = []
        for step in run.steps.values():
            call = step.step.tool_call
            if call is None or not _may_still_call(step):
                continue
            tool = registry.get(call.tool)
            open_arguments = not call.call_id and any(references_in_value(call.arguments, tuple(run.steps)))
            if tool is None or open_arguments or not may_use(run, call.tool):
                continue
            made = ToolCall(call.tool, call.arguments, f"{run.run_id}/{step.step_id}")
            if not self.validator.validate_tool_call(made, tool.spec):
                known.append((step.step_id, made))
        return known


def _may_still_call(step: StepSnapshot) -> bool:
    if step.state is StepState.RUNNING:
        return step.mode is StepMode.TOOL and step.child is None and step.question is None
    return step.state in (StepState.PENDING, StepState.READY) and not step.step.errors
