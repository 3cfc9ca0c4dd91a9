import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.orchestration.context.statements import (
    MAX_LINE_CHARS,
    beside_questions,
    gives_operands,
    is_question,
    last_question,
    line_of,
    newest,
    question_and_rest,
    sentences,
    statements,
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
        ("Am 3. Mai, z. B. abends. Gut!", ("Am 3. Mai, z. B. abends.", "Gut!")),
        ("J. Smith called. Twice.", ("J. Smith called.", "Twice.")),
        ("Well... maybe. Yes... No.", ("Well... maybe.", "Yes...", "No.")),
        ("Open a.txt and v1.2 now. Wait!", ("Open a.txt and v1.2 now.", "Wait!")),
        ("我对坚果过敏。预算900欧元！可以吗？", ("我对坚果过敏。", "预算900欧元！", "可以吗？")),
        ("日本語で「はい。」と", ("日本語で「はい。」", "と")),
        ("便宜的!可以吗?好.走", ("便宜的!", "可以吗?", "好.走")),
        ("लाल नहीं। नीला।", ("लाल नहीं।", "नीला।")),
        ("لا تحذف شيئا. هل فهمت؟ نعم", ("لا تحذف شيئا.", "هل فهمت؟", "نعم")),
        ("Никогда не удаляй. Понял?", ("Никогда не удаляй.", "Понял?")),
        ("ምንም አትሰርዝ። እሺ፧", ("ምንም አትሰርዝ።", "እሺ፧")),
        ("  \n ", ()),
    ],
)
def test_a_text_is_split_into_sentences(text: str, parts: tuple[str, ...]) -> None:
    """A text in any script is split into sentences and lines without changing them, and not inside abbreviations or
    numbers."""
    assert sentences(text) == parts


@pytest.mark.parametrize("piece", ["1. ", "a.", "!?", "...", ". ", "\n ", " ", "?)", "。", ")"])
def test_a_long_text_is_split_in_linear_time(piece: str) -> None:
    """A hundred thousand characters of marks and spaces are split without losing any but spaces."""
    text = piece * (100_000 // len(piece))
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "said", ["Why?", "Why?!", 'He said "why?"', "なぜ？", "لماذا؟", "Γιατί;", "እሺ፧", "(Why?)", "why ?"]
)
def test_a_question_is_recognised_by_its_final_mark(said: str) -> None:
    """A sentence is a question when its last mark is the question mark of its script."""
    assert is_question(said)
    assert statements(said) == ()


@pytest.mark.parametrize("said", ["Why.", "int x = 1;", "a ? b : c", "https://a.org/?q=1", "Никогда", ""])
def test_other_sentences_are_no_questions(said: str) -> None:
    """A question mark elsewhere in a sentence, or a semicolon in a script that ends no question with it, asks nothing."""
    assert not is_question(said)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Never fly. Is it far? Only trains", ("Never fly.", "Only trains")),
        ("My budget is 900 euros. what can I see?", ("My budget is 900 euros. what can I see?",)),
        ("The code is 4471. Who has it?", ("The code is 4471. Who has it?",)),
        ("预算900.可以吗?", ("预算900.可以吗?",)),
        ("What is\nthe matter?", ("What is",)),
    ],
)
def test_a_statement_is_kept_where_form_leaves_it_open(said: str, kept: tuple[str, ...]) -> None:
    """Questions alone are left out; a sentence that may hold a statement and a question is kept whole."""
    assert statements(said) == kept


def test_an_answer_may_end_with_a_question() -> None:
    """Only a question at the end of an answer waits for the user."""
    assert last_question("Which one? The blue one. Shall I save it?") == "Shall I save it?"
    assert last_question("Which one? The blue one.") == ""
    assert last_question("") == ""


def test_of_what_is_said_twice_the_last_stays() -> None:
    """Lines that differ in case, spaces or final marks are one line, in the place of the last."""
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


WORDS = st.text(st.characters(categories=("L", "Nd")), min_size=1, max_size=9)
FINAL_MARKS = st.sampled_from(
    [". ", "! ", "? ", "... ", "。", "？", "؟ ", "। ", "։ ", "\n", " ", ", ", '." ', "?! "]
)


@given(st.lists(st.tuples(WORDS, FINAL_MARKS), max_size=30))
def test_only_questions_are_left_out_in_any_script(pieces: list[tuple[str, str]]) -> None:
    """Whatever the letters and marks, each sentence is a statement or a question, and no word before a full stop is
    lost."""
    text = "".join(map("".join, pieces))
    kept = statements(text)
    left_out = [sentence for sentence in sentences(text) if line_of(sentence) not in kept]
    assert all(map(is_question, left_out))
    assert not [
        word
        for word, mark in pieces
        if mark in {". ", "。", "। "} and word + mark.strip() not in " ".join(kept)
    ]


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("What is it?", "Save it."),
        ("Who? What is it?", "Save it.\nAs mine"),
        ("Save it. What is it?", ""),
        ("What is it? Why? What is it?", "Save it."),
        ("Save it.", ""),
        ("", ""),
    ],
)
def test_an_order_may_follow_a_question(question: str, rest: str) -> None:
    """A text is divided behind its last question, and nothing else of it is changed."""
    assert question_and_rest(f"{question} {rest}".strip()) == (question, rest)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Move a.txt to b.txt. How long is it? Thanks!", "Move a.txt to b.txt. Thanks!"),
        ("How long is a.txt?", ""),
        ("Move a.txt to b.txt", ""),
    ],
)
def test_what_stands_beside_a_question_may_be_an_order(text: str, rest: str) -> None:
    """The sentences beside the questions of a text are those that are none; a text without a question has none."""
    assert beside_questions(text) == rest


@pytest.mark.parametrize(
    ("text", "gives"), [("12 lamps at 8.50", True), ("all 12 lamps", False), ("A4", False), ("", False)]
)
def test_a_calculation_needs_two_numbers(text: str, gives: bool) -> None:
    """A decimal number counts once."""
    assert gives_operands(text) is gives
