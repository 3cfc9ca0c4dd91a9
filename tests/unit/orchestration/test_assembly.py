from dataclasses import replace

import pytest

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.llm.adapters.scripted import ScriptedLLM
from aeond.capabilities.tools.registry import Registry
from aeond.domain.plans.plan import Clarity
from aeond.domain.plans.profiles import Route
from aeond.domain.runs import events as e
from aeond.domain.runs.run import Operation, RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Composition, Recovery
from aeond.orchestration.assembly import decisions_of, phases_over, usual_openings
from aeond.orchestration.decision.forms.constrained import ConstrainedDecisions
from aeond.orchestration.decision.forms.native import NativeDecisions
from aeond.orchestration.decision.means import Answered
from aeond.orchestration.matching.text_ranking import TextRanking
from aeond.orchestration.prompts.answer_prompts import (
    ANSWER_KNOWN,
    not_found_messages,
    results_messages,
    search_messages,
    text_messages,
    translation_messages,
)
from aeond.orchestration.prompts.coreference_prompts import REWRITINGS, dependence_messages
from aeond.orchestration.prompts.decision_prompts import REMOVAL, composing_opening
from aeond.orchestration.prompts.fitting_prompts import EXACT, arguments_messages, fitting_messages
from aeond.orchestration.prompts.preamble import Preamble
from aeond.orchestration.prompts.subject_prompts import (
    CORRECTION,
    EXTENT,
    INTENT,
    NAMING,
    PLACE,
    READING,
    SMALL_TALK,
    SUBJECT,
    WANTED,
)
from aeond.orchestration.repair.supervisor import Supervisor
from tests.support.deciders import IS_WANTED, WholeTool
from tests.support.doubles import PlainInvoker
from tests.support.judging import after_pass, judgement, ran
from tests.support.null_objects import AsSaid, NoSituations
from tests.support.strategy import LOOK, STORE, calls, grant, registry, run_of, says, spec, thinks, validator

WRITE = spec("write_file", {"path": {"type": "string"}}, ("path",))
NOTE = Composition(("path",), "Name the file.", (("a", "b", "c"),))
INFORMED = (replace(STORE, candidates=("key",)), replace(LOOK, candidates=("path",)))
TELL, LOOKED = thinks("s1", "Tell it."), calls("s2", "look", path="garden")
DOUBTFUL = after_pass(1, ran(TELL, clarity=Clarity.PARTIALLY_CLEAR), ran(LOOKED))
FRESH = replace(DOUBTFUL, pass_index=0, plan=None, steps={}, route=None)
PROFILE = {"depth": 1, "known": 90, "tools": "none", "breadth": "narrow", "confidence": "low", "why": ""}


@pytest.mark.parametrize(
    ("operation", "run", "said", "kind"),
    [
        (Operation.RESOLVE, FRESH, {}, e.ReferencesResolved),
        (Operation.ROUTE, FRESH, {"answer": "Leeks."}, e.RouteChosen),
        (Operation.PROFILE, FRESH, PROFILE, e.ProfileInferred),
        (Operation.PLAN, FRESH, {"steps": [{"agent": "llm"}]}, e.PlanAdopted),
        (Operation.EVALUATE, DOUBTFUL, judgement(), e.PassEvaluated),
        (Operation.EVALUATE, replace(DOUBTFUL, route=Route.DIRECT), {"answer": "Leeks."}, e.PassEvaluated),
        (Operation.ANSWER, DOUBTFUL, {}, e.AnswerComposed),
    ],
)
async def test_every_operation_has_its_part(
    operation: Operation, run: RunSnapshot, said: dict[str, object], kind: type
) -> None:
    """With a model that says what is asked for, each operation ends with its own event and no fallback."""
    llm, check = says({"json": said}), validator()
    phases = phases_over(
        Supervisor(llm, check),
        registry(),
        PlainInvoker({}),
        AsSaid(),
        NoSituations(),
        TextRanking(NoEmbedder()),
    )
    (first, *_) = await phases.perform(operation, run, grant(), lambda _: None, lambda *_: None)
    assert isinstance(first, kind)
    assert getattr(first, "fallback", False) is False
    assert len(llm.requests) == (0 if operation is Operation.RESOLVE else 1)


