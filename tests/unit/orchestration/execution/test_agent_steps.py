from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import anyio
import pytest

from aeond.capabilities.llm.agent import LLMAgent
from aeond.domain.messages import Message, Role
from aeond.domain.outcome import Outcome
from aeond.domain.plans.plan import PlanStep
from aeond.domain.runs.budgets import Amounts, Grant
from aeond.domain.runs.run import PlanSource, RunSnapshot
from aeond.domain.values import JsonValue
from aeond.errors import ToolError
from aeond.orchestration.execution.agent_steps import AgentReasoner
from aeond.orchestration.execution.readiness import prepared_step
from aeond.orchestration.prompts.run_prompts import CUT_NOTE, SHORTENED_NOTE
from aeond.ports import StepOutput
from tests.support.strategy import grant, run_of, says, thinks
from tests.support.virtual_time import in_virtual_time

ALONE = thinks("s1", "Sing.")
LAST = thinks("s2", "What grows there?", "s1")


class TalkingAgent:
    """Answers with the content that it was given, and keeps the messages it received."""

    name = "talker"
    capabilities: Sequence[str] = ()

    def __init__(self, content: JsonValue, **metadata: JsonValue) -> None:
        self.answer = Message(Role.AGENT, content, metadata)
        self.asked: list[Message] = []

    async def process(self, message: Message) -> Message:
        self.asked.append(message)
        return self.answer

    async def stream(self, message: Message) -> AsyncIterator[Message]:
        yield await self.process(message)


class Room:
    """A reasoner with the built-in agent over a scripted model."""

    def __init__(self, *answers: Any, purse: Grant | None = None, **model: Any) -> None:
        self.llm = says(*answers, **model)
        self.grant = purse or grant(3, 12_000)
        self.shown: list[str] = []

    async def reason(
        self, step: PlanStep, run: RunSnapshot, agents: Mapping[str, Any] | None = None
    ) -> Outcome[StepOutput | None]:
        reasoner = AgentReasoner({"llm": LLMAgent(self.llm), **(agents or {})}, self.llm)
        prepared = prepared_step(step, run)
        outcome = await reasoner.reason(prepared, run, self.grant, self.shown.append)
        assert self.grant.used.exceeding(self.grant.reservation) == ""
        return outcome

    @property
    def asked(self) -> str:
        return "\n".join(str(message.content) for message in self.llm.requests[-1].messages)


async def test_the_only_step_of_a_models_plan_answers_the_request_itself() -> None:
    """A request that needs no tool reaches the model in the user's own words."""
    room = Room("La la la.")
    outcome = await room.reason(ALONE, run_of(ALONE, request="Sing me a song, please."))
    assert outcome.value == StepOutput("La la la.", "clear", "")
    assert room.llm.requests[0].messages[-1].content == "Sing me a song, please."
    assert "".join(room.shown) == "La la la."
    assert room.grant.used.llm_calls == 1
    assert room.grant.used.tokens < 100


async def test_a_later_step_sees_the_results_before_it() -> None:
    """The prompt of a step in the middle has its place and the upstream results, and asks only for its part."""
    middle = thinks("s2", "Name the herbs.", "s1")
    run = run_of(
        thinks("s1", "Look"), middle, thinks("s3", "Translate.", "s2"), outputs={"s1": {"herbs": ["mint"]}}
    )
    room = Room("mint")
    await room.reason(middle, run)
    for part in ("step 2 of 3", '{"herbs": ["mint"]}', "Name the herbs.", "What grows in the garden?"):
        assert part in room.asked


async def test_the_last_step_is_asked_for_the_answer() -> None:
    """The last step of a model's plan rests on the results and speaks to the user."""
    room = Room("Mint grows there.")
    await room.reason(LAST, run_of(thinks("s1", "Look"), LAST, outputs={"s1": {"herbs": ["mint"]}}))
    assert '{"herbs": ["mint"]}' in room.asked
    assert "aeond" in str(room.llm.requests[0].messages[0].content)


async def test_a_clients_step_is_its_own_task() -> None:
    """In a client's plan the step's description is the task, also when it is the only one."""
    room = Room("La.")
    await room.reason(ALONE, run_of(ALONE, source=PlanSource.CLIENT, request="ignored"))
    assert "Sing." in room.asked


async def test_an_answer_that_was_cut_says_so() -> None:
    """Text that hit its token limit is kept, marked as partly clear, and said to be cut."""
    room = Room("word " * 3_000)
    outcome = await room.reason(ALONE, run_of(ALONE))
    assert outcome.value is not None
    assert (outcome.value.clarity, outcome.value.handoff) == ("partially_clear", CUT_NOTE)


