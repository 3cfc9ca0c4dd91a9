from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.domain.messages import Message, Role
from aeond.domain.sessions import SessionContext, SessionMessage, SessionPast
from aeond.errors import LLMError
from aeond.orchestration.context.session_context import MAX_STANDING_CHARS, SessionContextBuilder
from tests.support.sessions import ScriptedHistory, talk


def model(context_length: int = 32_768) -> ScriptedLLM:
    return ScriptedLLM(Script(context_length=context_length, rules=(Rule(text="x"),)))


def telling(*said: str, max_tokens: int = 1_000, context_length: int = 32_768) -> SessionContextBuilder:
    return SessionContextBuilder(
        ScriptedHistory(SessionPast(messages=talk(*said))), model(context_length), max_tokens
    )


def history_of(telling: SessionContextBuilder) -> ScriptedHistory:
    assert isinstance(telling.history, ScriptedHistory)
    return telling.history


GOAL = "Help me to plan a trip to Porto for four people."
MUST = (
    "It must cost at most 900 euros.",
    "Never book anything without asking me.",
    "Anna is allergic to nuts.",
    "Only trains, no planes.",
)
OPEN = "Which of the two hotels has a garden, and may dogs come?"


def long_talk(exchanges: int) -> list[SessionMessage]:
    """Hundreds of small questions; near the beginning a goal, what binds, and a question never answered."""
    messages: list[SessionMessage] = []
    for index in range(exchanges):
        request, answer = (
            f"Tell me fact number {index} about towns.",
            f"Town {index} has {index * 7} bridges. " * 6,
        )
        if index == 0:
            request = GOAL
        elif index % 9 == 4 and index // 9 < len(MUST):
            request = f"Thanks. {MUST[index // 9]} And what is near?"
        elif index == 12:
            request, answer = OPEN, ""
        messages.append(SessionMessage(2 * index + 1, f"r{index}", Role.USER, request, float(index)))
        if answer:
            messages.append(SessionMessage(2 * index + 2, f"r{index}", Role.AGENT, answer, index + 0.5))
    return messages


async def test_questions_are_told_as_they_were_said() -> None:
    """The assistant's question and the user's answer to it stand between request and answer."""
    messages = (
        SessionMessage(1, "r1", Role.USER, "Book a table.", 1.0),
        SessionMessage(2, "r1", Role.AGENT, "For how many?", 2.0, of_question=True),
        SessionMessage(3, "r1", Role.USER, "four", 3.0, of_question=True),
        SessionMessage(4, "r1", Role.AGENT, "Booked.", 4.0),
    )
    builder = SessionContextBuilder(ScriptedHistory(SessionPast(messages=messages)), model(), 1_000)
    assert (await builder.preview("s")).text == (
        "User: Book a table.\nAssistant: For how many?\nUser: four\nAssistant: Booked."
    )


async def test_a_session_in_which_nothing_was_said_tells_nothing() -> None:
    """No message, no context."""
    assert await telling().tell("s", "r") == SessionContext(max_tokens=1_000)


async def test_a_short_session_is_told_word_for_word() -> None:
    """A session that fits the budget is included verbatim, with nothing kept apart or digested."""
    told = telling("What is 17 times 23?", "391", "Thanks!", "You are welcome.")
    context = await told.tell("s", "r")
    assert context.text == (
        "User: What is 17 times 23?\nAssistant: 391\nUser: Thanks!\nAssistant: You are welcome."
    )
    assert (context.kept, context.digested_count, context.whole_count) == ((), 0, 2)
    assert context.tokens == await model().count_tokens((Message(Role.USER, context.text),))
    assert history_of(told).digests == []


async def test_a_run_without_an_answer_is_told() -> None:
    """A request that was never answered is marked as such."""
    assert (
        await telling("Book the hotel.").tell("s", "r")
    ).text == "User: Book the hotel.\nAssistant: (no answer)"


async def test_a_long_session_keeps_what_must_be_kept() -> None:
    """Of 400 messages the context holds goal, conditions and the open question verbatim and the last exchanges whole,
    within the budget, and the digest is kept for the next run."""
    history = ScriptedHistory(SessionPast(messages=tuple(long_talk(200))))
    told = SessionContextBuilder(history, model(), 600)
    context = await told.tell("s", "r")
    for line in (GOAL, *MUST, OPEN):
        assert line in context.text
        assert any(line in kept for kept in context.kept)
    assert "User: Tell me fact number 199 about towns." in context.text
    assert 300 < context.tokens <= 600
    assert context.digested_count + context.whole_count == 200
    assert len(history.digests) == 1
    assert await told.tell("s", "r2") == context


async def test_a_session_keeps_it_however_it_grows() -> None:
    """When the context is built after each of 300 exchanges, no constraint is lost, the budget holds each time, and
    only now and then something new is digested."""
    messages = long_talk(300)
    history = ScriptedHistory()
    told = SessionContextBuilder(history, model(), 600)
    by_run = [[m for m in messages if m.run_id == f"r{index}"] for index in range(300)]
    for index, said in enumerate(by_run):
        history.past = replace(history.past, messages=(*history.past.messages, *said))
        context = await told.tell("s", "next")
        assert context.tokens <= 600
        assert GOAL in context.text
        for place, line in enumerate(MUST):
            assert index < place * 9 + 4 or line in context.text
        assert index < 12 or OPEN in context.text
    assert len(history.digests) < 80


