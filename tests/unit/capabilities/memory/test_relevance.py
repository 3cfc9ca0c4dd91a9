import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.capabilities.memory.relevance import fact_text, parts_of, plain_text, ranked, relevance
from aeond.domain.values import JsonValue

FACTS: list[tuple[str, JsonValue]] = [
    ("garage code", "5150"),
    ("alarm code", "8842"),
    ("doctor", {"name": "Lindqvist", "open": ["Monday", True, None]}),
]
TEXTS = [fact_text(key, value) for key, value in FACTS]


def test_rare_words_weigh_more() -> None:
    """A word that few facts have decides over one that many have."""
    scores = relevance("the alarm code", TEXTS, {})
    assert scores["alarm code"] > scores["garage code"] > scores["doctor"]


def test_a_key_weighs_more_than_a_value() -> None:
    """A word in the name of a fact counts more than the same word in a value."""
    texts = [fact_text("plumber", "Kim"), fact_text("neighbour", "plumber")]
    scores = relevance("plumber", texts, {})
    assert scores["plumber"] > scores["neighbour"] > 0


def test_scores_lie_between_none_and_all() -> None:
    """No shared word scores zero, the whole name at most one, and no query scores anything."""
    assert relevance("zebra", TEXTS, {}) == dict.fromkeys(("garage code", "alarm code", "doctor"), 0.0)
    assert 0.9 < relevance("alarm code", TEXTS, {})["alarm code"] <= 1
    assert set(relevance("", TEXTS, {}).values()) == {0.0}
    assert relevance("alarm", [], {}) == {}


def test_meaning_finds_other_words() -> None:
    """A fact near in meaning is relevant without a shared word, and meaning never lowers a score."""
    near = relevance("physician", TEXTS, {"doctor": 0.8, "alarm code": 0.1, "garage code": -0.4})
    assert near["doctor"] > near["alarm code"] > near["garage code"] == 0
    plain = relevance("alarm code", TEXTS, {})["alarm code"]
    assert relevance("alarm code", TEXTS, {"alarm code": -1.0})["alarm code"] == plain


@pytest.mark.parametrize(
    ("value", "text"),
    [("a b", "a b"), (7, "7"), (True, "True"), (None, ""), ([1, ["x"]], "1 x"), ({"a": {"b": 2}}, "a b 2")],
)
def test_a_value_is_read_as_text(value: JsonValue, text: str) -> None:
    """Texts, numbers and names of fields of a value are its words."""
    assert plain_text(value) == text


def test_words_have_parts_of_three_letters() -> None:
    """A word has every three letters in a row as its parts; a shorter one is its own part."""
    assert parts_of("Rosé is") == {"ros", "ose", "is"}
    assert parts_of("...") == frozenset()


def test_parts_are_those_of_plain_letters() -> None:
    """Letters that are folded in several steps, such as mathematical capitals, have the parts of the plain ones."""
    assert parts_of("\U0001d400\U0001d401\U0001d402\U0001d403") == parts_of("abcd")
    assert parts_of("\U0001d400\U0001d401'\U0001d412") == parts_of("ab's")
    assert fact_text("\U0001d400\U0001d401\U0001d402\U0001d403", "").plain == " abcd "
    assert relevance("\U0001d400\U0001d401\U0001d402", [fact_text("abc", "")], {})["abc"] > 0


@given(text=st.text(st.sampled_from("abß\U0001d400é' .")), asked=st.text(st.sampled_from("abs "), max_size=6))
def test_a_fact_has_the_parts_of_its_words(text: str, asked: str) -> None:
    """A part of the words that are asked for is found in a fact exactly when it is a part of the fact's words."""
    fact = fact_text("", text)
    words = " ".join(fact.value_words)
    assert {part for part in parts_of(asked) if fact.has_part(part)} == parts_of(asked) & parts_of(words)


def test_facts_of_one_score_are_in_the_order_of_their_names() -> None:
    """Equally relevant facts are ordered by name, so that a repeat gives the same list."""
    assert [fact.key for fact in ranked("code", FACTS, {}, 3)] == ["alarm code", "garage code", "doctor"]


def test_a_text_is_written_no_further_than_asked() -> None:
    """Of a value with very many parts only the beginning is written, the same as in the whole text."""
    value: JsonValue = {"names": ["Kim", None, {"age": 7}], "numbers": list(range(1_000))}
    for most in (0, 1, 9, 40, 100_000):
        assert plain_text(value, most) == plain_text(value)[:most]
