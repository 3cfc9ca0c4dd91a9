"""Reads text from standard input."""

import sys

import click

# Above the daemon's own limit, so that the daemon reports text that is only slightly too long.
_MAX_BYTES = 2 << 20


def read_text(what: str) -> str:
    """All of standard input; `what` names it in errors. UsageError if it is too long or not UTF-8."""
    data = sys.stdin.buffer.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise click.UsageError(
            f"{what} on standard input is longer than {_MAX_BYTES >> 20} MiB. Put it into a file of the"
            " workspace and name that file."
        )
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise click.UsageError(
            f"{what} on standard input is not valid UTF-8 at byte {error.start + 1}."
        ) from error
