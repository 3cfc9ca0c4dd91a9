"""Runs as answers of the OpenAI API, over the real API of the daemon: which question a message answers, and what a lost
connection cancels."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
import pytest

from aeond.domain.plans.approvals import ApprovalRequest
from aeond.domain.plans.plan import Plan, PlanStep
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs.budgets import Amounts, Budget
from aeond.domain.runs.events import (
    AnswerComposed,
    ApprovalDecided,
    ApprovalRequested,
    CancelRequested,
    Event,
    EventKind,
    InputAnswered,
    InputRequested,
    PassStarted,
    PlanAdopted,
    RunCreated,
    RunEnded,
    RunStarted,
    StepStarted,
)
from aeond.domain.runs.questions import InputRequest, Question
from aeond.domain.runs.run import Ancestry, Answer, Owner, PlanSource, RunSnapshot, RunState
from aeond.domain.tools import Recovery, ToolCall
from aeond.facades.openai.conversations import Conversations
from aeond.facades.openai.failures import ApiError
from aeond.facades.openai.parts import Part, Prompt, Said, Started, Text
from aeond.facades.openai.runs import answered
from aeond_client import AsyncClient, Run
from tests.support.api_calls import START_TIME
from tests.support.api_world import DEADLINE_SECONDS, ApiWorld, world

__all__ = ["world"]

STEPS = tuple(PlanStep(name, name, ToolCall("any", {"of": name})) for name in ("s1", "s2"))
BEGUN: tuple[EventKind, ...] = (
    RunStarted(),
    PlanAdopted(Plan("both", STEPS), PlanSource.CLIENT),
    PassStarted(1),
    *(StepStarted(step, 1, StepMode.TOOL, Recovery.RERUN, Amounts(ttl=1)) for step in STEPS),
)
COLOUR = InputRequested(Question("s1.1", "s1", InputRequest("Which colour?"), START_TIME))
FOLDER = InputRequested(Question("s2.1", "s2", InputRequest("Which folder?"), START_TIME))
APPROVAL = ApprovalRequested(
    "s1", ApprovalRequest("a1", ("s1",), (ToolCall("any", {"of": "s1"}),), ("d",), "digest", "a change")
)
APPROVED = ApprovalDecided("a1", True, Owner(), "digest")
DONE: tuple[EventKind, ...] = (AnswerComposed(Answer("Done.")), RunEnded(RunState.SUCCEEDED))


@dataclass
class Chat:
    """A chat with the model `aeond`, each request of which has all the earlier messages."""

    world: ApiWorld
    client: AsyncClient
    said: tuple[Said, ...] = ()
    run_id: str = ""
    conversations: Conversations = field(default_factory=lambda: Conversations(lambda: START_TIME))

    def parts(self, *messages: str, request_id: str = "", previous: str = "") -> AsyncGenerator[Part, None]:
        said = tuple(Said("user", message) for message in messages)
        prompt = Prompt("aeond", (*self.said, *said), request_id=request_id, previous=previous)
        return answered(self.client, prompt, self.conversations)

    async def say(
        self,
        *messages: str,
        then: tuple[EventKind, ...] = (),
        below: tuple[tuple[EventKind, ...], ...] = (),
        request_id: str = "",
    ) -> str:
        """The answer to these messages; once it has begun, these events happen in the run, and in new runs below it."""
        text = ""
        async with aclosing(self.parts(*messages, request_id=request_id)) as parts:
            async for part in parts:
                if isinstance(part, Started):
                    self.run_id = part.name.partition("_")[0]
                    self.happen(*then)
                    for kinds in below:
                        self.start_child(*kinds)
                text += part.text if isinstance(part, Text) else ""
        self.said += (*(Said("user", message) for message in messages), Said("agent", text))
        return text

    def happen(self, *kinds: EventKind) -> None:
        for kind in kinds:
            self.world.behind.runs.happen(self.run_id, kind)

    def start_child(self, *kinds: EventKind) -> None:
        """Starts a run below the run, in which these events happen."""
        runs = self.world.behind.runs
        run_id = f"child-{len(runs.snapshots)}"
        runs.snapshots[run_id], runs.journals[run_id] = RunSnapshot(run_id), []
        request = runs.snapshots[self.run_id].request
        created = RunCreated(request, Budget(), None, ancestry=Ancestry(self.run_id, "s1"))
        for kind in (created, *kinds):
            runs.happen(run_id, kind)

    def kinds(self) -> list[Any]:
        """The events of all runs."""
        journals = self.world.behind.runs.journals.values()
        return [event.kind for journal in journals for event in journal if isinstance(event, Event)]

    def answers(self) -> list[Any]:
        return [kind.answer for kind in self.kinds() if isinstance(kind, InputAnswered)]

    def is_cancelled(self) -> bool:
        return any(isinstance(kind, CancelRequested) for kind in self.kinds())


@pytest.fixture
async def chat(world: ApiWorld) -> AsyncIterator[Chat]:
    async with AsyncClient(str(world.socket_path)) as client:
        yield Chat(world, client)


async def test_questions_that_are_open_together_are_asked_one_after_another(chat: Chat) -> None:
    """A question that was open before its turn ends the next answer, and each message answers the one that was shown."""
    with anyio.fail_after(DEADLINE_SECONDS):
        assert await chat.say("do it", then=(*BEGUN, COLOUR, FOLDER)) == "Which colour?"
        assert await chat.say("red") == "Which folder?"
        assert await chat.say("home", then=DONE) == "Done."
    assert chat.answers() == ["red", "home"]


async def test_questions_of_several_runs_below_are_asked_one_after_another(chat: Chat) -> None:
    """The question of one run below waits while that of another one is answered, and is shown next."""
    chat.conversations = Conversations(lambda: START_TIME + 100)  # after all that happens
    with anyio.fail_after(DEADLINE_SECONDS):
        below = ((*BEGUN, COLOUR), (*BEGUN, FOLDER))
        assert await chat.say("do it", then=BEGUN, below=below) == "Which colour?"
        assert await chat.say("red") == "Which folder?"
        assert await chat.say("home", then=DONE) == "Done."
    assert chat.answers() == ["red", "home"]


async def test_a_message_answers_no_question_that_was_not_shown(chat: Chat) -> None:
    """A question that was asked after the last answer is shown by the next one, whatever the message says."""
    with anyio.fail_after(DEADLINE_SECONDS):
        assert "needs your approval" in await chat.say("do it", then=(*BEGUN, APPROVAL))
        with pytest.raises(ApiError, match="waits for an approval"):
            await chat.say("continue")
        chat.happen(APPROVED, FOLDER)
        assert await chat.say("continue") == "Which folder?"
        assert chat.answers() == []
        assert await chat.say("home", then=DONE) == "Done."
    assert chat.answers() == ["home"]


async def test_the_last_message_is_the_answer(chat: Chat) -> None:
    """Of several messages after a question, the last one answers it, as it stands."""
    with anyio.fail_after(DEADLINE_SECONDS):
        await chat.say("do it", then=(*BEGUN, COLOUR))
        await chat.say("green", "blue", then=DONE)
    assert chat.answers() == ["blue"]


class WatchedClient(AsyncClient):
    """A client one of whose calls says that it has begun."""

    def __init__(self, socket: str, call: str) -> None:
        super().__init__(socket)
        self.call, self.begun = call, anyio.Event()

    async def create_run(self, *arguments: Any, **options: Any) -> Run:
        return await self._noted("create_run", super().create_run(*arguments, **options))

    async def get_run(self, run_id: str) -> Run:
        return await self._noted("get_run", super().get_run(run_id))

    async def _noted(self, call: str, result: Awaitable[Run]) -> Run:
        if call == self.call:
            self.begun.set()
        return await result


@pytest.mark.parametrize("call", ["create_run", "get_run"])
async def test_a_hang_up_before_the_first_part_cancels_the_run(world: ApiWorld, call: str) -> None:
    """A client that goes away while its run is created, or before anything is sent, has cancelled it."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with WatchedClient(str(world.socket_path), call) as client:
            chat = Chat(world, client)
            async with anyio.create_task_group() as group:
                group.start_soon(chat.say, "do it")
                await client.begun.wait()
                group.cancel_scope.cancel()
    assert chat.is_cancelled()