async def test_long_results_are_shortened_to_the_grant_and_that_is_reported() -> None:
    """Results beyond the grant are shortened visibly, and the step says that it rests on less."""
    purse = grant(1, 900)
    room = Room("much", purse=purse)
    outcome = await room.reason(LAST, run_of(thinks("s1", "Look"), LAST, outputs={"s1": "herb " * 5_000}))
    assert outcome.value is not None
    assert (outcome.value.clarity, outcome.value.handoff) == ("partially_clear", SHORTENED_NOTE)
    assert "characters left out" in room.asked


@pytest.mark.parametrize("purse", [Grant(Amounts()), grant(0, 5_000), grant(1, 10)])
async def test_a_spent_budget_is_a_problem(purse: Grant) -> None:
    """Without budget for prompt and answer no agent is asked."""
    room = Room({"text": "x"}, purse=purse)
    outcome = await room.reason(ALONE, run_of(ALONE, request="Sing a song about the herbs in my garden."))
    assert outcome.problem is not None
    assert outcome.problem.reason == "BUDGET_SPENT"
    assert purse.used == Amounts()
    assert not room.llm.requests


async def test_an_unknown_agent_is_a_problem() -> None:
    """A step of an agent that is not there fails by name."""
    step = PlanStep("s1", "x", agent="nobody")
    outcome = await Room().reason(step, run_of(step))
    assert outcome.problem is not None
    assert outcome.problem.reason == "AGENT_UNKNOWN"


async def test_a_dying_engine_is_asked_again() -> None:
    """A step whose engine dies on the way starts over and completes."""
    room = Room({"text": "half a song", "fail_after": 1, "gone": True, "times": 1}, "a whole song")
    outcome = await room.reason(ALONE, run_of(ALONE))
    assert outcome.value == StepOutput("a whole song", "clear", "")
    assert "".join(room.shown[room.shown.index("") :]) == "a whole song"


async def test_an_engine_that_was_given_up_is_the_problem_and_not_its_last_death() -> None:
    """Who is lost on the way and cannot be asked again because the engine is there no more fails by that."""
    llm = says({"text": "half a song", "fail_after": 1, "gone": True, "times": 1})

    def unload(text: str) -> None:
        if not text:  # the text is reset: the next try is about to begin
            llm.resident = ""

    outcome = await AgentReasoner({"llm": LLMAgent(llm)}, llm).reason(ALONE, run_of(ALONE), grant(), unload)
    assert outcome.problem is not None
    assert outcome.problem.reason == "NOT_RESIDENT"


async def test_a_loss_without_budget_for_another_try_is_the_problem() -> None:
    """Who is lost on the way and has nothing left to be asked with fails by the loss."""
    room = Room({"text": "half a song", "fail_after": 1, "gone": True}, purse=grant(1, 12_000))
    outcome = await room.reason(ALONE, run_of(ALONE))
    assert outcome.problem is not None
    assert outcome.problem.reason == "LLM_GONE"


async def test_a_failing_model_is_a_problem() -> None:
    """Another error of the model ends the step with its reason."""
    outcome = await Room({"fail": "BAD_ANSWER"}).reason(ALONE, run_of(ALONE))
    assert outcome.problem is not None
    assert outcome.problem.reason == "BAD_ANSWER"


async def test_another_agent_gets_text_and_its_bounds() -> None:
    """A third-party agent gets plain text, and its account of tokens is believed up to the grant."""
    used = {"prompt_tokens": 40, "completion_tokens": 2, "llm_calls": 2}
    agent = TalkingAgent({"herbs": 3}, clarity="blocked", handoff="ask again", used=used)
    step = PlanStep("s1", "Count.", agent="talker")
    room = Room()
    outcome = await room.reason(step, run_of(step), {"talker": agent})
    assert outcome.value == StepOutput({"herbs": 3}, "blocked", "ask again")
    (message,) = agent.asked
    assert isinstance(message.content, str)
    assert message.metadata["run_id"] == "run-1"
    assert message.metadata["step_id"] == "s1"
    assert room.grant.used == Amounts(llm_calls=2, tokens=42)
    assert room.shown == ['{"herbs": 3}']


@pytest.mark.parametrize(
    "used", [{}, {"prompt_tokens": 10**9, "llm_calls": 99}, {"prompt_tokens": -5, "llm_calls": "x"}]
)
async def test_no_agent_can_overshoot_the_grant(used: dict[str, JsonValue]) -> None:
    """Whatever an agent says that it used, the grant is not exceeded."""
    step = PlanStep("s1", "Count.", agent="talker")
    room = Room()
    await room.reason(step, run_of(step), {"talker": TalkingAgent("x", used=used)})
    assert 1 <= room.grant.used.llm_calls <= 3


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "AGENT_SILENT"),
        (None, "AGENT_SILENT"),
        (float("nan"), "OUTPUT_INVALID"),
        ("\ud800", "OUTPUT_INVALID"),
    ],
)
async def test_an_agent_that_says_nothing_readable_is_a_problem(content: JsonValue, reason: str) -> None:
    """Silence and text that is not JSON are no outputs."""
    step = PlanStep("s1", "Count.", agent="talker")
    outcome = await Room().reason(step, run_of(step), {"talker": TalkingAgent(content)})
    assert outcome.problem is not None
    assert outcome.problem.reason == reason


