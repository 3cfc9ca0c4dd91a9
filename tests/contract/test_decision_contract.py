"""Guarantees of every DecisionModel: JSON under a schema and native tool calls, over a script and over real engines.

A model this small chooses badly. The tests check the form: every decision is one of those offered, or a problem.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import anyio
import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.capabilities.llm.external.remote_engine import RemoteSettings
from aeond.domain.llm import ToolChoice
from aeond.domain.outcome import Outcome
from aeond.domain.runs.budgets import Grant
from aeond.domain.tools import Effect, ToolCall, ToolSpec
from aeond.orchestration.decision.forms.constrained import ConstrainedDecisions
from aeond.orchestration.decision.forms.native import NativeDecisions
from aeond.orchestration.decision.interfaces import CallTool, Decision, DecisionModel, GiveAnswer, Offer, Turn
from aeond.orchestration.repair.supervisor import Supervisor
from aeond.ports import LLMAdapter, TextSink
from tests.support.engine import CONTEXT_LENGTH, SmallEngine, running_engine
from tests.support.remote import remote
from tests.support.strategy import grant, validator
from tests.support.surfaces import wait_for
from tests.support.vllm import TEMPLATE, RealVllm

DICE = ToolSpec(
    "dice",
    "Throws a dice.",
    {
        "type": "object",
        "properties": {"sides": {"type": "integer", "minimum": 2, "maximum": 20}},
        "required": ["sides"],
        "additionalProperties": False,
    },
    {"type": "object"},
    Effect.PURE,
)
OFFER = Offer((DICE,))
THROWN = (Turn(ToolCall("dice", {"sides": 6}), "4"),)
ONCE = "It cannot be thrown again."
SCRIPT = Script(
    context_length=CONTEXT_LENGTH,
    piece_chars=4,
    rules=(
        Rule(contains="never answer", stall=True),
        Rule(pattern="(?s)Throw.*4$", json={"cannot": ONCE}, calls=({"cannot": {"text": ONCE}},)),
        Rule(contains="Throw", json={"dice": {"sides": 6}}, calls=({"dice": {"sides": 6}},)),
    ),
)


def unseen(_text: str) -> None:
    """Discards the streamed text."""


@dataclass(frozen=True)
class Subject:
    """A DecisionModel, its adapter, and a check that no request is running. `scripted` models follow a script. A chat
    template without tools puts none of them into the prompt."""

    model: DecisionModel
    llm: LLMAdapter
    is_idle: Callable[[], Awaitable[bool]]
    scripted: bool = False
    template_has_tools: bool = True

    async def decide(
        self, request: str, budget: Grant, turns: tuple[Turn, ...] = (), show: TextSink = unseen
    ) -> Outcome[Decision | None]:
        opening = self.model.opening(OFFER.tools, "")
        messages = self.model.conversation(opening, request, turns, "")
        return await self.model.decide(messages, OFFER, budget, show)


def constrained(llm: LLMAdapter) -> ConstrainedDecisions:
    return ConstrainedDecisions(Supervisor(llm, validator(DICE)))


def native(llm: LLMAdapter) -> NativeDecisions:
    """Over a real model, which is made to call: whether it would by itself is not what is shown."""
    return NativeDecisions(Supervisor(llm, validator(DICE)), ToolChoice.REQUIRED)


def scripted(*, tool_calls: bool) -> Subject:
    llm = ScriptedLLM(SCRIPT.model_copy(update={"tool_calls": tool_calls}))

    async def is_idle() -> bool:
        return llm.in_flight == 0

    return Subject(native(llm) if tool_calls else constrained(llm), llm, is_idle, scripted=True)


@pytest.fixture(scope="module")
async def native_llama_cpp(
    anyio_backend: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[SmallEngine]:
    """An engine whose model is said to call tools, with a chat template that has them."""
    folder = tmp_path_factory.mktemp("native")
    async with running_engine(folder, tool_parser="template", chat_template=TEMPLATE) as running:
        yield running


@pytest.fixture
def native_vllm(vllm_engine: RealVllm) -> Subject:
    """The same engine, asked for tool calls."""
    return Subject(native(vllm_engine.llm), vllm_engine.llm, vllm_engine.is_idle)


@pytest.fixture
async def native_remote(small_engine: SmallEngine) -> AsyncIterator[Subject]:
    """llama.cpp's server as a server that is not managed by the daemon."""
    settings = RemoteSettings(tool_calls=True)
    async with remote(f"unix:{small_engine.socket}", settings=settings) as (llm, engine):
        await engine.ready()
        yield Subject(native(llm), llm, small_engine.is_idle, template_has_tools=False)


