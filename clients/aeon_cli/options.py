"""Options and arguments that several commands have, and the order of subcommands."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from aeon_cli.completion import complete_session, complete_tool

F = TypeVar("F", bound=Callable[..., Any])


class InOrder(click.Group):
    """A group that lists commands in the order of definition instead of alphabetically."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")

patience_option = click.option(
    "--patience",
    "patience_seconds",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for a daemon that has gone away.",
)


def limit_option(default: int, help_text: str = "Maximum number of entries.") -> Callable[[F], F]:
    """`--limit`."""
    return click.option(
        "--limit", type=click.IntRange(min=1), metavar="N", default=default, show_default=True, help=help_text
    )


def workspace_option(help_text: str) -> Callable[[F], F]:
    """`--workspace`, by default the current folder."""
    return click.option(
        "--workspace",
        type=click.Path(file_okay=False),
        metavar="FOLDER",
        default=".",
        show_default="the current folder",
        help=help_text,
    )


tools_workspace_option = workspace_option(
    "Working folder of the file tools; '' for a private folder of the daemon's."
)


def session_option(help_text: str) -> Callable[[F], F]:
    """`--session`, by default $AEOND_SESSION."""
    return click.option(
        "--session",
        "session_id",
        metavar="ID",
        default="",
        envvar="AEOND_SESSION",
        shell_complete=complete_session,
        help=help_text,
    )


def tool_call_arguments(command: F) -> F:
    """A tool and its arguments, and the folder that it works in."""
    command = tools_workspace_option(command)
    command = click.argument("arguments", nargs=-1, metavar="[JSON | KEY=VALUE...]")(command)
    return click.argument("tool", shell_complete=complete_tool)(command)