async def test_an_agent_that_fails_is_a_problem() -> None:
    """An error that an agent raises on purpose ends its step with that reason."""

    class FailingAgent(TalkingAgent):
        async def process(self, message: Message) -> Message:
            raise ToolError("The agent cannot.", reason="CANNOT", retryable=True)

    step = PlanStep("s1", "Count.", agent="talker")
    outcome = await Room().reason(step, run_of(step), {"talker": FailingAgent("")})
    assert outcome.problem is not None
    assert (outcome.problem.reason, outcome.problem.retryable) == ("CANNOT", True)


@pytest.mark.parametrize("capabilities", [(), ("stream",)])
def test_an_agent_that_never_answers_is_a_problem(capabilities: Sequence[str]) -> None:
    """An agent without a model has ten minutes for a step, as one with a model."""

    class SilentAgent(TalkingAgent):
        async def process(self, message: Message) -> Message:
            await anyio.sleep_forever()
            raise AssertionError

    async def scene() -> None:
        agent = SilentAgent("")
        agent.capabilities = capabilities
        step = PlanStep("s1", "Count.", agent="talker")
        outcome = await Room().reason(step, run_of(step), {"talker": agent})
        assert outcome.problem is not None
        assert outcome.problem.reason == "AGENT_TIMEOUT"

    in_virtual_time(scene)


async def test_a_timeout_within_an_agent_is_a_bug_in_it() -> None:
    """A TimeoutError that an agent lets through is not taken for the deadline of its step."""

    class ImpatientAgent(TalkingAgent):
        async def process(self, message: Message) -> Message:
            raise TimeoutError("of its own")

    step = PlanStep("s1", "Count.", agent="talker")
    with pytest.raises(TimeoutError, match="of its own"):
        await Room().reason(step, run_of(step), {"talker": ImpatientAgent("")})


async def test_an_unknown_clarity_counts_as_clear() -> None:
    """A clarity in other words than ours is not passed on."""
    step = PlanStep("s1", "Count.", agent="talker")
    outcome = await Room().reason(step, run_of(step), {"talker": TalkingAgent("3", clarity="crystal")})
    assert outcome.value == StepOutput("3", "clear", "")


async def test_a_step_that_the_model_cannot_do_is_blocked() -> None:
    """A model that begins with BLOCKED says that the results lack something for its step; the explanation is kept."""
    look, step, last = (
        thinks("s1", "List."),
        thinks("s2", "Count the herbs.", "s1"),
        thinks("s3", "Tell.", "s2"),
    )
    room = Room("BLOCKED: there is no list of herbs.")
    outcome = await room.reason(step, run_of(look, step, last, outputs={"s1": "roses"}))
    assert outcome.value is not None
    assert (outcome.value.clarity, outcome.value.output) == ("blocked", "there is no list of herbs.")
    assert "BLOCKED: and what is missing" in room.asked


async def test_a_step_that_rests_on_nothing_has_no_rule_about_missing_results() -> None:
    """The way out is offered only where results are given: without any, nothing can be missing in them."""
    first, last = thinks("s1", "Make up a rhyme."), thinks("s2", "Tell it.", "s1")
    room = Room("Herb and blurb.")
    await room.reason(first, run_of(first, last))
    assert "BLOCKED" not in room.asked


async def test_only_the_built_in_agent_is_blocked_by_a_word() -> None:
    """Another agent says how clear it is by its metadata, and its words are its own."""
    step = PlanStep("s1", "Talk.", agent="talker")
    outcome = await Room().reason(step, run_of(step), {"talker": TalkingAgent("BLOCKED: is a word")})
    assert outcome.value is not None
    assert (outcome.value.clarity, outcome.value.output) == ("clear", "BLOCKED: is a word")


async def test_the_prompt_has_the_request_with_its_references_spelled_out() -> None:
    """A step's prompt holds what the request means, not what it said."""
    room = Room("Mint.")
    await room.reason(ALONE, run_of(ALONE, request="And there?", resolved_text="What grows there?"))
    assert "What grows there?" in room.asked
    assert "And there?" not in room.asked


async def test_an_agent_gets_the_earlier_statements_of_the_user() -> None:
    """The prompt of a step that answers holds the earlier statements of the user."""
    room = Room("Minze.")
    run = run_of(thinks("s1", "Look"), LAST, outputs={"s1": {"herbs": ["mint"]}})
    await room.reason(LAST, replace(run, standing=("Always answer in German.",)))
    assert "Always answer in German." in room.asked
