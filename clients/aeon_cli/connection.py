"""Connecting to the daemon and resolving `last`: the common start of all commands."""

import os
from typing import TYPE_CHECKING, Any

import click

from aeon_cli.text.printable import json_line

if TYPE_CHECKING:
    from aeond_client.client import Client
    from aeond_client.records.runs import RunState

_MOST_WAITING = 100


def connect(context: click.Context, *, at_once: bool = False, administers: bool = False) -> "Client":
    """The client for the requested socket; use it in a `with` statement.

    `at_once` limits the connection to half a second without retries, for shell completion. A command that `administers`
    uses the administrative socket beside the requested one if it can be opened; with the option --admin every command
    does, or fails.
    """
    # gRPC's own log lines would be mixed into our output.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from aeond_client.client import Client
    from aeond_client.connection.retries import Retries

    socket = chosen_socket(context, administers=administers)
    return Client(socket, retries=Retries(attempts=1), most_seconds=0.5) if at_once else Client(socket)


def chosen_socket(context: click.Context, *, administers: bool = False) -> str:
    """The socket that the options choose; "" for the first one on which a daemon is listening."""
    options = context.find_root().params
    socket = options.get("socket") or ""
    if administers or options.get("admin"):
        return _administrative(socket, required=bool(options.get("admin")))
    return str(socket)


def _administrative(socket: str, *, required: bool) -> str:
    """The administrative socket of the daemon that is found with this setting; the setting, if it cannot be opened and
    is not required.
    """
    from aeond_client.connection.sockets import SocketState, admin_socket, find_socket, probe

    admin = admin_socket(find_socket(socket).path)
    return admin if required or probe(admin) is SocketState.LISTENING else socket


def run_named(client: "Client", name: str) -> str:
    """Resolves a run id. `last` is the newest run that a person requested; runs started by runs do not
    count.
    """
    if name != "last":
        return name
    most = 1
    while True:
        newest = client.list_runs(limit=most)
        for run in newest:
            if not run.parent_run_id:
                return run.run_id
        if len(newest) < most:
            raise click.UsageError("There is no run yet: start one with aeonctl ask.")
        most *= 10


def waiting_run_named(client: "Client", name: str, state: "RunState") -> str:
    """Resolves a run id for commands that unblock a run. `last` prefers a run in this state: the newest run
    itself or one below it.
    """
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
    """Resolves a session id. `last` is the most recently changed session."""
    if name != "last":
        return name
    newest = client.list_sessions(limit=1)
    if not newest:
        raise click.UsageError("There is no session yet: create one with aeonctl sessions new.")
    return newest[0].session_id


def print_outcome(record: Any, words: str, *, as_json: bool) -> None:
    """The outcome of a command: the record as JSON, or these words."""
    if as_json:
        print_json(record)
    else:
        print(words)


def print_json(*records: Any) -> None:
    """Each record, or list of them, as one line of JSON."""
    from aeon_cli.text.encoding import plain

    for record in records:
        print(json_line(plain(record)))
