"""What a step will do, settled before it is journaled: its mode, its bound arguments, what a crash would mean."""

from dataclasses import dataclass, replace

from aeond.domain.budgets import Amounts
from aeond.domain.events import StepStarted
from aeond.domain.runs import RunSnapshot
from aeond.domain.steps import StepMode
from aeond.domain.tools import Recovery
from aeond.ports import Readiness, Reasoner, ToolRegistry, Validator


@dataclass(frozen=True, slots=True)
class PreparedIntents:
    """Chooses the mode: the tool if it is registered and its arguments fit; else the agent; else repair.

    A step that was sent to repair once is not sent again: without a tool it falls back to the model.
    """

    registry: ToolRegistry
    reasoner: Reasoner
    validator: Validator
    readiness: Readiness

    def prepare(self, run: RunSnapshot, step_id: str, reservation: Amounts) -> StepStarted:
        assert run.plan is not None
        current = run.steps[step_id]
        step = self.readiness.prepare(run.plan.step(step_id), run)
        attempt = current.attempt + 1
        repaired = current.mode is StepMode.REPAIR
        planned = step.tool_call
        tool = None if planned is None else self.registry.get(planned.tool)
        if planned is None or tool is None:
            mode = StepMode.AGENT
            if step.agent is None or not self.reasoner.has_agent(step.agent):
                step = self.validator.validate_step_tool(step)
                mode = StepMode.FALLBACK if repaired else StepMode.REPAIR
            return StepStarted(step, attempt, mode, Recovery.RERUN, reservation)
        arguments = planned.arguments
        # A call with an id was bound before its arguments were mended: data in it is no reference.
        if not planned.call_id:
            ok, arguments, problem = self.readiness.bind(step, run, tool.spec)
            if not ok:
                step = replace(step, errors=(str(problem),))
                return StepStarted(step, attempt, StepMode.TOOL, Recovery.RERUN, reservation)
        # The call id is the same for every attempt, so that a tool can tell a repeat.
        call = replace(planned, arguments=arguments, call_id=f"{run.run_id}/{step_id}")
        problems = () if repaired else self.validator.validate_tool_call(call, tool.spec)
        step = replace(step, tool_call=call, errors=tuple(str(p) for p in problems))
        if problems:
            return StepStarted(step, attempt, StepMode.REPAIR, Recovery.RERUN, reservation)
        return StepStarted(step, attempt, StepMode.TOOL, tool.spec.recovery, reservation)