async def test_what_was_asked_about_a_run_is_not_asked_again() -> None:
    """A run that waited for a person goes on with other objects, and with what a model has answered about it."""
    llm = says(
        {"contains": "Say in one word what a request", "text": "do", "likely": {"do": -0.1}},
        {"json": {"answer": "Leeks."}},
    )
    assert await asked_three_times(llm, Operation.ROUTE, FRESH, "what a request needs") == [1, 0, 1]


async def test_what_is_asked_besides_a_change_is_not_asked_again() -> None:
    """The question that an order leaves is known to a run that waited for a person after its change."""
    llm = says(
        {"contains": IS_WANTED, "text": "both", "likely": {"done": -1.0, "both": -0.5}},
        {"contains": "Say in one word what a request", "text": "do", "likely": {"do": -0.1}},
        {"contains": "only the question that is left", "text": "How many are left?"},
        {"contains": "from what is shown above it", "text": "Two."},
    )
    changed = replace(
        ran(calls("s1", "store", key="todo", value="rope"), output="added: rope"), recovery=Recovery.RECONCILE
    )
    run = replace(after_pass(1, changed, ran(LOOKED)), route=Route.DIRECT)
    assert await asked_three_times(llm, Operation.EVALUATE, run, "only the question that is left") == [
        1,
        0,
        1,
    ]


async def asked_three_times(
    llm: ScriptedLLM, operation: Operation, run: RunSnapshot, question: str
) -> list[int]:
    """How often the question is asked in each of three operations with other objects; the last one does not know what was answered before."""
    tools = Registry()
    for one in INFORMED:
        tools.register(WholeTool(one))

    async def asked(answered: Answered) -> int:
        before = len(llm.requests)
        phases = phases_over(
            Supervisor(llm, validator()),
            tools,
            PlainInvoker({}),
            AsSaid(),
            NoSituations(),
            TextRanking(NoEmbedder()),
            answered=answered,
        )
        await phases.perform(operation, run, grant(20), lambda _: None, lambda *_: None)
        return sum(question in str(one.messages) for one in list(llm.requests)[before:])

    known = Answered()
    return [await asked(one) for one in (known, known, Answered())]


def test_prompts_of_a_run_begin_as_the_warm_up_reads_them() -> None:
    """The openings that are read before there is a run are those of its decisions, of the questions about its request, and of
    its plan."""
    written = replace(WRITE, composition=NOTE)
    tools, check, run = registry(), validator(WRITE), run_of()
    tools.register(WholeTool(written))
    llm = says({"text": "do", "likely": {"do": -0.1}})
    decisions = ConstrainedDecisions(Supervisor(llm, check))
    questions = (
        dependence_messages("User: a", "b"),
        *(way.messages("User: a", "b") for way in REWRITINGS.values()),
    )
    expected = (
        fitting_messages("b", ())[:-1],
        EXACT.messages("a", "b")[:-1],
        arguments_messages(WRITE, run, Situation())[:-1],
        SUBJECT.messages("b")[:-1],
        INTENT.messages("b")[:-1],
        ANSWER_KNOWN.messages("b")[:-1],
        SMALL_TALK.messages("b")[:-1],
        results_messages(run, Situation(), ())[:-1],
        decisions.opening(tools.specs(), ""),
        composing_opening(NOTE),
        CORRECTION.messages("A a: c", "b")[:-1],
        WANTED.messages("b")[:-1],
        EXTENT.messages("b")[:-1],
        PLACE.messages("b")[:-1],
        REMOVAL.messages("a", "b")[:-1],
        NAMING.messages("a", "c", "b")[:-1],
        READING.messages("a", "b")[:-1],
        not_found_messages("b", ("a",), ())[:-1],
        translation_messages("b", "a", "German")[:-1],
        search_messages("b")[:-1],
        text_messages(run, Situation(), ())[:-1],
        Preamble(tools, check).messages(run),
        *(messages[:-1] for messages in questions),
    )
    openings = usual_openings(llm, tools, PlainInvoker({}), check)()
    assert [[m.content for m in one] for one in openings] == [[m.content for m in one] for one in expected]


def test_the_form_of_decisions_follows_the_loaded_model() -> None:
    """Native tool calls are used as long as the loaded model has them, and JSON under a schema otherwise."""
    llm, check = says(), validator()
    current = decisions_of(Supervisor(llm, check))
    assert isinstance(current(), ConstrainedDecisions)
    llm.script = llm.script.model_copy(update={"tool_calls": True})
    assert isinstance(current(), NativeDecisions)
    llm.script = llm.script.model_copy(update={"tool_calls": False})
    assert isinstance(current(), ConstrainedDecisions)
