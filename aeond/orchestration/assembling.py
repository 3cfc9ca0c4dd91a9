"""All the parts of the phases over one model, put together."""

from collections.abc import Callable

from aeond.domain.messages import Message
from aeond.domain.values import JsonObject
from aeond.orchestration.answering import StepAnswerer
from aeond.orchestration.chat_preamble import ChatPreamble
from aeond.orchestration.constrained_asking import ConstrainedModel
from aeond.orchestration.contracts import Planner, References, Supervisor
from aeond.orchestration.evaluating import EvaluatorByRoute, PlanEvaluator
from aeond.orchestration.evaluating_calls import CallEvaluator
from aeond.orchestration.offering import usual_tools
from aeond.orchestration.phases import PhaseOrchestrator
from aeond.orchestration.plan_schema import compile_plan_schema
from aeond.orchestration.planning import ModelPlanner
from aeond.orchestration.preamble import Preamble
from aeond.orchestration.profiling import AdaptiveDepth
from aeond.orchestration.refining import ModelRefiner
from aeond.orchestration.route_preamble import RoutePreamble
from aeond.orchestration.routing import ModelRouter
from aeond.ports import LLMAdapter, ToolRegistry, Validator


def phases_over(
    llm: LLMAdapter,
    registry: ToolRegistry,
    supervisor: Supervisor,
    validator: Validator,
    references: References,
) -> PhaseOrchestrator:
    """Phases A to E with this model, for runs that may use these tools."""
    model = ConstrainedModel(llm, supervisor, validator)
    preamble = Preamble(registry, validator)
    planner: Planner = ModelPlanner(llm, registry, supervisor, validator)
    return PhaseOrchestrator(
        references=references,
        router=ModelRouter(llm, registry, supervisor, validator),
        depth=AdaptiveDepth(model, preamble),
        planner=planner,
        evaluator=EvaluatorByRoute(
            direct=CallEvaluator(llm, registry, supervisor, validator),
            planned=PlanEvaluator(model, preamble),
        ),
        refiner=ModelRefiner(model, preamble, planner),
        answerer=StepAnswerer(llm),
    )


def usual_schema(registry: ToolRegistry) -> JsonObject:
    """What plans are written under with the tools of the moment."""
    return compile_plan_schema(usual_tools(registry)).schema


def usual_openings(
    registry: ToolRegistry, validator: Validator
) -> tuple[Callable[[], tuple[Message, ...]], ...]:
    """What prompts begin with before a run is known, in the order in which a run asks: chat, route, plan."""
    preambles = (ChatPreamble, RoutePreamble, Preamble)
    return tuple(preamble(registry, validator).usual for preamble in preambles)
