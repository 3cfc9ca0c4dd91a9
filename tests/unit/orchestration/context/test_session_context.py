from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.domain.messages import Message, Role
from aeond.domain.sessions import SessionContext, SessionMessage, SessionPast
from aeond.errors import LLMError
from aeond.orchestration.context.session_context import (
    KEPT_CHARS,
    MAX_STANDING_CHARS,
    SessionContextBuilder,
)
from aeond.orchestration.context.statements import comparison_key
from tests.support.sessions import ScriptedHistory, talk


def model(context_length: int = 32_768) -> ScriptedLLM:
    return ScriptedLLM(Script(context_length=context_length, rules=(Rule(text="x"),)))


def builder(*said: str, max_tokens: int = 1_000, context_length: int = 32_768) -> SessionContextBuilder:
    return SessionContextBuilder(
        ScriptedHistory(SessionPast(messages=talk(*said))), model(context_length), max_tokens
    )


def history_of(contexts: SessionContextBuilder) -> ScriptedHistory:
    assert isinstance(contexts.history, ScriptedHistory)
    return contexts.history


GOAL = "Help me to plan a trip to Porto for four people."
MUST = (
    "It must cost at most 900 euros.",
    "Never book anything without asking me.",
    "Anna is allergic to nuts.",
    "Only trains, no planes.",
)
OPEN = "Which of the two hotels has a garden, and may dogs come?"