async def test_a_repeated_request_has_the_answer_of_its_run(chat: Chat) -> None:
    """A lost connection does not cancel the run of a request with an idempotency key, whose repeat gets the answer."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with anyio.create_task_group() as lost:
            lost.start_soon(partial(chat.say, "do it", request_id="once"))
            await chat.world.behind.runs.watchers.reaches(1)
            lost.cancel_scope.cancel()
        assert await chat.say("do it", then=(*BEGUN, *DONE), request_id="once") == "Done."
    assert not chat.is_cancelled()


async def test_the_last_connection_that_is_lost_cancels(chat: Chat) -> None:
    """A run that a repeat follows is not cancelled by the loss of another connection, and stays busy until the last."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with aclosing(chat.parts("do it", request_id="once")) as first:
            response = f"resp_{(await anext(first)).name}"  # type: ignore[union-attr] # the first part is Started
        async with (
            aclosing(chat.parts("go on", previous=response)) as following,
            aclosing(chat.parts("do it", request_id="once")) as repeat,
        ):
            await anext(following)
            await anext(repeat)
            await following.aclose()
            assert not chat.is_cancelled()
            with pytest.raises(ApiError, match="is being answered"):
                await anext(chat.parts("go on", previous=response))
        async with aclosing(chat.parts("go on", previous=response)) as following:
            await anext(following)
    assert chat.is_cancelled()
