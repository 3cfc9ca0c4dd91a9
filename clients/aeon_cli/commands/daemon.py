"""`status` and `reload`: state and configuration of the daemon."""

import click

from aeon_cli.connection import connect, json_option, print_json


@click.command()
@json_option
@click.pass_context
def status(context: click.Context, /, as_json: bool) -> int:
    """Show the state of the daemon.

    Shows its state, model and load, and any problems. Exits with 0 if the daemon is ready, otherwise with 1.
    """
    from aeon_cli.commands.models import engine_in_words, metrics_in_words
    from aeon_cli.exits import Exit
    from aeon_cli.text.printable import one_line
    from aeon_cli.text.titles import duration_in_words, size_in_words

    with connect(context) as client:
        found = client.get_status()
        socket = client.socket
    if as_json:
        print_json(found)
    else:
        most = f" of {found.max_running_runs}" if found.max_running_runs else ""
        print(f"daemon  {found.state}, version {one_line(found.version)}, process {found.pid}")
        print(f"socket  {one_line(str(socket))}")
        print(f"up      {duration_in_words(found.uptime_seconds)}")
        print(f"model   {engine_in_words(found.engine)}")
        for line in metrics_in_words(found.engine.metrics):
            print(f"        {line}")
        print(
            f"runs    {found.running_runs}{most} running, {found.waiting_runs} waiting,"
            f" {found.attention_runs} need a person"
        )
        print(f"tools   {found.tool_count}")
        if found.resident_bytes:
            print(f"memory  {size_in_words(found.resident_bytes)}")
        for message in found.messages:
            print(f"! {one_line(message)}")
    return Exit.ANSWERED if found.state == "ready" else Exit.FAILED


@click.command()
@json_option
@click.pass_context
def reload(context: click.Context, /, as_json: bool) -> int:
    """Make the daemon reread its configuration.

    Lists the keys that changed and those that need a restart. An invalid file changes nothing.
    """
    from aeon_cli.exits import Exit
    from aeon_cli.text.printable import one_line

    with connect(context, administers=True) as client:
        changes = client.reload_config()
    if as_json:
        print_json(changes)
    else:
        print(f"changed        {one_line(', '.join(changes.changed_keys)) or 'nothing'}")
        print(f"needs restart  {one_line(', '.join(changes.restart_keys)) or 'nothing'}")
    return Exit.ANSWERED


COMMANDS = {150: status, 160: reload}
