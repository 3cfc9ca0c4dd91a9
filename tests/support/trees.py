"""Trees of runs over the service world: plans by what is asked, and tools that start runs or ask people."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans.plan import Plan
from aeond.domain.plans.subtasks import SubtaskRequest, Template
from aeond.domain.runs.budgets import Amounts, BudgetRequest, Grant
from aeond.domain.runs.questions import InputRequest
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import Effect, ToolContext
from aeond.domain.values import JsonObject, JsonValue
from aeond.orchestration.interfaces import PlanDraft
from aeond.ports import Journal, ProgressSink
from tests.support.doubles import ScriptedTool, give_arguments_back
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.service_world import World
from tests.support.strategy import calls

TOPIC = Template("topic", "Works on a topic.", ("topic",), ("name",))


@dataclass
class PlanByTopic:
    """Plans a child run by its topic (None: no plan can be made), everything else as one call of `work`."""

    plans: Mapping[str, Plan | None] = field(default_factory=dict)

    async def draft(
        self, snapshot: RunSnapshot, grant: Grant, on_progress: ProgressSink
    ) -> Outcome[PlanDraft | None]:
        grant.take(Amounts(llm_calls=1, tokens=10))
        topic = snapshot.request.text.rpartition("name:\n")[2]
        planned = self.plans.get(topic, plan("work"))
        if planned is None:
            return failure(Problem("NO_PLAN", "there is no plan for that"), None)
        return success(PlanDraft(planned))


def plan(*tools: str, **arguments: JsonValue) -> Plan:
    """One step for each tool, side by side."""
    return Plan("a goal", tuple(calls(f"s{n}", tool, **arguments) for n, tool in enumerate(tools, start=1)))


def starting(*topics: str) -> Plan:
    """One child run for each topic, side by side; of several a last step waits, for else they ran in order."""
    steps = tuple(calls(f"s{n}", "start", name=t) for n, t in enumerate(topics, start=1))
    last = (calls("last", "work", *(step.step_id for step in steps)),) if len(steps) > 1 else ()
    return Plan("a goal", (*steps, *last))


async def start(arguments: JsonObject, _: ToolContext) -> SubtaskRequest:
    return SubtaskRequest("Work on this.", {"name": arguments["name"]}, ("topic",))


async def ask(arguments: JsonObject, _: ToolContext) -> InputRequest:
    asked = InputRequest(str(arguments.get("prompt", "which?")), options=("red", "blue"))
    seconds = arguments.get("deadline_seconds", 0)
    default = arguments.get("default")
    return replace(
        asked,
        deadline_seconds=float(seconds) if isinstance(seconds, int | float) else 0.0,
        default=default,
        has_default=default is not None,
    )


async def count(arguments: JsonObject, _: ToolContext) -> InputRequest:
    return InputRequest("how many?", {"type": "integer", "minimum": 1})


def tree_tools(effect: Effect = Effect.PURE) -> dict[str, ScriptedTool]:
    """`start` a child run on a topic, with an effect; `ask` a person, `count` (a number is wanted), `work`."""
    return {
        "start": ScriptedTool("start", start, effect),
        "ask": ScriptedTool("ask", ask),
        "count": ScriptedTool("count", count),
        "work": ScriptedTool("work", give_arguments_back),
    }


def tree_world(
    folder: Path,
    plans: Mapping[str, Plan | None] | None = None,
    *,
    journal: Journal | None = None,
    budget: BudgetRequest | None = None,
    effect: Effect = Effect.PURE,
    **options: object,
) -> World:
    """A world in which child runs do what their topic says, with this budget for each at most; `effect` is that
    of the tool that starts them."""
    template = replace(TOPIC, tools=("start", "ask", "work"), budget=budget or BudgetRequest())
    world = World(
        folder,
        journal=journal or InMemoryJournal(),
        tools=tree_tools(effect),
        templates=(template,),
        **options,  # type: ignore[arg-type]  # a test gives the right ones
    )
    world.planner = PlanByTopic(plans or {})  # type: ignore[assignment]  # another double of the same port
    return world


def next_daemon(world: World) -> World:
    """The daemon after this one: the same journal, tools, templates and plans."""
    successor = world.reborn()
    successor.planner = world.planner
    return successor
