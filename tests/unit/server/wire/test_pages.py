import pytest

from aeond.errors import InvalidInputError
from aeond.server.wire.pages import MAX_PAGE_BYTES, page_of, page_size, page_start


def key(item: str) -> str:
    return item


@pytest.mark.parametrize(("asked", "given"), [(0, 50), (1, 1), (500, 500), (501, 500), (1 << 30, 500)])
def test_page_sizes_have_a_default_and_a_limit(asked: int, given: int) -> None:
    """No size means fifty, and too large a one is lowered rather than refused."""
    assert page_size(asked) == given


def test_a_negative_page_size_is_refused() -> None:
    """A page of less than nothing is a mistake."""
    with pytest.raises(InvalidInputError) as raised:
        page_size(-1)
    assert (raised.value.reason, raised.value.field) == ("OUT_OF_RANGE", "page_size")


def test_pages_follow_each_other_to_the_end() -> None:
    """Going on by token shows each item once, in order, and the last page has no token."""
    items = [f"k{number:02}" for number in range(10)]
    seen: list[str] = []
    token = ""
    for _ in range(4):
        start = page_start(token, "things")
        rest = [item for item in items if item > start][:4]
        shown, token = page_of(rest, 3, "things", key)
        seen += shown
    assert seen == items
    assert token == ""


def test_a_page_that_is_just_full_is_the_last() -> None:
    """There is no token to an empty page."""
    assert page_of(["a", "b"], 2, "things", key) == (["a", "b"], "")


def test_a_page_of_large_items_ends_early() -> None:
    """Items that together are too large for a message are spread over more pages."""
    shown, token = page_of(["a", "b", "c"], 3, "things", key, lambda _: MAX_PAGE_BYTES // 2)
    assert shown == ["a", "b"]
    assert page_start(token, "things") == "b"


def test_keys_of_any_kind_fit_into_a_token() -> None:
    """A key with any characters comes back as it was."""
    _, token = page_of(["ü\n\0😀", "z"], 1, "things", key)
    assert token.isascii()
    assert page_start(token, "things") == "ü\n\0😀"


@pytest.mark.parametrize(
    "token", ["x", "....", "ü", "W10=", "bnVsbA==", "WzEsMl0=", "A" * 100_000, "[" * 5_000]
)
def test_a_token_that_is_none_of_ours_is_refused(token: str) -> None:
    """An invented token is refused, whatever it holds."""
    with pytest.raises(InvalidInputError) as raised:
        page_start(token, "things")
    assert (raised.value.reason, raised.value.field) == ("BAD_PAGE_TOKEN", "page_token")


def test_a_token_of_another_filter_is_refused() -> None:
    """A token is of use only with the filter that it was given for."""
    _, token = page_of(["a", "b"], 1, "things red", key)
    with pytest.raises(InvalidInputError):
        page_start(token, "things blue")
