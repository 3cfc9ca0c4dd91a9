"""`sessions`: lists conversations, their messages and the context that models see."""

import sys

import click

from aeon_cli.completion import complete_session
from aeon_cli.connection import connect, print_json, print_outcome, session_named
from aeon_cli.options import InOrder, json_option, limit_option
from aeon_cli.text.tables import print_table
from aeon_cli.text.timestamps import how_long_ago


@click.group(cls=InOrder, invoke_without_command=True)
@click.pass_context
def sessions(context: click.Context, /) -> None:
    """Conversations: runs that share a history. Without a subcommand: list them.

    A run belongs to the session given with --session, to a new one with --new-session, otherwise to the one
    in the variable AEOND_SESSION, otherwise to none. SESSION is a session id, or `last` for the most recently
    changed one.

    \b
    aeonctl ask --new-session What is 17 times 23?
    aeonctl ask --session last And how much is half of that?
    export AEOND_SESSION=$(aeonctl sessions new)
    """  # noqa: D301 - click's mark for lines that stay as they are
    if context.invoked_subcommand is None:
        context.invoke(list_sessions)


@sessions.command("list")
@limit_option(20)
@json_option
@click.pass_context
def list_sessions(context: click.Context, /, limit: int, as_json: bool) -> None:
    """List sessions, most recently changed first. With --json, one per line."""
    with connect(context) as client:
        found = client.list_sessions(limit)
    if as_json:
        print_json(*found)
        return
    rows = [(s.session_id, how_long_ago(s.changed_time), str(s.run_count), s.title) for s in found]
    print_table(("SESSION", "CHANGED", "RUNS", "TITLE"), rows, nothing="There are no sessions.")


@sessions.command("new")
@click.argument("title", nargs=-1)
@json_option
@click.pass_context
def new(context: click.Context, /, title: tuple[str, ...], as_json: bool) -> None:
    """Create a session and print its id. Without TITLE, the first request becomes the title."""
    with connect(context) as client:
        session = client.create_session(" ".join(title))
    print_outcome(session, session.session_id, as_json=as_json)


@sessions.command("show")
@click.argument("session_id", metavar="SESSION", shell_complete=complete_session)
@click.option(
    "--context",
    "with_context",
    is_flag=True,
    help="Show the context that a model would see now. Starts the engine, whose tokenizer counts the tokens.",
)
@limit_option(1_000, "Maximum number of messages; the newest are shown.")
@json_option
@click.pass_context
def show(context: click.Context, /, session_id: str, with_context: bool, limit: int, as_json: bool) -> None:
    """Show the messages of SESSION, or with --context the part that a model sees."""
    from aeon_cli.runs.conversation import print_context, print_talk

    with connect(context) as client:
        session = client.get_session(session_named(client, session_id))
        if with_context:
            preview = client.preview_context(session.session_id)
            if as_json:
                print_json(preview)
            else:
                print_context(preview)
            return
        # The newest messages are at the end of the list, which can only be read from its start.
        said = client.list_messages(session.session_id, max(session.message_count, 1))[-limit:]
    if as_json:
        print_json(session)
        print_json(*said)
    else:
        print_talk(session, said)


@sessions.command("rm")
@click.argument("session_ids", metavar="SESSION...", nargs=-1, required=True, shell_complete=complete_session)
@click.pass_context
def remove(context: click.Context, /, session_ids: tuple[str, ...]) -> None:
    """Delete sessions with their messages. Their runs remain and are listed by `aeonctl runs`.

    A session with an unfinished run cannot be deleted: wait for the run or cancel it.
    """
    with connect(context) as client:
        # Resolve all names first: after a deletion, `last` means another session.
        for session_id in dict.fromkeys([session_named(client, name) for name in session_ids]):
            client.delete_session(session_id)
            print(
                f"Deleted {session_id}. Its runs remain: aeonctl runs --session {session_id}", file=sys.stderr
            )


COMMANDS = {100: sessions}