REAL = ("llama_cpp", "native_llama_cpp", "native_remote")
VLLM = ("vllm_engine", "native_vllm")


@pytest.fixture(
    params=[
        "scripted",
        "native_scripted",
        *(pytest.param(name, marks=pytest.mark.model) for name in REAL),
        *(pytest.param(name, marks=pytest.mark.vllm) for name in VLLM),
    ]
)
def subject(request: pytest.FixtureRequest) -> Subject:
    match request.param:
        case "scripted" | "native_scripted" as name:
            return scripted(tool_calls=name.startswith("native"))
        case "llama_cpp":
            small: SmallEngine = request.getfixturevalue("small_engine")
            return Subject(constrained(small.llm), small.llm, small.is_idle)
        case "native_llama_cpp" as name:
            calling: SmallEngine = request.getfixturevalue(name)
            return Subject(native(calling.llm), calling.llm, calling.is_idle)
        case "vllm_engine" as name:
            running = request.getfixturevalue(name)
            return Subject(constrained(running.llm), running.llm, running.is_idle)
        case name:
            found: Subject = request.getfixturevalue(name)
            return found


def check_form(outcome: Outcome[Decision | None]) -> None:
    """A call is of the offered tool and fits its schema, an answer has text, and anything else is a problem."""
    match outcome.value:
        case CallTool(call=call):
            assert not validator(DICE).validate_tool_call(call, DICE)
        case GiveAnswer(text=text):
            assert text
        case decision:
            assert decision is None
            assert outcome.problem is not None
            assert outcome.problem.reason == "ANSWER_CUT"


async def test_a_decision_is_one_of_those_offered(subject: Subject) -> None:
    """The decision is a call with arguments that fit, or a text; and it is paid for from the grant."""
    budget = grant()
    outcome = await subject.decide("Throw a dice with 6 sides.", budget)
    check_form(outcome)
    if subject.scripted:
        assert outcome.value == CallTool(ToolCall("dice", {"sides": 6}))
    assert budget.left.llm_calls < 10
    assert budget.left.tokens < 100_000


async def test_results_go_back_to_the_model(subject: Subject) -> None:
    """After a call and its result the model decides again."""
    outcome = await subject.decide("Throw a dice with 6 sides.", grant(), THROWN)
    check_form(outcome)
    if subject.scripted:
        assert outcome.value == GiveAnswer(ONCE, fulfilled=False)


async def test_only_the_text_of_an_answer_is_shown(subject: Subject) -> None:
    """The screen ends with the answer's own text, or nothing."""
    shown: list[str] = []
    outcome = await subject.decide("Throw a dice with 6 sides.", grant(), THROWN, shown.append)
    last = max((place for place, piece in enumerate(shown) if piece == ""), default=-1)
    remaining = "".join(shown[last + 1 :]).strip()
    assert remaining == "" or (isinstance(outcome.value, GiveAnswer) and remaining == outcome.value.text)


async def test_a_spent_grant_is_a_problem(subject: Subject) -> None:
    """Without a model call left, the model is not asked."""
    outcome = await subject.decide("Throw a dice.", grant(0))
    assert outcome.value is None
    assert outcome.problem is not None
    assert outcome.problem.reason == "BUDGET_SPENT"


async def test_a_prompt_that_is_too_long_is_a_problem(subject: Subject) -> None:
    """A conversation beyond the model's context is refused with its size, and nothing is cut."""
    outcome = await subject.decide("Throw a dice. " * CONTEXT_LENGTH, grant())
    assert outcome.value is None
    assert outcome.problem is not None
    assert outcome.problem.reason == "CONTEXT_TOO_LONG"


async def test_tools_are_counted_in_the_prompt(subject: Subject) -> None:
    """The tools that go beside the messages take a part of the context, by the model's own template."""
    messages = subject.model.conversation(subject.model.opening(OFFER.tools, ""), "Throw a dice.", (), "")
    tools = subject.model.tools(OFFER)
    plain, whole = await subject.llm.count_tokens(messages), await subject.llm.count_tokens(messages, tools)
    assert (whole > plain) is (bool(tools) and subject.template_has_tools)


async def test_a_cancelled_decision_frees_the_engine(subject: Subject) -> None:
    """A caller that stops waiting leaves no request running."""
    with anyio.move_on_after(0.2) as scope:
        await subject.decide("Throw a dice, or never answer this at all.", grant())
        scope.cancel()
    await wait_for(subject.is_idle)
