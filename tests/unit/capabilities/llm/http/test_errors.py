"""The errors for statuses of HTTP servers."""

import json

import pytest

from aeond.capabilities.llm.http.errors import pause_of, refusal
from aeond.errors import LLMError

NOW = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "12"}, 12),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "nan"}, 1),
        ({"retry-after": "inf"}, 1),
        ({"retry-after": "1e9"}, 86_400),
        ({"retry-after": "Wed, 21 Oct 2026 07:29:30 GMT", "date": NOW}, 90),
        ({"retry-after": "Wed, 21 Oct 2026 07:00:00 GMT", "date": NOW}, 0),
        ({"retry-after": "Wed, 21 Oct 2026 07:29:30", "date": NOW}, 90),
        ({"retry-after": "Wed, 21 Oct 2026 07:29:30 GMT"}, 1),
        ({"retry-after": "soon", "date": NOW}, 1),
        ({}, 1),
    ],
)
def test_a_pause_is_read_in_both_forms(headers: dict[str, str], seconds: float) -> None:
    """Seconds, or a date by the server's own clock; a value that cannot be read counts as one second."""
    assert pause_of(headers) == seconds


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": {"message": "too warm"}}', "too warm"),
        (b'{"error": "too warm"}', "too warm"),
        (b'{"message": "too warm"}', "too warm"),
        (b'{"detail": "too warm"}', "too warm"),
        (b"<p>too\nwarm</p>", "<p>too warm</p>"),
        (b"", "it says nothing more"),
        (b"\xff" * 4000, "\N{REPLACEMENT CHARACTER}" * 500),
    ],
)
def test_the_servers_words_are_found_and_bounded(body: bytes, said: str) -> None:
    """Whatever shape the error has, its words reach the caller, in one line and not without end."""
    error = refusal(400, {}, body)
    assert isinstance(error, LLMError)
    assert error.message == f"The engine answered 400: {said}"


@pytest.mark.parametrize("before", [0, 480, 495, 499])
def test_no_part_of_the_key_is_in_an_error(before: int) -> None:
    """The key is replaced before the words of a server are cut, in a redirection as well."""
    key = "sk-live-7321-spaced  key"
    body = json.dumps({"error": {"message": "x" * before + key}}).encode()
    assert "sk" not in refusal(401, {}, body, key).message
    place = "https://example.org/" + "x" * max(0, before - 300) + key
    assert "sk" not in refusal(307, {"location": place}, b"", key).message
