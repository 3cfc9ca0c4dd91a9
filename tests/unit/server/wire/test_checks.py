import math
from collections.abc import Callable
from typing import Any

import pytest

from aeond.api.v1 import runs_pb2
from aeond.errors import InvalidInputError
from aeond.server.wire import checks

CASES: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: checks.bounded_text("", "f", 5, least=1), "EMPTY", "f"),
    (lambda: checks.bounded_text(" \n ", "f", 5, least=1), "EMPTY", "f"),
    (lambda: checks.bounded_text("abcdef", "f", 5), "TOO_LONG", "f"),
    (lambda: checks.word("", "f"), "EMPTY", "f"),
    (lambda: checks.word("a\nb", "f"), "UNPRINTABLE", "f"),
    (lambda: checks.word("a\0b", "f"), "UNPRINTABLE", "f"),
    (lambda: checks.word("a" * 129, "f"), "TOO_LONG", "f"),
    (lambda: checks.words(["a", ""], "f", 3), "EMPTY", "f[1]"),
    (lambda: checks.words(["a"] * 4, "f", 3), "TOO_MANY", "f"),
    (lambda: checks.at_least_one([], "f"), "EMPTY", "f"),
    (lambda: checks.at_most([1, 2], "f", 1), "TOO_MANY", "f"),
    (lambda: checks.whole(0, "f", 1, 9), "OUT_OF_RANGE", "f"),
    (lambda: checks.whole(10, "f", 1, 9), "OUT_OF_RANGE", "f"),
    (lambda: checks.real(math.nan, "f", 0, 1), "OUT_OF_RANGE", "f"),
    (lambda: checks.real(math.inf, "f", 0, 1), "OUT_OF_RANGE", "f"),
    (lambda: checks.real(-0.1, "f", 0, 1), "OUT_OF_RANGE", "f"),
    (lambda: checks.folder_path("home/me", "f"), "RELATIVE_PATH", "f"),
    (lambda: checks.folder_path("/home/\0", "f"), "UNPRINTABLE", "f"),
    (lambda: checks.folder_path("/" + "a" * 4_096, "f"), "TOO_LONG", "f"),
    (lambda: checks.labels({"a": "b" * 513}, "f"), "TOO_LONG", "f"),
    (lambda: checks.labels({"a": "b\x1b[2J"}, "f"), "UNPRINTABLE", "f"),
    (lambda: checks.one_line("a\nb", "f", 9), "UNPRINTABLE", "f"),
    (lambda: checks.one_line("a\x9b2J", "f", 9), "UNPRINTABLE", "f"),
    (lambda: checks.one_line("a\u202eb", "f", 9), "UNPRINTABLE", "f"),
    (lambda: checks.one_line("", "f", 9, least=1), "EMPTY", "f"),
    (lambda: checks.labels({"": "b"}, "f"), "EMPTY", "f"),
    (lambda: checks.labels({str(n): "" for n in range(33)}, "f"), "TOO_MANY", "f"),
    (lambda: checks.required(runs_pb2.CreateRunRequest(), "request"), "REQUIRED", "request"),
]


@pytest.mark.parametrize(("check", "reason", "field"), CASES)
def test_a_refusal_has_a_reason_and_a_field(check: Callable[[], Any], reason: str, field: str) -> None:
    """Malformed input is rejected with a stable reason, the field, and a sentence that names it."""
    with pytest.raises(InvalidInputError) as raised:
        check()
    assert (raised.value.reason, raised.value.field) == (reason, field)
    assert raised.value.message.startswith(field)


def test_a_valid_value_passes_unchanged() -> None:
    """A check that passes gives back what it was given."""
    assert checks.bounded_text("  text ", "f", 7, least=1) == "  text "
    assert checks.word("", "f", optional=True) == ""
    assert checks.one_line("größe\u200c界 👩\u200d🚀", "f", 20) == "größe\u200c界 👩\u200d🚀"
    assert checks.words(["a", "b"], "f", 2) == ("a", "b")
    assert checks.whole(9, "f", 1, 9) == 9
    assert checks.real(0.5, "f", 0, 1) == 0.5
    assert checks.folder_path("", "f") == ""
    assert checks.folder_path("/srv/größe x", "f") == "/srv/größe x"
    assert checks.labels({"a": ""}, "f") == {"a": ""}
