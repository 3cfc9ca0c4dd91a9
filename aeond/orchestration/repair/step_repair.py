"""Repairs a step before it runs: a registered tool for a missing one, or arguments that satisfy its schema."""

from dataclasses import replace

from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans.plan import PlanStep
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.frozen import frozen
from aeond.orchestration.execution.tool_visibility import may_use, offered_tools
from aeond.orchestration.repair.supervisor import Supervisor
from aeond.ports import ToolRegistry


@frozen
class StepRepairer:
    """Repairs what keeps a step from running, by the Supervisor."""

    registry: ToolRegistry
    supervisor: Supervisor

    async def repair(self, step: PlanStep, run: RunSnapshot, grant: Grant) -> Outcome[PlanStep]:
        tool = None if step.tool_call is None else self.registry.get(step.tool_call.tool)
        if step.tool_call is None or tool is None or not may_use(run, step.tool_call.tool):
            goal = run.plan.goal if run.plan else run.request.text
            offered = offered_tools(self.registry, run)
            return await self.supervisor.repair_missing_tool_step(step, offered, goal, grant)
        ok, call, problem = await self.supervisor.repair_tool_call(step.tool_call, tool.spec, grant)
        if not ok:
            return failure(Problem("ARGUMENTS_INVALID", str(problem)), step)
        return success(replace(step, tool_call=replace(step.tool_call, arguments=call.arguments), errors=()))
