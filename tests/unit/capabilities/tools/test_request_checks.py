"""The checks of requests that tools make in place of a result."""

from typing import Any

import pytest

from aeond.capabilities.tools.request_checks import check_request
from aeond.domain.plans.subtasks import SubtaskRequest
from aeond.domain.runs.questions import InputRequest
from aeond.errors import ToolError


@pytest.mark.parametrize(
    "request_",
    [
        InputRequest("which?"),
        InputRequest("how many?", {"type": "integer"}, default=3, has_default=True, deadline_seconds=1.5),
        InputRequest("which?", options=("a", "b"), default="a", has_default=True),
        SubtaskRequest("do it"),
        SubtaskRequest("do it", {"text": "x" * 10_000, "more": [1, None]}, ("summarise",)),
    ],
)
def test_valid_requests_pass(request_: Any) -> None:
    """Questions that can be shown and answered, and subtasks with JSON for inputs."""
    check_request("mine", request_)


@pytest.mark.parametrize(
    "request_",
    [
        InputRequest(""),
        InputRequest("x" * 5_000),
        InputRequest("\ud800"),
        InputRequest("which?", {"type": "colour"}),
        InputRequest("which?", options=("a", "a")),
        InputRequest("which?", options=("",)),
        InputRequest("which?", options=tuple(map(str, range(65)))),
        InputRequest("which?", options=("a",), default="b", has_default=True),
        InputRequest("how many?", {"type": "integer"}, default="many", has_default=True),
        InputRequest("which?", deadline_seconds=-1),
        InputRequest("which?", deadline_seconds=float("nan")),
        InputRequest("which?", deadline_seconds=float("inf")),
        InputRequest(7),  # type: ignore[arg-type]  # what a user's tool may give
        SubtaskRequest(""),
        SubtaskRequest("do it", {"text": float("nan")}),
        SubtaskRequest("do it", {"text": "x" * 300_000}),
        SubtaskRequest("do it", {}, ("",)),
        SubtaskRequest("do it", {}, ("hint",) * 65),
    ],
)
def test_an_impossible_request_is_the_failure_of_the_tool(request_: Any) -> None:
    """A request that cannot be shown, stored or answered is refused with the tool's name."""
    with pytest.raises(ToolError, match="mine made an invalid request") as raised:
        check_request("mine", request_)
    assert raised.value.reason == "REQUEST_INVALID"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("a", "b", "a"), "it has the option 'a' twice"),
        (tuple(map(str, range(65))), "it has more than 64 options"),
    ],
)
def test_options_that_cannot_be_say_what_is_wrong(options: tuple[str, ...], words: str) -> None:
    """Too many options and a duplicate option have different messages."""
    with pytest.raises(ToolError, match=f"mine made an invalid request: {words}$"):
        check_request("mine", InputRequest("which?", options=options))
