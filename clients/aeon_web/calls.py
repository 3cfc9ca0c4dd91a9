"""The calls that the page may make, each as a function of a client and the arguments of the page."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aeond_client.async_client import AsyncClient
from aeond_client.calls.run_calls import ForkOptions, RunOptions
from aeond_client.errors import (
    AeondError,
    DataLossError,
    InvalidInputError,
    NotFoundError,
    OverloadedError,
    RefusedError,
    TimedOutError,
    UnavailableError,
    WrongStateError,
)
from aeond_client.records.runs import Resolution

LISTED = 100
# Runs that other runs started are not listed; this many runs are looked at to find the others.
LOOKED_AT = 2_000
STATUSES: Mapping[type[AeondError], int] = {
    InvalidInputError: 400,
    RefusedError: 403,
    NotFoundError: 404,
    WrongStateError: 409,
    OverloadedError: 429,
    UnavailableError: 503,
    TimedOutError: 504,
}


def status_of(error: AeondError) -> int:
    """The HTTP status for an error; 500 for those that are not the page's."""
    return next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 500)


class Arguments:
    """The JSON object that came with a call. Each method raises InvalidInputError for a value of another type."""

    def __init__(self, values: Any) -> None:
        if not isinstance(values, dict):
            raise InvalidInputError(
                "The arguments of a call must be a JSON object.", reason="INVALID_ARGUMENTS"
            )
        self._values = values

    def text(self, name: str) -> str:
        """A text; empty if it is missing."""
        return str(self._typed(name, str, ""))

    def number(self, name: str) -> int:
        """A whole number from 0 on; 0 if it is missing."""
        number = int(self._typed(name, int, 0))
        if number < 0:
            raise InvalidInputError(f"{name} must not be negative.", reason="INVALID_ARGUMENTS", field=name)
        return number

    def flag(self, name: str) -> bool:
        """True or false; never chosen for the page."""
        return bool(self._typed(name, bool, None))

    def value(self, name: str) -> Any:
        """Any JSON value; null if it is missing."""
        return self._values.get(name)

    def _typed(self, name: str, kind: type, missing: Any) -> Any:
        value = self._values.get(name, missing)
        if type(value) is not kind:
            raise InvalidInputError(
                f"{name} must be a {kind.__name__}.", reason="INVALID_ARGUMENTS", field=name
            )
        return value


Call = Callable[[AsyncClient, Arguments], Awaitable[Any]]


async def _create_run(client: AsyncClient, given: Arguments) -> Any:
    """Creates a run in the session, or in a new one. A repeat with the same request id creates nothing more."""
    key, session_id = given.text("request_id"), given.text("session_id")
    if not session_id:
        session = await client.create_session(request_id=f"{key}-session" if key else "")
        session_id = session.session_id
    return await client.create_run(given.text("text"), RunOptions(session_id=session_id), request_id=key)


async def _list_runs(client: AsyncClient, given: Arguments) -> Any:
    """The newest runs that a user requested. The API cannot leave out those that other runs started."""
    limit = LISTED
    while True:
        runs = await client.list_runs(session_id=given.text("session_id"), limit=limit)
        requested = [run for run in runs if not run.parent_run_id]
        if len(requested) >= LISTED or len(runs) < limit or limit >= LOOKED_AT:
            return requested[:LISTED]
        limit = min(4 * limit, LOOKED_AT)


async def _decide_approval(client: AsyncClient, given: Arguments) -> Any:
    return await client.decide_approval(
        given.text("run_id"),
        given.text("approval_id"),
        given.text("digest"),
        given.flag("approved"),
        given.text("scope") or "once",
    )


async def _decide_run(client: AsyncClient, given: Arguments) -> Any:
    word = given.text("resolution")
    if word not in set(Resolution):
        raise InvalidInputError(f"{word!r} is no resolution.", reason="INVALID_ARGUMENTS", field="resolution")
    return await client.decide_run(given.text("run_id"), Resolution(word), given.text("step_id"))


async def _replay_run(client: AsyncClient, given: Arguments) -> Any:
    """Replays a run and reports how many events are identical, and the first difference, if any."""
    count, until = 0, given.number("until_seq")
    try:
        async for _ in client.replay_run(given.text("run_id"), until):
            count += 1
    except DataLossError as error:
        return {"count": count, "identical": False, "message": error.message}
    return {"count": count, "identical": True, "message": ""}


CALLS: Mapping[str, Call] = {
    "get_status": lambda client, given: client.get_status(),
    "create_run": _create_run,
    "cancel_run": lambda client, given: client.cancel_run(given.text("run_id")),
    "answer_run": lambda client, given: client.answer_run(
        given.text("run_id"), given.value("answer"), given.text("question_id")
    ),
    "decide_approval": _decide_approval,
    "decide_run": _decide_run,
    "undo_run": lambda client, given: client.undo_run(given.text("run_id")),
    "replay_run": _replay_run,
    "fork_run": lambda client, given: client.fork_run(
        given.text("run_id"), given.number("after_seq"), ForkOptions(), request_id=given.text("request_id")
    ),
    "list_runs": _list_runs,
    "list_sessions": lambda client, given: client.list_sessions(limit=LISTED),
}
