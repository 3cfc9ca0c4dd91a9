"""Texts on standard input."""

import sys

import click

# More than the daemon takes, so that it is the one to say what is too much.
_MAX_BYTES = 2 << 20


def read_text(what: str) -> str:
    """All of standard input, which is `what`. UsageError when it is too long to be sent, or no UTF-8."""
    data = sys.stdin.buffer.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise click.UsageError(
            f"{what} on standard input is too long: more than {_MAX_BYTES >> 20} MiB. Put it into a file of the "
            "workspace and name that."
        )
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise click.UsageError(
            f"{what} on standard input is no UTF-8: see byte {error.start + 1}."
        ) from error