def long_talk(exchanges: int) -> list[SessionMessage]:
    """Hundreds of small questions; near the beginning a goal, four conditions, and a question never answered."""
    messages: list[SessionMessage] = []
    for index in range(exchanges):
        request, answer = (
            f"What is fact number {index} about towns?",
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


async def test_questions_are_quoted() -> None:
    """The assistant's question and the user's answer to it are quoted between request and answer."""
    messages = (
        SessionMessage(1, "r1", Role.USER, "Book a table.", 1.0),
        SessionMessage(2, "r1", Role.AGENT, "For how many?", 2.0, of_question=True),
        SessionMessage(3, "r1", Role.USER, "four", 3.0, of_question=True),
        SessionMessage(4, "r1", Role.AGENT, "Booked.", 4.0),
    )
    contexts = SessionContextBuilder(ScriptedHistory(SessionPast(messages=messages)), model(), 1_000)
    assert (await contexts.preview("s")).text == (
        "User: Book a table.\nAssistant: For how many?\nUser: four\nAssistant: Booked."
    )


async def test_a_session_without_messages_has_no_context() -> None:
    """No message, no context."""
    assert await builder().build("s", "r") == SessionContext(max_tokens=1_000)


async def test_a_short_session_is_quoted() -> None:
    """A session that fits the budget is included verbatim, with nothing kept apart or digested."""
    contexts = builder("What is 17 times 23?", "391", "Thanks!", "You are welcome.")
    context = await contexts.build("s", "r")
    assert context.text == (
        "User: What is 17 times 23?\nAssistant: 391\nUser: Thanks!\nAssistant: You are welcome."
    )
    assert (context.kept, context.digested_count, context.whole_count) == ((), 0, 2)
    assert context.tokens == await model().count_tokens((Message(Role.USER, context.text),))
    assert history_of(contexts).digests == []


async def test_a_request_without_an_answer_is_marked() -> None:
    """A request that was never answered is marked as such."""
    assert (
        await builder("Book the hotel.").build("s", "r")
    ).text == "User: Book the hotel.\nAssistant: (no answer)"


async def test_a_long_session_keeps_goal_statements_and_open_questions() -> None:
    """Of 400 messages the context holds goal, conditions and the open question verbatim and the last exchanges whole,
    within the budget, and the digest is kept for the next run."""
    history = ScriptedHistory(SessionPast(messages=tuple(long_talk(200))))
    contexts = SessionContextBuilder(history, model(), 600)
    context = await contexts.build("s", "r")
    for line in (GOAL, *MUST, OPEN):
        assert line in context.text
        assert any(line in kept for kept in context.kept)
    assert "User: What is fact number 199 about towns?" in context.text
    assert 250 < context.tokens <= 600
    assert context.digested_count + context.whole_count == 200
    assert len(history.digests) == 1
    assert await contexts.build("s", "r2") == context


async def test_a_growing_session_loses_no_statement() -> None:
    """When the context is built after each of 300 exchanges, no statement is lost, the budget holds each time, and
    only now and then something new is digested."""
    messages = long_talk(300)
    history = ScriptedHistory()
    contexts = SessionContextBuilder(history, model(), 600)
    by_run = [[m for m in messages if m.run_id == f"r{index}"] for index in range(300)]
    for index, said in enumerate(by_run):
        history.past = replace(history.past, messages=(*history.past.messages, *said))
        context = await contexts.build("s", "next")
        assert context.tokens <= 600
        assert GOAL in context.text
        for place, line in enumerate(MUST):
            assert index < place * 9 + 4 or line in context.text
        assert index < 12 or OPEN in context.text
    assert len(history.digests) < 80


async def test_earlier_statements_come_apart_too() -> None:
    """The user's statements come in order from digested and from whole exchanges, without questions and repetitions,
    the newest within MAX_STANDING_CHARS."""
    history = ScriptedHistory(SessionPast(messages=tuple(long_talk(60))))
    context = await SessionContextBuilder(history, model(), 500).build("s", "r")
    assert context.digested_count
    assert context.standing == (GOAL, *MUST[:3], "Thanks.", MUST[3])
    short = await builder("Answer in German. Why?", "Darum.", "Thanks", "Ja.").build("s", "r")
    assert short.standing == ("Answer in German.", "Thanks")
    much = [text for index in range(40) for text in (f"This is rule number {index}.", "No.")]
    many = await builder(*much).build("s", "r")
    assert many.standing[-1] == "This is rule number 39."
    assert MAX_STANDING_CHARS / 2 < sum(map(len, many.standing)) <= MAX_STANDING_CHARS


async def test_nothing_is_quoted_twice() -> None:
    """A statement that the goal or an open question quotes is not listed again."""
    filler = [text for index in range(60) for text in (f"Why is fact {index} so?", "Because. " * 9)]
    history = ScriptedHistory(SessionPast(messages=talk("Plan a trip. Be brief.", "Ok", *filler)))
    context = await SessionContextBuilder(history, model(), 400).build("s", "r")
    assert context.text.count("Be brief.") == 1
    assert context.standing == ("Plan a trip.", "Be brief.")


async def test_statements_of_a_shortened_request_are_listed() -> None:
    """Where the last request is too long to be quoted, its statements are listed besides, verbatim."""
    asked = " ".join(f"And is it true that number {n} is odd?" for n in range(300))
    context = await builder(f"{asked} Answer in German. {asked}", "Ja.", max_tokens=300).build("s", "r")
    assert "characters left out" in context.text
    assert "- Answer in German." in context.text


async def test_many_statements_leave_room_for_the_last_exchange() -> None:
    """However many statements there are, the last request and answer are in the context, in any script."""
    said = [
        text
        for n in range(200)
        for text in (f"第{n}个文件夹里的东西绝对不能删除或者移动到别的地方去。", "好的。")
    ]
    context = await builder(*said, max_tokens=150).build("s", "r")
    assert context.text.endswith(f"User: {said[-2]}\nAssistant: 好的。")
    assert "older lines left out" in context.text


async def test_a_preview_changes_nothing() -> None:
    """A preview equals the context that a run would get, and keeps no digest."""
    history = ScriptedHistory(SessionPast(messages=tuple(long_talk(100))))
    contexts = SessionContextBuilder(history, model(), 500)
    shown = await contexts.preview("s")
    assert history.digests == []
    assert await contexts.build("s", "") == shown
    assert len(history.digests) == 1


async def test_an_unanswered_request_is_not_digested() -> None:
    """A request whose run has not ended stays whole, so that its answer is not missed later."""
    messages = tuple(long_talk(60))
    history = ScriptedHistory(SessionPast(messages=messages, open_runs=frozenset({"r12"})))
    await SessionContextBuilder(history, model(), 400).build("s", "r")
    assert history.digests[0].through == 2 * 11 + 1


async def test_a_huge_answer_is_shortened_visibly() -> None:
    """One exchange that is larger than the budget is included with its answer shortened, and says so."""
    context = await builder("Read all.", "many words " * 20_000, max_tokens=200).build("s", "r")
    assert context.tokens <= 200
    assert context.text.startswith("User: Read all.\nAssistant: many words")
    assert "characters left out" in context.text


async def test_more_than_fits_goes_oldest_first() -> None:
    """When the statements alone exceed the budget, the newest are included and a note says that older ones are not."""
    rules = [text for n in range(120) for text in (f"Never touch file number {n}.", "I will not.")]
    context = await builder(*rules, max_tokens=300).build("s", "r")
    assert context.tokens <= 300
    assert "Never touch file number 119." in context.text
    assert "older lines left out" in context.text


async def test_a_small_model_gets_less() -> None:
    """However much is configured, a session takes no more than a third of the model's context."""
    context = await builder(*["word " * 50] * 40, max_tokens=5_000, context_length=600).build("s", "r")
    assert context.max_tokens == 200
    assert 0 < context.tokens <= 200


async def test_without_a_tokenizer_no_context_is_built() -> None:
    """A model that cannot count tokens fails the build instead of guessing."""

    class Gone(ScriptedLLM):
        async def count_tokens(self, messages: object, tools: object = ()) -> int:
            raise LLMError("gone")

    history = ScriptedHistory(SessionPast(messages=talk("a", "b")))
    with pytest.raises(LLMError):
        await SessionContextBuilder(history, Gone(Script()), 100).build("s", "r")


SCRIPTS = {
    "Latin": ("abcdeghinorstuäéñ", ".", "?", " "),
    "Cyrillic": ("абвгдежиклмнопрст", ".", "?", " "),
    "Greek": ("αβγδεζηικλμνοπρστ", ".", ";", " "),
    "Arabic": ("ابتجحدرسعفقلمنهوي", ".", "؟", " "),
    "Hebrew": ("אבגדהוחטיכלמנסעפר", ".", "?", " "),
    "Devanagari": ("अआइकखगचजटडतदनपबमरलस", "।", "?", " "),
    "Ethiopic": ("ሀለሐመሠረሰቀበተነአከወዘየ", "።", "፧", " "),
    "Han": ("我你他不要每天城市桥河书", "。", "？", ""),
    "Kana": ("あいうえおかきくけこさしすせ", "。", "？", ""),
    "Hangul": ("가나다라마바사아자차카타", ".", "?", " "),
    "Thai": ("กขคงจชซดตถทนบป", "\n", "?\n", " "),
}


@st.composite
def remarks(draw: st.DrawFn) -> tuple[str, str]:
    """Generated messages of a user in some script: (a statement or "", the whole message)."""
    letters, stop, question, space = SCRIPTS[draw(st.sampled_from(sorted(SCRIPTS)))]
    word = st.text(letters, min_size=3, max_size=6)
    words = st.lists(word, min_size=1, max_size=4).map(space.join)
    stated = draw(words) + draw(st.sampled_from([stop, "!", "..."])) if draw(st.booleans()) else ""
    asked = [draw(words) + question for _ in range(draw(st.integers(0, 3)))]
    place = draw(st.integers(0, len(asked)))
    gap = "\n" if draw(st.booleans()) else " "
    parts = [*asked[:place], stated, *asked[place:]]
    return stated.strip(), gap.join(part for part in parts if part) or f"{draw(words)}{question}"


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    exchanges=st.lists(st.tuples(remarks(), remarks()), min_size=1, max_size=25),
    max_tokens=st.integers(600, 900),
)
async def test_no_session_loses_a_statement(
    exchanges: list[tuple[tuple[str, str], tuple[str, str]]], max_tokens: int
) -> None:
    """In any script, statements that fit their share of the budget are in the context verbatim, whatever is asked and
    answered around them, and the context never exceeds its budget."""
    said = [text for (_, request), (_, answer) in exchanges for text in (request, answer * 20)]
    stated = [line for (line, _), _ in exchanges if line]
    assume(sum(len(line) + 1 for line in stated) <= KEPT_CHARS * max_tokens)
    context = await builder(*said, max_tokens=max_tokens).build("s", "r")
    assert context.tokens <= max_tokens
    assert context.tokens == await model().count_tokens((Message(Role.USER, context.text),))
    text = comparison_key(context.text)
    assert [line for line in stated if comparison_key(line) not in text] == []
