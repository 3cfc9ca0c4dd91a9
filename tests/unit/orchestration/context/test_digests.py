from aeond.domain.messages import Role
from aeond.domain.sessions import SessionDigest, SessionMessage, SessionPast
from aeond.orchestration.context.digests import (
    MAX_KEPT_CHARS,
    MAX_SUMMARY_CHARS,
    Exchange,
    exchanges_of,
    extend,
)
from tests.support.sessions import talk


def test_messages_are_paired_by_their_run() -> None:
    """Each request stands with the answer of its own run, though answers come in another order."""
    messages = (
        SessionMessage(1, "r1", Role.USER, "one?", 1.0),
        SessionMessage(2, "r2", Role.USER, "two?", 2.0),
        SessionMessage(3, "r3", Role.USER, "three?", 2.5),
        SessionMessage(4, "r2", Role.AGENT, "two!", 3.0),
        SessionMessage(5, "r1", Role.AGENT, "one!", 4.0),
    )
    assert exchanges_of(SessionPast(messages=messages, open_runs=frozenset({"r3"}))) == (
        Exchange(1, "one?", "one!"),
        Exchange(2, "two?", "two!"),
        Exchange(3, "three?", None, open=True),
    )


def test_questions_belong_to_the_exchange_of_their_run() -> None:
    """A question of a run and the user's answer are part of its exchange, and not a request."""
    messages = (
        SessionMessage(1, "r1", Role.USER, "Book a table.", 1.0),
        SessionMessage(2, "r1", Role.AGENT, "For how many?", 2.0, of_question=True),
        SessionMessage(3, "r1", Role.USER, "four", 3.0, of_question=True),
        SessionMessage(4, "r1", Role.AGENT, "Booked.", 4.0),
    )
    (exchange,) = exchanges_of(SessionPast(messages=messages))
    assert exchange == Exchange(1, "Book a table.", "Booked.", asked=(("For how many?", "four"),))
    assert exchange.by_user == ("Book a table.", "four")


def test_statements_in_answers_to_questions_are_kept() -> None:
    """A digest quotes what the user stated in answer to a question."""
    exchange = Exchange(
        1, "Book a table.", "Booked.", asked=(("For how many?", "Four. Never book outside."),)
    )
    assert extend(SessionDigest(), (exchange,), ()).kept == (
        "Book a table.",
        "Four.",
        "Never book outside.",
    )


def test_nothing_more_leaves_a_digest_as_it_is() -> None:
    """A digest that is extended by nothing is the same."""
    digest = SessionDigest(3, 2, "goal", ("kept",), ("open?",), "- a -> b")
    assert extend(digest, (), ()) == digest


def test_a_digest_keeps_the_words() -> None:
    """A digest quotes the first request, the statements and the open questions, and summarises the rest."""
    old = exchanges_of(
        SessionPast(
            messages=talk(
                "Plan a trip to Porto. It must cost at most 900 euros.",
                "I would take the train. Which month suits you?",
                "How warm is it in May?",
                "About 20 degrees.",
            )
        )
    )
    cancelled = Exchange(5, "Book the hotel now")
    digest = extend(SessionDigest(), (*old, cancelled), (Exchange(7, "What is a pastel?", "A tart."),))
    assert digest == SessionDigest(
        through=5,
        exchange_count=3,
        goal="Plan a trip to Porto. It must cost at most 900 euros.",
        kept=("Plan a trip to Porto.", "It must cost at most 900 euros.", "Book the hotel now"),
        questions=("Book the hotel now", "Which month suits you?"),
        summary=(
            "- Plan a trip to Porto. It must cost at most 900 euros. -> I would take the train. "
            "Which month suits you?\n"
            "- How warm is it in May? -> About 20 degrees.\n"
            "- Book the hotel now -> no answer"
        ),
    )


def test_an_answered_question_is_not_open() -> None:
    """A question that was asked again and answered, or that the user replied to, is open no more."""
    digest = extend(SessionDigest(), (Exchange(1, "Book the hotel!"),), ())
    assert digest.questions == ("Book the hotel!",)
    digest = extend(
        digest, (Exchange(2, "book the hotel", "Done. Breakfast too?"),), (Exchange(4, "Yes.", "Ok"),)
    )
    assert digest.questions == ()


def test_a_digest_grows_and_keeps_its_goal() -> None:
    """Later exchanges extend the digest; the goal stays that of the first request."""
    first = extend(SessionDigest(), (Exchange(1, "Never lie.", "Ok"),), ())
    second = extend(first, (Exchange(3, "Only in verse.", "Ok"),), ())
    assert (second.goal, second.kept, second.through, second.exchange_count) == (
        "Never lie.",
        ("Never lie.", "Only in verse."),
        3,
        2,
    )
    assert second.summary == "- Never lie. -> Ok\n- Only in verse. -> Ok"


def test_a_digest_is_bounded() -> None:
    """However much is said, a digest stays small, and the newest stays in it."""
    old = [Exchange(n, f"Never do thing {n}. " + "x" * 300, "y" * 5_000) for n in range(1, 2_000)]
    digest = extend(SessionDigest(), old, ())
    assert sum(map(len, digest.kept)) <= MAX_KEPT_CHARS
    assert len(digest.summary) <= MAX_SUMMARY_CHARS
    assert "thing 1999" in digest.kept[-1]
