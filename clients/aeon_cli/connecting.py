"""What every command that talks to the daemon begins with."""

import os
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from aeond_client.client import Client
    from aeond_client.runs import RunState

_MOST_WAITING = 100

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
    """The id of the run that a person names: `last` is the newest that a person asked for, not one that a run
    started."""
    if name != "last":
        return name
    most = 1
    while True:
        newest = client.list_runs(limit=most)
        for run in newest:
            if not run.parent_run_id:
                return run.run_id
        if len(newest) < most:
            raise click.UsageError("There is no last run: nothing was asked yet.")
        most *= 10


def waiting_run_named(client: "Client", name: str, state: "RunState") -> str:
    """The same for who helps a run on: with `last` the newest run in this state that is the last run or below it,
    if there is one."""
    run_id = run_named(client, name)
    if name != "last":
        return run_id
    for waiting in client.list_runs(states=[state], limit=_MOST_WAITING):
        root, above = waiting.run_id, waiting.parent_run_id
        while above:
            root, above = above, client.get_run(above).parent_run_id
        if root == run_id:
            return waiting.run_id
    return run_id


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
