"""What every command that talks to the daemon begins with."""

import os
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from aeond_client.client import Client

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def connect(context: click.Context, *, at_once: bool = False) -> "Client":
    """The client for the socket that was asked for; to be used in a `with`.

    `at_once` is for what nobody may wait for: half a second and no repeat.
    """
    # gRPC's own complaints would go between our lines.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from aeond_client.client import Client
    from aeond_client.retries import Retries

    socket = context.find_root().params.get("socket") or ""
    return Client(socket, retries=Retries(attempts=1), most_seconds=0.5) if at_once else Client(socket)


def run_named(client: "Client", name: str) -> str:
    """The id of the run that a person names: `last` is the newest one."""
    if name != "last":
        return name
    newest = client.list_runs(limit=1)
    if not newest:
        raise click.UsageError("There is no last run: nothing was asked yet.")
    return newest[0].run_id


def session_named(client: "Client", name: str) -> str:
    """The id of the session that a person names: `last` is the one that changed last."""
    if name != "last":
        return name
    newest = client.list_sessions(limit=1)
    if not newest:
        raise click.UsageError("There is no last session: make one with aeonctl sessions new.")
    return newest[0].session_id


def print_json(record: Any) -> None:
    """A record, or a list of them, as one line of JSON."""
    from aeon_cli.encoding import plain
    from aeon_cli.printable import json_line

    print(json_line(plain(record)))
