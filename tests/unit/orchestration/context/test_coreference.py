import json
from dataclasses import replace
from typing import Any

from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.run import RunRequest
from aeond.domain.sessions import SessionPast
from aeond.errors import StoreError
from aeond.orchestration.context.coreference import ModelReferences
from aeond.orchestration.context.session_context import SessionContextBuilder
from aeond.orchestration.interfaces import Resolved
from aeond.orchestration.prompts.coreference_prompts import REWRITINGS, Dependence, dependence_messages
from tests.support.sessions import ScriptedHistory, talk
from tests.support.strategy import grant, run_of, says

TALK = ("What is 17 times 23?", "391")
CONTEXT = "User: What is 17 times 23?\nAssistant: 391"


def reply(found: str, request: str, kind: Dependence = Dependence.POINTS) -> str:
    return json.dumps({REWRITINGS[kind].found: found, "request": request})


class Desk:
    """A resolver with its model, its grant and the earlier messages."""

    def __init__(
        self,
        *answers: Any,
        kind: str = Dependence.POINTS,
        talk_: tuple[str, ...] = TALK,
        calls: int = 2,
        tokens: int = 12_000,
    ) -> None:
        self.llm = says(json.dumps(kind), *answers)
        self.grant = grant(calls, tokens)
        self.contexts = SessionContextBuilder(
            ScriptedHistory(SessionPast(messages=talk(*talk_))), self.llm, 1_000
        )

    async def resolve(self, said: str) -> Resolved:
        run = replace(run_of(), request=RunRequest(said, session_id="talk"))
        resolved = (await ModelReferences(self.llm, self.contexts).resolve(run, self.grant)).value
        assert self.grant.used.exceeding(self.grant.reservation) == ""
        return resolved


async def test_references_are_spelled_out() -> None:
    """Two calls make of "half of that" half of what was answered, and the context goes with it."""
    desk = Desk(reply("391", "How much is half of 391?"))
    assert await desk.resolve("and how much is half of that?") == Resolved(
        "How much is half of 391?", CONTEXT
    )
    assert desk.grant.used.llm_calls == 2
    assert len(desk.llm.requests) == 2


async def test_the_calls_are_constrained_and_end_with_what_changes() -> None:
    """The model writes under a schema, after rules and examples that are the same for every request."""
    desk = Desk(reply("391", "Half of 391?"))
    await desk.resolve("Half of that?")
    others = (
        dependence_messages("User: a\nAssistant: b", "And that?"),
        REWRITINGS[Dependence.POINTS].messages("User: a\nAssistant: b", "And that?"),
    )
    for request, other in zip(desk.llm.requests, others, strict=True):
        assert request.schema is not None
        assert len(str(request.schema)) < 500
        assert request.messages[-1].content == f"{CONTEXT}\n\nLast request: Half of that?"
        assert [m.content for m in other[:-1]] == [m.content for m in request.messages[:-1]]


async def test_what_is_only_different_is_put_into_the_earlier_request() -> None:
    """A request that says what is different is rewritten by rules and examples of its own."""
    desk = Desk(
        reply("What is 17 times 23?", "What is 17 times 19?", Dependence.DIFFERS), kind=Dependence.DIFFERS
    )
    assert (await desk.resolve("And 19?")).text == "What is 17 times 19?"
    assert desk.llm.requests[1].messages[0].content == REWRITINGS[Dependence.DIFFERS].rules


async def test_a_request_that_is_understood_alone_is_not_written_again() -> None:
    """It stays as it is, without a second call and without a note."""
    desk = Desk(kind=Dependence.ALONE)
    said = "Which metal is the hardest?"
    assert await desk.resolve(said) == Resolved(said, CONTEXT)
    assert len(desk.llm.requests) == 1


async def test_an_earlier_request_is_added_where_the_new_one_is_not_believed() -> None:
    """When the rewritten request names something never said, the earlier request is added to the user's words."""
    desk = Desk(
        reply("What is 17 times 23?", "What is 20 times 5?", Dependence.DIFFERS), kind=Dependence.DIFFERS
    )
    resolved = await desk.resolve("And 19 times 3?")
    assert resolved.text == "And 19 times 3? (What is 17 times 23?)"
    assert resolved.note.startswith("what it rests on was added: the rewritten request names '20'")


async def test_without_a_past_nothing_is_asked() -> None:
    """In a session in which nothing was said the request is what it is, and the model is left alone."""
    desk = Desk(talk_=())
    assert await desk.resolve("and half of that?") == Resolved("and half of that?")
    assert not desk.llm.requests


async def test_a_complete_request_stays() -> None:
    """A request that the model repeats unchanged is resolved to itself, without a note."""
    said = "Which metal is the hardest?"
    assert await Desk(reply("", said)).resolve(said) == Resolved(said, CONTEXT)


async def test_an_invention_is_not_believed() -> None:
    """A rewrite with a number or name that was never said is dropped, and the note says why."""
    for invented in ("How much is half of 392?", "How much is half of Bettina's 391?"):
        resolved = await Desk(reply("", invented)).resolve("and how much is half of that?")
        assert resolved.text == "and how much is half of that?"
        assert resolved.context == CONTEXT
        assert resolved.note.startswith("kept as said: the rewritten request names")


async def test_an_answer_is_no_request() -> None:
    """A model that answers instead is not believed either."""
    resolved = await Desk(reply("", "391 divided by 2 is 195.5")).resolve("and how much is half of that?")
    assert resolved.text == "and how much is half of that?"
    assert resolved.note


