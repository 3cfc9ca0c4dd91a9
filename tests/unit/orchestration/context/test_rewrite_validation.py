import pytest

from aeond.orchestration.context.rewrite_validation import is_quoted, what_is_wrong

TALK = "User: What is 17 times 23?\nAssistant: 391\nUser: List docs.\nAssistant: docs/api.md, q1.csv and Clara's notes"


@pytest.mark.parametrize(
    ("said", "rewritten"),
    [
        ("and how much is half of that?", "How much is half of 391?"),
        ("Delete the first file.", "Delete the file docs/api.md."),
        ("Where does she live?", "Where does Clara live?"),
        ("And of Sweden?", "What is the capital of Sweden?"),
        ("Thank you!", "Thank you!"),
        ("那它的一半是多少？", "391的一半是多少？"),
        ("¿Y la mitad de eso?", "¿Cuánto es la mitad de 391?"),
        ("Count the lines of them.", "Count the lines of docs/api.md and q1.csv."),
        ("No, I meant the notes.", "List the notes of Clara."),
        ("What about 19?", "What is 17 times 19?"),
    ],
)
def test_a_rewrite_in_words_of_the_conversation_is_valid(said: str, rewritten: str) -> None:
    """A rewrite made of what was said here and before is let through."""
    assert what_is_wrong(said, rewritten, TALK) == ""


@pytest.mark.parametrize(
    ("said", "rewritten", "why"),
    [
        ("and half of that?", "  ", "empty"),
        ("and half of that?", "half of 391? " * 50, "too long"),
        ("and how much is half of that?", "195.5", "'195.5'"),
        ("and how much is half of that?", "How much is half of 392?", "'392'"),
        ("Delete it.", "Delete docs/llm.md.", "'docs/llm.md'"),
        ("Where does she live?", "Where does Bettina live?", "'Bettina'"),
        ("那它的一半是多少？", "391的一半。", "asks nothing"),
        ("Add 19 percent to that.", "Add percent to 391.", "'19'"),
        ("and how much is half of that?", "Half of 391", "asks nothing"),
        ("Do that again but about snow.", "List docs.", "something else"),
        ("Delete the file.", "Deleted the file.", "something else"),
        ("What is the weather like where she lives?", "List Clara's notes?", "something else"),
    ],
)
def test_an_invented_rewrite_is_refused(said: str, rewritten: str, why: str) -> None:
    """A rewrite that is empty or too long, adds or loses a number or a name, stops asking, or is about
    something else does not go on, and the reason says why."""
    assert why in what_is_wrong(said, rewritten, TALK)


def test_numbers_are_whole_numbers() -> None:
    """A number is known only as a whole: 39 is not in 391."""
    assert "'39'" in what_is_wrong("Half of that?", "Half of 39?", TALK)


@pytest.mark.parametrize(
    ("words", "quoted"),
    [("17 times 23", True), ("DOCS", True), ("times 17", False), ("doc", False), ("", False), ("?!", False)],
)
def test_words_are_quoted_in_their_order(words: str, *, quoted: bool) -> None:
    """Words count as quoted when they stand in the conversation as whole words, one after the other."""
    assert is_quoted(words, TALK) is quoted
