"""The page of aeonctl, made from its own help: `python -m aeon_cli.reference > docs/aeonctl.md`."""

from collections.abc import Iterator

import click

from aeon_cli.main import cli

_WIDTH = 90
_HEAD = """\
# aeonctl

aeond on the command line. This page is the program's own help, made by `python -m aeon_cli.reference`.

The answer of a run goes to standard output and everything else to standard error, so that
`answer=$(aeonctl ask ...)` holds the answer alone. On a terminal the steps are shown as a checklist that
is redrawn in place; in a pipe, with `TERM=dumb` or where only lines will do, as plain lines. `NO_COLOR` is
honoured, and without a UTF-8 locale all signs are ASCII. Whatever a model or a tool writes is shown with
its control characters escaped: it cannot drive the terminal.

With `--json` a command prints one JSON object, or one a line where there may be many; an event is
`{"run_id", "seq", "time", "elapsed_seconds", "kind", "data"}` with the kinds of the API, and `seq` 0 for
what is shown live only.
"""


def page() -> str:
    """The whole page: every command with its help, the groups' own commands below them."""
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