async def test_a_found_referent_is_added_to_the_request() -> None:
    """When the words stay but the model found in the conversation what they point to, that is added."""
    said = "and how much is half of that?"
    for request, why in ((said, ""), ("195.5", "195.5")):
        resolved = await Desk(reply("17 times 23", request)).resolve(said)
        assert resolved.text == "and how much is half of that? (17 times 23)"
        assert resolved.note.startswith("what it rests on was added")
        assert why in resolved.note


async def test_only_words_of_the_conversation_are_added() -> None:
    """Only words of the conversation that the request does not have already are added."""
    said = "and how much is half of that?"
    for found in ("a cake", "half of that", "", "17 times 24"):
        assert (await Desk(reply(found, said)).resolve(said)).text == said


async def test_what_one_way_leaves_unchanged_is_rewritten_the_other_way() -> None:
    """A request that rests on something and came back unchanged is written once more by the other rules; if that fails too,
    the words that were found first are added."""
    said = "And the half of that?"
    unchanged = reply("What is 17 times 23?", said, Dependence.DIFFERS)
    desk = Desk(unchanged, reply("391", "And the half of 391?"), kind=Dependence.DIFFERS, calls=3)
    assert (await desk.resolve(said)).text == "And the half of 391?"
    desk = Desk(unchanged, reply("391", "195.5"), kind=Dependence.DIFFERS, calls=3)
    assert (await desk.resolve(said)).text == f"{said} (What is 17 times 23?)"
    desk = Desk(unchanged, kind=Dependence.DIFFERS, calls=2)
    assert (await desk.resolve(said)).text == f"{said} (What is 17 times 23?)"


async def test_other_letters_are_no_rewrite() -> None:
    """A request that came back with another case or full stop alone counts as unchanged."""
    said = "und am Sonntag?"
    other = reply("Wann ist auf?", "Wann ist am Sonntag auf?", Dependence.DIFFERS)
    desk = Desk(reply("", "Und am Sonntag?"), other, calls=3, talk_=("Wann ist auf?", "Um 9"))
    assert (await desk.resolve(said)).text == "Wann ist am Sonntag auf?"


async def test_an_unreadable_kind_counts_as_one_that_points_back() -> None:
    """A model that names no kind is asked to replace the words that point back."""
    desk = Desk(reply("391", "Half of 391?"), kind="none of these")
    assert (await desk.resolve("Half of that?")).text == "Half of 391?"


async def test_nonsense_keeps_the_words() -> None:
    """Output that is no such object, or is cut off, changes nothing."""
    for nonsense in ("", "hello", "[]", '{"request": 7}', '{"request": "half of 391?'):
        resolved = await Desk(nonsense).resolve("Half of that?")
        assert (resolved.text, resolved.context) == ("Half of that?", CONTEXT)
        assert resolved.note
    cut = await Desk("x " * 2_000).resolve("Half of that?")
    assert (cut.text, cut.note) == ("Half of that?", "kept as said: the rewritten request was cut off")


async def test_a_long_request_is_not_written_again() -> None:
    """A request of more than some lines goes on as it is."""
    said = "Read this: " + "it is what it is " * 100
    desk = Desk()
    assert await desk.resolve(said) == Resolved(said, CONTEXT, "too long to be written again")
    assert not desk.llm.requests


async def test_without_a_budget_the_words_go_on() -> None:
    """A run that has no model calls left goes on with the user's words and the context."""
    desk = Desk(calls=0)
    resolved = await desk.resolve("Half of that?")
    assert (resolved.text, resolved.context) == ("Half of that?", CONTEXT)
    assert "BUDGET_SPENT" in resolved.note
    assert desk.grant.used == Amounts()


async def test_a_model_that_fails_leaves_the_words() -> None:
    """When the call fails the words go on with the context, as a failure that may be tried again."""
    desk = Desk({"fail": "LLM_FAILED", "retryable": True})
    run = replace(run_of(), request=RunRequest("Half of that?", session_id="talk"))
    outcome = await ModelReferences(desk.llm, desk.contexts).resolve(run, desk.grant)
    assert not outcome.ok
    assert outcome.value.text == "Half of that?"
    assert outcome.value.context == CONTEXT


async def test_a_session_that_cannot_be_read_is_no_reason_to_fail() -> None:
    """When the store fails the words go on alone, and the note says so."""

    class Broken(ScriptedHistory):
        async def read(self, session_id: str, run_id: str) -> SessionPast:
            raise StoreError("no disk", reason="SESSIONS_FAILED")

    llm = says()
    run = replace(run_of(), request=RunRequest("Half of that?", session_id="talk"))
    outcome = await ModelReferences(llm, SessionContextBuilder(Broken(), llm, 100)).resolve(run, grant())
    assert not outcome.ok
    assert outcome.value == Resolved(
        "Half of that?", note="the session's context is not available (SESSIONS_FAILED)"
    )


async def test_earlier_statements_accompany_the_request() -> None:
    """The earlier statements of the user reach later prompts whether the request was rewritten or not."""
    rule = "Always answer in German."
    rewritten = Desk(reply("391", "How much is half of 391?"), talk_=(rule, "Gut.", *TALK))
    assert (await rewritten.resolve("and how much is half of that?")).standing == (rule,)
