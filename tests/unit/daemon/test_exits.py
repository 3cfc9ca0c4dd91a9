"""How `aeond` ends."""

import pytest

from aeond.daemon.exits import Exit, errors_in, exit_for
from aeond.errors import (
    AeondError,
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    RefusedError,
    StoreError,
    WrongStateError,
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidInputError("", reason="CONFIG_INVALID"), Exit.CONFIG),
        (RefusedError("", reason="FOLDER_REFUSED"), Exit.CONFIG),
        (RefusedError("", reason="SECRET_IN_ENVIRONMENT"), Exit.SECRET),
        (AlreadyExistsError("", reason="ANOTHER_INSTANCE"), Exit.ANOTHER_INSTANCE),
        (AlreadyExistsError("", reason="SOCKET_IN_USE"), Exit.ANOTHER_INSTANCE),
        (StoreError("", reason="JOURNAL_CORRUPT"), Exit.JOURNAL),
        (StoreError("", reason="MEMORY_NEWER"), Exit.JOURNAL),
        (StoreError("", reason="JOURNAL_FAILED"), Exit.DISK),
        (NotFoundError("", reason="SOCKET_FOLDER_MISSING"), Exit.SOCKET),
        (WrongStateError("", reason="SOCKET_PATH_TAKEN"), Exit.SOCKET),
    ],
)
def test_each_error_has_its_exit_code(error: AeondError, code: Exit) -> None:
    """The exit code tells the caller what to correct."""
    assert exit_for(error) is code


def test_errors_are_found_in_groups_of_tasks() -> None:
    """The error that ended a task is found at any depth of exception groups."""
    first, second = ValueError("a"), KeyError("b")
    assert list(errors_in(ExceptionGroup("", [first, ExceptionGroup("", [second])]))) == [first, second]
