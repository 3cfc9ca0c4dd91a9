"""Repairs a step before it runs: a registered tool for a missing one, or arguments that satisfy its schema."""

from dataclasses import replace

from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans.plan import PlanStep
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import ToolCall
from aeond.domain.values import JsonObject
from aeond.frozen import frozen
from aeond.orchestration.execution.tool_visibility import may_use, offered_tools
from aeond.orchestration.interfaces import Supervisor
from aeond.ports import ToolRegistry, Validator


@frozen
class StepRepairer:
    """Asks the Supervisor for the form that is missing; what comes back is validated again."""

    registry: ToolRegistry
    supervisor: Supervisor
    validator: Validator

    async def repair(self, step: PlanStep, run: RunSnapshot, grant: Grant) -> Outcome[PlanStep]:
        tool = None if step.tool_call is None else self.registry.get(step.tool_call.tool)
        if step.tool_call is None or tool is None or not may_use(run, step.tool_call.tool):
            goal = run.plan.goal if run.plan else run.request.text
            offered = offered_tools(self.registry, run)
            return await self.supervisor.repair_missing_tool_step(step, offered, goal, grant)
        proposal: JsonObject = {"tool": step.tool_call.tool, "arguments": step.tool_call.arguments}
        ok, call, problem = await self.supervisor.repair_tool_call(proposal, tool.spec, grant)
        if not ok or not isinstance(call, ToolCall):
            return failure(Problem("ARGUMENTS_INVALID", str(problem)), step)
        if call.tool != step.tool_call.tool:
            return failure(
                Problem("ARGUMENTS_INVALID", f"the repair named another tool, '{call.tool}'"), step
            )
        problems = self.validator.validate_tool_call(call, tool.spec)
        if problems:
            return failure(Problem("ARGUMENTS_INVALID", str(problems[0])), step)
        return success(replace(step, tool_call=replace(step.tool_call, arguments=call.arguments), errors=()))
