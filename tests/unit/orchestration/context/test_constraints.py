import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.orchestration.context.constraints import (
    MAX_LINE_CHARS,
    binding_statements,
    is_standing,
    last_question,
    line_of,
    newest,
    sentences,
    without_repeats,
)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three? Four", ("One.", "Two!", "Three?", "Four")),
        ("Dr. Weber pays 3.50 euros. Done.", ("Dr. Weber pays 3.50 euros.", "Done.")),
        ("a list:\n- one\n- two", ("a list:", "- one", "- two")),
        ('He said "Stop." Then he left.', ('He said "Stop."', "Then he left.")),
        ("It takes approx. 3 hours. Done.", ("It takes approx. 3 hours.", "Done.")),
        ("  \n ", ()),
    ],
)
def test_a_text_is_read_by_sentences(text: str, parts: tuple[str, ...]) -> None:
    """A text is split into sentences and lines without changing them, and not inside abbreviations or numbers."""
    assert sentences(text) == parts


def test_a_long_text_is_read_in_one_go() -> None:
    """A hundred thousand characters of nothing but abbreviations are one sentence."""
    text = "1. " * 33_000
    assert sentences(text) == (text.strip(),)


@pytest.mark.parametrize(
    "said",
    [
        "You must not delete anything.",
        "Never write outside of docs.",
        "Always answer in German!",
        "Use only files from 2024.",
        "At most three lines, please.",
        "It costs no more than 50 euros.",
        "Don\u2019t mention Anna.",
        "do not use emojis",
        "My budget is 900 euros.",
        "The report has to be ready by Friday.",
        "Remember that my dentist is Dr. Weber.",
        "I am allergic to nuts.",
        "Could you always say which file it came from?",
        "We still need to choose a colour.",
        "Without sugar.",
        "The deadline is the 3rd of May.",
    ],
)
def test_what_binds_is_found(said: str) -> None:
    """A statement that binds what comes after it is found whole, wherever it stands in a request."""
    found = binding_statements(f"Hello there. {said} Thanks a lot.")
    assert found in ((said,), (f"{said} Thanks a lot.",))


@pytest.mark.parametrize(
    "said",
    [
        "What is the only even prime?",
        "List the files in docs.",
        "What must I do to restart?",
        "Nice, thanks.",
    ],
)
def test_what_binds_nothing_is_left(said: str) -> None:
    """Questions and plain orders are not kept."""
    assert binding_statements(said) == ()


@pytest.mark.parametrize(
    ("said", "standing"),
    [
        ("Always answer in German.", True),
        ("Never book anything without asking me.", True),
        ("From now on call me Ada.", True),
        ("I prefer trains.", True),
        ("Remember that my locker code is 4471.", False),
        ("It needs to be done by Friday.", False),
    ],
)
def test_what_holds_for_whatever_comes_is_told_apart(said: str, standing: bool) -> None:
    """A rule for the conversation is standing; what binds one thing, or is done with once it is done, is not."""
    assert binding_statements(said) == (said,)
    assert is_standing(said) is standing


def test_an_answer_may_end_with_a_question() -> None:
    """Only a question at the end of an answer waits for the user."""
    assert last_question("Which one? The blue one. Shall I save it?") == "Shall I save it?"
    assert last_question("Which one? The blue one.") == ""
    assert last_question("") == ""


def test_of_what_is_said_twice_the_last_stays() -> None:
    """Lines that differ in case, spaces or their end are one line, in the place of the last."""
    assert without_repeats(["Never!", "Only A.", "never.", " only  b"]) == ("Only A.", "never.", " only  b")


def test_the_newest_lines_fit() -> None:
    """From the end, as many whole lines as fit."""
    assert newest(["aaaa", "bbbb", "cc"], 8) == ("bbbb", "cc")
    assert newest(["aaaa"], 4) == ()
    assert newest([], 4) == ()


@given(st.text(max_size=2_000))
def test_lines_are_lines(text: str) -> None:
    """Whatever is said becomes one line of bounded length that begins as the text does."""
    line = line_of(text)
    assert len(line) <= MAX_LINE_CHARS
    assert len(line.splitlines()) <= 1
    assert " ".join(text.split()).startswith(line.removesuffix(" [...]"))