async def test_what_holds_is_told_apart_however_long_the_session() -> None:
    """Standing statements come whole and in order, from exchanges in the context and from digested ones."""
    history = ScriptedHistory(SessionPast(messages=tuple(long_talk(60))))
    told = await SessionContextBuilder(history, model(), 400).tell("s", "r")
    assert told.digested_count
    assert told.standing == (MUST[1], MUST[2])
    short = await telling("Always answer in German.", "Gut.", "Remember 7.", "Ja.").tell("s", "r")
    assert short.standing == ("Always answer in German.",)
    much = [text for index in range(40) for text in (f"Never forget rule number {index}.", "No.")]
    many = await telling(*much).tell("s", "r")
    assert many.standing[-1] == "Never forget rule number 39."
    assert sum(map(len, many.standing)) <= MAX_STANDING_CHARS


async def test_a_preview_changes_nothing() -> None:
    """A preview equals the context that a run would get, and keeps no digest."""
    history = ScriptedHistory(SessionPast(messages=tuple(long_talk(100))))
    told = SessionContextBuilder(history, model(), 500)
    shown = await told.preview("s")
    assert history.digests == []
    assert await told.tell("s", "") == shown
    assert len(history.digests) == 1


async def test_what_is_being_answered_is_not_digested() -> None:
    """A request whose run has not ended stays whole, so that its answer is not missed later."""
    messages = tuple(long_talk(60))
    history = ScriptedHistory(SessionPast(messages=messages, open_runs=frozenset({"r12"})))
    await SessionContextBuilder(history, model(), 400).tell("s", "r")
    assert history.digests[0].through == 2 * 11 + 1


async def test_a_huge_answer_is_shortened_visibly() -> None:
    """One exchange that is larger than the budget is included with its answer shortened, and says so."""
    context = await telling("Read all.", "many words " * 20_000, max_tokens=200).tell("s", "r")
    assert context.tokens <= 200
    assert context.text.startswith("User: Read all.\nAssistant: many words")
    assert "characters left out" in context.text


async def test_more_than_fits_goes_oldest_first() -> None:
    """When the constraints alone exceed the budget, the newest are included and a note says that older ones are not."""
    rules = [text for n in range(120) for text in (f"Never touch file number {n}.", "I will not.")]
    context = await telling(*rules, max_tokens=300).tell("s", "r")
    assert context.tokens <= 300
    assert "Never touch file number 119." in context.text
    assert "older ones are left out" in context.text


async def test_a_small_model_is_told_less() -> None:
    """However much is configured, a session takes no more than a third of the model's context."""
    context = await telling(*["word " * 50] * 40, max_tokens=5_000, context_length=600).tell("s", "r")
    assert context.max_tokens == 200
    assert 0 < context.tokens <= 200


async def test_without_a_tokenizer_nothing_is_told() -> None:
    """A model that cannot count fails the telling instead of guessing."""

    class Gone(ScriptedLLM):
        async def count_tokens(self, messages: object, tools: object = ()) -> int:
            raise LLMError("gone")

    history = ScriptedHistory(SessionPast(messages=talk("a", "b")))
    with pytest.raises(LLMError):
        await SessionContextBuilder(history, Gone(Script()), 100).tell("s", "r")


WORDS = st.sampled_from(
    [
        "tell",
        "show",
        "town",
        "bridge",
        "river",
        "7",
        "green",
        "walk",
        "Porto",
        "you",
        "know?",
        "fine!",
        "and",
        "(no)",
        "[x]",
    ]
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=12).map(" ".join)
TEXTS = st.lists(SENTENCES, min_size=1, max_size=5).map(". ".join)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    exchanges=st.lists(st.tuples(TEXTS, st.none() | TEXTS), min_size=1, max_size=60),
    rules=st.dictionaries(st.integers(0, 59), st.sampled_from(MUST), max_size=4),
    max_tokens=st.integers(400, 700),
)
async def test_no_session_loses_what_binds(
    exchanges: list[tuple[str, str | None]], rules: dict[int, str], max_tokens: int
) -> None:
    """Whatever is said around them, conditions are included verbatim within the exact budget."""
    messages: list[SessionMessage] = []
    said: list[str] = []
    for index, (request, answer) in enumerate(exchanges):
        rule = rules.get(index, "")
        said += [rule] if rule else []
        text = f"{request}.\n{rule}" if rule else request
        messages.append(SessionMessage(2 * index + 1, f"r{index}", Role.USER, text, 1.0))
        if answer is not None:
            messages.append(SessionMessage(2 * index + 2, f"r{index}", Role.AGENT, answer, 1.0))
    # Requests without an answer are open questions: included verbatim too, they would crowd out the rest.
    answered = tuple(m for m in messages if exchanges[(m.number - 1) // 2][1] is not None or m.text in said)
    asked = {m.text for m in answered if m.role is Role.USER}
    history = ScriptedHistory(SessionPast(messages=answered))
    context = await SessionContextBuilder(history, model(), max_tokens).tell("s", "r")
    assert context.tokens <= max_tokens
    assert context.tokens == (
        await model().count_tokens((Message(Role.USER, context.text),)) if context.text else 0
    )
    for rule in said:
        if any(text.endswith(rule) for text in asked):
            assert rule in context.text
