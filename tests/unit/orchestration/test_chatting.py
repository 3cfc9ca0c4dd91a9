import json
from dataclasses import replace
from typing import Any

import pytest

from aeond.domain.outcome import Outcome
from aeond.domain.profiles import Route
from aeond.domain.runs import RunRequest, RunSnapshot
from aeond.domain.tools import ToolCall, ToolSpec
from aeond.orchestration.chat_prompts import TOOLS
from aeond.orchestration.contracts import RouteChoice
from aeond.orchestration.repair import ModelSupervisor
from aeond.orchestration.routing import ModelRouter
from tests.support.strategy import LOOK, grant, registry, run_of, says, spec, validator

WRITE = spec("write_file", {"path": {"type": "string"}}, ("path",))
CALL = json.dumps({"route": "direct", "tool": "look", "arguments": {"path": "garden"}})
CALLED = RouteChoice(Route.DIRECT, ToolCall("look", {"path": "garden"}))


class Talk:
    """A router whose run may use tools that the chat has examples of; what it shows is heard."""

    def __init__(
        self, *answers: Any, specs: tuple[ToolSpec, ...] = (WRITE, LOOK), llm_calls: int = 10
    ) -> None:
        self.llm = says(*answers, piece_chars=3)
        self.specs = specs
        self.grant = grant(llm_calls)
        self.heard: list[str] = []

    async def choose(self, run: RunSnapshot | None = None) -> Outcome[RouteChoice]:
        check = validator(*self.specs)
        router = ModelRouter(self.llm, registry(*self.specs), ModelSupervisor(self.llm, check), check)
        outcome = await router.choose(run or run_of(), self.grant, self.heard.append)
        assert self.grant.used.exceeding(self.grant.reservation) == ""
        return outcome

    @property
    def shown(self) -> str:
        """What a person reads in the end: "" begins anew."""
        begun = len(self.heard) - self.heard[::-1].index("") if "" in self.heard else 0
        return "".join(self.heard[begun:])


async def test_what_takes_no_tool_is_answered_by_the_first_call() -> None:
    """One plain call replies, shown as it comes, and no other is made."""
    talk = Talk("Herbs and roses grow there.")
    outcome = await talk.choose()
    assert outcome.value.route is Route.REPLY
    assert outcome.value.answer is not None
    assert outcome.value.answer.text == talk.shown == "Herbs and roses grow there."
    assert outcome.value.answer.synthesized
    assert len(talk.heard) > 2
    (asked,) = talk.llm.requests
    assert asked.schema is None
    assert talk.grant.used.llm_calls == 1


@pytest.mark.parametrize("said", [TOOLS, f" {TOOLS} write_file", '{"name": "look"}', "<tool_call>\n{}", " "])
async def test_what_takes_tools_is_routed_without_a_word(said: str) -> None:
    """The word for tools, and a call in a form of the model's own, lead to the choice; nobody hears of it."""
    talk = Talk(said, CALL)
    assert (await talk.choose()).value == CALLED
    assert talk.heard == []


async def test_a_reply_that_begins_like_the_word_is_shown_whole() -> None:
    """What was held back for its beginning is not lost."""
    for reply in ("@toast is a made-up name.", "@to"):
        talk = Talk(reply)
        assert (await talk.choose()).value.route is Route.REPLY
        assert talk.shown == reply


async def test_a_reply_whose_engine_dies_begins_anew() -> None:
    """What was shown of it is taken back."""
    talk = Talk({"text": "Herbs and", "gone": True, "fail_after": 2, "times": 1}, "Roses grow there.")
    outcome = await talk.choose()
    assert outcome.value.answer is not None
    assert outcome.value.answer.text == talk.shown == "Roses grow there."
    assert "" in talk.heard


async def test_a_reply_that_fails_is_taken_back_and_the_request_planned() -> None:
    """Half a reply is none."""
    talk = Talk({"text": "Herbs and roses", "fail": "BAD_ANSWER", "fail_after": 3})
    outcome = await talk.choose()
    assert outcome.value == RouteChoice(Route.PLAN)
    assert outcome.problem is not None
    assert outcome.problem.reason == "BAD_ANSWER"
    assert talk.heard[-1] == ""


async def test_a_reply_that_is_cut_says_so() -> None:
    """A reply that reached its bound is kept, with a note."""
    talk = Talk("rose " * 2_000)
    answer = (await talk.choose()).value.answer
    assert answer is not None
    assert answer.notes == ("the answer was cut off at its token limit",)


@pytest.mark.parametrize(
    ("talk", "run"),
    [
        (Talk(CALL, llm_calls=2), run_of()),
        (Talk(CALL, specs=(LOOK,)), run_of()),
        (
            Talk(CALL),
            replace(run_of(), request=RunRequest("What grows in the garden?", instructions="Be brief.")),
        ),
        (Talk(CALL), run_of(request="What did I say of the garden?")),
        (Talk(CALL), run_of(request="Remember the garden.")),
        (Talk(CALL), run_of(request="What grows in garden.md?")),
        (Talk(CALL), run_of(request="How many rows are 12 roses and 8 herbs?")),
        (Talk(CALL), run_of(request="Name the roses in this poem.")),
        (Talk(CALL), run_of(request="Translate roses.")),
    ],
    ids=[
        "too few calls",
        "no example",
        "instructions",
        "the user",
        "memory",
        "a file",
        "numbers",
        "what is not there",
        "half a command",
    ],
)
async def test_without_a_chat_the_request_is_routed(talk: Talk, run: RunSnapshot) -> None:
    """Where calls are scarce, nothing shows what takes tools, a Template says how to answer, or the request is about
    the user, what is remembered, a file or numbers, or leaves something out, only the choice is asked for."""
    assert (await talk.choose(run)).value == CALLED
    assert all(request.schema is not None for request in talk.llm.requests)


async def test_a_chat_is_told_of_the_tools_of_the_run_alone() -> None:
    """A tool that the rules do not speak of is named in a line; no example speaks of one that is not there."""
    talk = Talk("Roses.")
    await talk.choose(replace(run_of(request="And there?"), resolved_text="What grows in the park?"))
    told = [str(message.content) for message in talk.llm.requests[0].messages]
    assert "\nlook: The look tool" in told[0]
    assert "write_file" not in told[0]
    assert told[-1] == "What grows in the park?"
    assert any("and save it" in text for text in told)
    assert not any("Paris" in text for text in told)
