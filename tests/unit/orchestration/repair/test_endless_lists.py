"""Lists that a model does not end."""

import json

import pytest

from aeond.orchestration.repair.endless_lists import MAX_DEPTH, news_of_list

FIRST = {"replace": "a 1", "with": "a 2"}
SECOND = {"add": "c"}
NOTHING = {"replace": "b 1", "with": "b 1"}


@pytest.mark.parametrize("rest", [[NOTHING, NOTHING], [FIRST, NOTHING], [NOTHING, FIRST, SECOND]])
@pytest.mark.parametrize("cut", [0, 1])
def test_a_list_ends_where_it_says_nothing_new(rest: list[object], cut: int) -> None:
    """Two items in a row that repeat earlier ones, or replace a text by itself, end the list, though what follows is cut."""
    text = json.dumps([FIRST, SECOND, *rest])
    assert json.loads(news_of_list(text[: len(text) - cut])) == [FIRST, SECOND]


def test_single_items_of_the_kind_stay() -> None:
    """One item that says nothing new, between others, is left to the tool."""
    text = json.dumps([FIRST, NOTHING, SECOND, NOTHING, NOTHING])
    assert json.loads(news_of_list(text)) == [FIRST, NOTHING, SECOND]


@pytest.mark.parametrize(
    "items", [[FIRST, SECOND], [FIRST, FIRST, SECOND, SECOND], [NOTHING, NOTHING], [], ["a", "b"]]
)
def test_a_list_may_have_an_end_of_its_own(items: list[object]) -> None:
    """A list without two such items in a row may go on with something new, whole or in part."""
    text = json.dumps(items)
    assert news_of_list(text) == news_of_list(text[:-1]) == ""


@pytest.mark.parametrize("text", ['"a"', '{"a":1}', "[" * (MAX_DEPTH + 1) + "1,1,1", ""])
def test_another_text_is_no_list(text: str) -> None:
    """What is no list, or nests too deeply, is not looked at."""
    assert news_of_list(text) == ""
