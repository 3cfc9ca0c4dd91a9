"""The calls of the page."""

from typing import Any

import pytest

from aeon_web.calls import CALLS, Arguments, status_of
from aeond_client.errors import AeondError, DataLossError, InvalidInputError, NoDaemonError, WrongStateError
from tests.support.page_states import StatesClient


@pytest.mark.parametrize(
    ("values", "read"),
    [
        ([], lambda given: given),
        (None, lambda given: given),
        ({"run_id": 1}, lambda given: given.text("run_id")),
        ({"run_id": None}, lambda given: given.text("run_id")),
        ({"after_seq": "1"}, lambda given: given.number("after_seq")),
        ({"after_seq": True}, lambda given: given.number("after_seq")),
        ({"after_seq": -1}, lambda given: given.number("after_seq")),
        ({"approved": 1}, lambda given: given.flag("approved")),
        ({}, lambda given: given.flag("approved")),
    ],
)
def test_arguments_of_another_type_are_refused(values: Any, read: Any) -> None:
    """A value of another type is an error; whether something is approved is never assumed."""
    with pytest.raises(InvalidInputError) as refused:
        read(Arguments(values))
    assert refused.value.reason == "INVALID_ARGUMENTS"


def test_missing_arguments_have_empty_values() -> None:
    """A missing text is empty, a missing number 0, and a missing value null."""
    given = Arguments({})
    assert (given.text("a"), given.number("b"), given.value("c")) == ("", 0, None)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidInputError("x"), 400),
        (WrongStateError("x"), 409),
        (NoDaemonError("x"), 503),
        (AeondError("x"), 500),
    ],
)
def test_errors_have_a_status(error: AeondError, status: int) -> None:
    """The status of an error follows from its class."""
    assert status_of(error) == status


class Recorder:
    """A client that records its calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        async def call(*given: Any, **more: Any) -> None:
            self.calls.append((name, given, more))

        return call


async def test_a_decision_carries_what_was_shown() -> None:
    """An approval is decided with its digest and scope as the page sent them."""
    client: Any = Recorder()
    shown = {"run_id": "r", "approval_id": "a", "digest": "d", "approved": True, "scope": "run"}
    await CALLS["decide_approval"](client, Arguments(shown))
    assert client.calls == [("decide_approval", ("r", "a", "d", True, "run"), {})]


async def test_an_unknown_resolution_is_refused() -> None:
    """A resolution that does not exist reaches no daemon."""
    client: Any = Recorder()
    with pytest.raises(InvalidInputError):
        await CALLS["decide_run"](client, Arguments({"run_id": "r", "resolution": "hope"}))
    assert client.calls == []


async def test_a_replay_reports_the_first_difference() -> None:
    """A replay counts the identical events, and a difference is a result and not an error."""
    client: Any = StatesClient()
    whole = await CALLS["replay_run"](client, Arguments({"run_id": "planning"}))
    assert whole == {"count": 3, "identical": True, "message": ""}

    async def differs(*_: Any) -> Any:
        yield 1
        raise DataLossError("Event 2 differs.")

    client.replay_run = differs
    assert (await CALLS["replay_run"](client, Arguments({"run_id": "planning"})))[
        "message"
    ] == "Event 2 differs."
