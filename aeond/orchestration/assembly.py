"""Assembles the parts of the phases over one model."""

from collections.abc import Callable, Iterator

from aeond.domain.messages import Message
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.values import JsonObject
from aeond.orchestration.answer.answerer import StepAnswerer
from aeond.orchestration.answer.equations import Computes, computes_nothing
from aeond.orchestration.budget.profiling import AdaptiveDepth
from aeond.orchestration.context.file_search import FileSearch
from aeond.orchestration.decision.conversations.composing import Composer
from aeond.orchestration.decision.conversations.correction import Corrections
from aeond.orchestration.decision.decider import Decider
from aeond.orchestration.decision.forms.constrained import ConstrainedDecisions
from aeond.orchestration.decision.forms.native import NativeDecisions
from aeond.orchestration.decision.forms.schema import decision_schema
from aeond.orchestration.decision.interfaces import DecisionModel, Offer
from aeond.orchestration.decision.means import Answered, Means
from aeond.orchestration.decision.offers import Offers
from aeond.orchestration.evaluation.evaluators import EvaluatorByRoute, PlanEvaluator
from aeond.orchestration.interfaces import Planner, References
from aeond.orchestration.matching.text_ranking import TextRanking
from aeond.orchestration.matching.tool_choice import ToolChoice
from aeond.orchestration.phases import PhaseOrchestrator
from aeond.orchestration.planning.planner import ModelPlanner
from aeond.orchestration.prompts.answer_prompts import (
    ANSWER_KNOWN,
    not_found_messages,
    results_messages,
    search_messages,
    text_messages,
    translation_messages,
)
from aeond.orchestration.prompts.coreference_prompts import REWRITINGS, Dependence, dependence_messages
from aeond.orchestration.prompts.decision_prompts import REMOVAL, composing_opening
from aeond.orchestration.prompts.fitting_prompts import CODE, EXACT, arguments_messages, fitting_messages
from aeond.orchestration.prompts.preamble import Preamble
from aeond.orchestration.prompts.subject_prompts import (
    CORRECTION,
    EXTENT,
    INTENT,
    NAMING,
    PAGES,
    PLACE,
    READING,
    SMALL_TALK,
    SUBJECT,
    WANTED,
)
from aeond.orchestration.refinement.refiner import ModelRefiner
from aeond.orchestration.repair.supervisor import Supervisor
from aeond.ports import LLMAdapter, ToolInvoker, ToolRegistry, Validator
from aeond.ports.situations import Situations


def phases_over(
    model: Supervisor,
    registry: ToolRegistry,
    invoker: ToolInvoker,
    references: References,
    situations: Situations,
    ranking: TextRanking,
    compute: Computes = computes_nothing,
    answered: Answered | None = None,
) -> PhaseOrchestrator:
    """Phases A to E with this model, for runs that may use these tools; `compute` checks the equations of its answers, `answered` is
    what was answered about these runs before."""
    llm, validator = model.llm, model.validator
    answered = answered or Answered()
    preamble = Preamble(registry, validator)
    planner: Planner = ModelPlanner(model, preamble)
    means = Means(
        decisions_of(model),
        llm,
        Offers(registry, invoker),
        FileSearch(llm, situations, answered.words, answered.files),
        Composer(
            llm,
            invoker,
            validator,
            Corrections(ranking, answered.corrections),
            compute,
            answered.unwritten,
            answered.odds,
        ),
        answered,
    )
    decider = Decider(means)
    return PhaseOrchestrator(
        references=references,
        tools=ToolChoice(registry, ranking),
        router=decider,
        depth=AdaptiveDepth(model, preamble),
        planner=planner,
        evaluator=EvaluatorByRoute(direct=decider, planned=PlanEvaluator(model, preamble)),
        refiner=ModelRefiner(model, preamble, planner),
        answerer=StepAnswerer(llm),
    )


def decisions_of(model: Supervisor) -> Callable[[], DecisionModel]:
    """Native tool calls where the loaded model has them, else JSON under a schema. Evaluated for each decision,
    because models are loaded and unloaded while the daemon runs."""
    constrained, native = ConstrainedDecisions(model), NativeDecisions(model)
    return lambda: native if model.llm.capabilities.tool_calls else constrained


def usual_schema(registry: ToolRegistry, invoker: ToolInvoker) -> JsonObject:
    """The schema of a decision with the tools of a run without restrictions."""
    return decision_schema(Offer(Offers(registry, invoker).usual(), plan=True).uncomposed)


def usual_openings(
    llm: LLMAdapter, registry: ToolRegistry, invoker: ToolInvoker, validator: Validator
) -> Callable[[], Iterator[tuple[Message, ...]]]:
    """The beginnings of prompts that are known before a run is, in the order in which a run needs them. They change with the
    tools."""
    decisions = decisions_of(Supervisor(llm, validator))
    offers = Offers(registry, invoker)

    def openings() -> Iterator[tuple[Message, ...]]:
        specs = offers.usual()
        asks = llm.capabilities.likely and not llm.capabilities.tool_calls
        if asks:
            if any(spec.source_code for spec in specs):
                yield CODE.opening
            if Offer(tuple(spec for spec in registry.specs() if spec.offered)).has_others:
                yield _fixed(fitting_messages("", ()))
                yield EXACT.opening
                yield _fixed(arguments_messages(specs[0], RunSnapshot(""), Situation()))
            yield from (one.opening for one in (SUBJECT, INTENT, ANSWER_KNOWN, SMALL_TALK))
            yield _fixed(results_messages(RunSnapshot(""), Situation(), ()))
        yield decisions().opening(specs, "")
        if not llm.capabilities.tool_calls:
            yield from (
                composing_opening(one.composition) for one in specs if one.composition and not one.source
            )
        if asks:
            if any(spec.page_address for spec in specs):
                yield PAGES.opening
            yield from (one.opening for one in (CORRECTION, WANTED, EXTENT, PLACE, REMOVAL, NAMING, READING))
            yield _fixed(not_found_messages("", (), ()))
            yield _fixed(translation_messages("", "", ""))
            yield _fixed(search_messages(""))
            yield _fixed(text_messages(RunSnapshot(""), Situation(), ()))
        yield Preamble(registry, validator).usual()
        yield _fixed(dependence_messages("", ""))
        yield from (
            _fixed(REWRITINGS[one].messages("", "")) for one in (Dependence.POINTS, Dependence.DIFFERS)
        )

    return openings


def _fixed(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """What is the same for all requests."""
    return messages[:-1]
