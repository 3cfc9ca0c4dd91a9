"""Generates the reference page of aeonctl: `python -m aeon_cli.reference > docs/aeonctl.md`."""

from collections.abc import Iterator

import click

from aeon_cli.main import cli

_WIDTH = 90
_HEAD = """\
# aeonctl

The command-line client of aeond. This page is generated from the program's own help by
`python -m aeon_cli.reference`.

The answer of a run goes to standard output and everything else to standard error, so
`answer=$(aeonctl ask ...)` captures the answer alone. On a terminal the steps appear as a checklist that is
redrawn in place; in a pipe, or with `TERM=dumb`, they appear as plain lines. `NO_COLOR` disables colours.
Without a UTF-8 locale all symbols are ASCII. Control characters in text from models and tools are escaped,
so such text cannot control the terminal.

With `--json` a command prints one JSON object, or one per line for lists. An event is
`{"run_id", "seq", "time", "elapsed_seconds", "kind", "data"}` with the kinds of the API; live updates have
`seq` 0."""


def page() -> str:
    """The whole page: the help of every command, with the commands of a group below it."""
    return _HEAD + "".join(f"\n{section}" for section in _sections(cli, "aeonctl", 2))


def _sections(
    command: click.Command, name: str, level: int, parent: click.Context | None = None
) -> Iterator[str]:
    settings = {**command.context_settings, "terminal_width": _WIDTH, "max_content_width": _WIDTH}
    context = click.Context(command, parent, name.rpartition(" ")[2], **settings)
    help_text = command.get_help(context).rstrip()
    yield f"{'#' * level} {name}\n\n```\n{help_text}\n```\n"
    if isinstance(command, click.Group):
        for word in command.list_commands(context):
            child = command.get_command(context, word)
            if child is not None:
                yield from _sections(child, f"{name} {word}", min(level + 1, 3), context)


if __name__ == "__main__":
    print(page(), end="")
