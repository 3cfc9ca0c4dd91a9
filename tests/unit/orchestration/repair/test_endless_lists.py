"""Lists that a model does not end."""

import json

import pytest

from aeond.orchestration.repair.endless_lists import MAX_DEPTH, news_of_list

FIRST = {"replace": "a 1", "with": "a 2"}
SECOND = {"add": "c"}
NOTHING = {"replace": "b 1", "with": "b 1"}


@pytest.mark.parametrize("rest", [[NOTHING, SECOND], [FIRST], [NOTHING]])
@pytest.mark.parametrize("cut", [0, 1, 5])
def test_a_list_ends_where_it_says_nothing_new(rest: list[object], cut: int) -> None:
    """An item that repeats an earlier one, or replaces a text by itself, ends the list, though what follows is cut."""
    text = json.dumps([FIRST, *rest, SECOND])
    assert json.loads(news_of_list(text[: len(text) - cut])) == [FIRST]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([FIRST, SECOND]),
        json.dumps([FIRST, SECOND])[:-1],
        json.dumps([NOTHING]),
        '"a"',
        '{"a":1}',
        "[" * (MAX_DEPTH + 1) + "1,1",
        "",
    ],
)
def test_another_text_stays_as_it_is(text: str) -> None:
    """A list without such an item, a part of one, and a text that is no list are not touched."""
    assert news_of_list(text) == text
