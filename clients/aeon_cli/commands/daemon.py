"""`status`, `top`, `reload` and `open`: state and configuration of the daemon, and its web page."""

import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from aeon_cli.connection import chosen_socket, connect, print_json
from aeon_cli.exits import Exit
from aeon_cli.options import json_option
from aeon_cli.text.printable import one_line

if TYPE_CHECKING:
    from aeon_web.access import Access


@click.command()
@json_option
@click.pass_context
def status(context: click.Context, /, as_json: bool) -> int:
    """Show the state of the daemon.

    Shows its state, model and load, and any problems. Exits with 0 if the daemon is ready, otherwise with 1.
    """
    from aeon_cli.commands.models import engine_in_words, metrics_in_words
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
    with connect(context, administers=True) as client:
        changes = client.reload_config()
    if as_json:
        print_json(changes)
    else:
        print(f"changed        {one_line(', '.join(changes.changed_keys)) or 'nothing'}")
        print(f"needs restart  {one_line(', '.join(changes.restart_keys)) or 'nothing'}")
    return Exit.ANSWERED


@click.command("open")
@click.option("--no-browser", is_flag=True, help="Print the link and open no browser.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=0, metavar="PORT", help="Port. Default: any free one."
)
@json_option
@click.pass_context
def open_page(context: click.Context, /, no_browser: bool, port: int, as_json: bool) -> int:
    """Serve your runs on a local web page and open it in the browser.

    The page sends requests, shows the plan as a picture, answers questions, decides approvals, undoes changes and
    explores the journal. It is served on 127.0.0.1 until Ctrl-C. A link opens the page once, within ten minutes;
    press Enter for another one. With --json, prints {"url"} and opens no browser.

    For a daemon on another machine, forward the port under the same number:

    \b
    ssh -L 8765:127.0.0.1:8765 HOST aeonctl open --no-browser --port 8765
    """  # noqa: D301 - click's mark for lines that stay as they are
    import asyncio

    from aeon_web.browser import browser_command, opened
    from aeon_web.server import serve

    with ExitStack() as until_end:

        def ready(access: "Access") -> None:
            if as_json:
                print_json({"url": access.new_link()})
                sys.stdout.flush()
                return
            command = "" if no_browser else browser_command()
            if command:
                until_end.enter_context(opened(command, access.new_link()))
                print("If the tab in the browser stays empty, open the link below.", file=sys.stderr)
            _print_link(access)
            if sys.stdin.isatty():
                asyncio.get_running_loop().add_reader(sys.stdin, _print_another, access)

        try:
            asyncio.run(serve(chosen_socket(context), port, ready))
        except KeyboardInterrupt:
            return 0
        except OSError as error:
            raise click.UsageError(f"Port {port} cannot be used: {os.strerror(error.errno or 0)}.") from error
    return 0


def _print_link(access: "Access") -> None:
    print("Ctrl-C ends the page; started work continues.", file=sys.stderr)
    print(access.new_link(), flush=True)


def _print_another(access: "Access") -> None:
    if sys.stdin.readline():
        print(access.new_link(), flush=True)


@click.command()
@click.option("--once", is_flag=True, help="Print one look and exit; without a terminal this is the default.")
@click.option(
    "--interval",
    "seconds",
    type=click.FloatRange(min=0.1, max=3600),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between two looks.",
)
@json_option
@click.pass_context
def top(context: click.Context, /, once: bool, seconds: float, as_json: bool) -> int:
    """Watch the daemon at work.

    Shows load, engine, speed, memory, and the unfinished runs with the steps that are executed now, until it is
    interrupted. With --json, one object per look, and none while the daemon does not respond. With the option --admin of aeonctl, the runs of all users.
    """
    from threading import Event

    from aeon_cli.observing.screen import follow, show_once
    from aeon_cli.text.terminals import look_at

    with connect(context) as client:
        if once or not (as_json or look_at(sys.stdout).live):
            show_once(client, as_json=as_json)
        else:
            try:
                follow(client, seconds, as_json=as_json, stop=Event())
            except KeyboardInterrupt:  # the usual way to leave
                return Exit.ANSWERED
    return Exit.ANSWERED


COMMANDS = {25: open_page, 150: status, 155: top, 160: reload}
