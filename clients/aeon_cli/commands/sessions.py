"""`sessions`: conversations, what was said in them, and what a model is told of them."""

import sys

import click

from aeon_cli.completing import complete_session
from aeon_cli.connecting import connect, json_option, print_json, session_named
from aeon_cli.grouping import InOrder

_HOW_MANY = click.IntRange(min=1)


@click.group(cls=InOrder, invoke_without_command=True)
@click.pass_context
def sessions(context: click.Context, /) -> None:
    """Conversations: runs that know what was said before. Without a command: list them.

    A run belongs to the session that --session names, to a new one with --new-session, else to the one in
    the variable AEOND_SESSION, else to none. SESSION is a session's id, or last for the one that changed
    last.

    \b
    aeonctl ask --new-session What is 17 times 23?
    aeonctl ask --session last And how much is half of that?
    export AEOND_SESSION=$(aeonctl sessions new)
    """  # noqa: D301 - click's mark for lines that stay as they are
    if context.invoked_subcommand is None:
        context.invoke(list_sessions)


@sessions.command("list")
@click.option("--limit", type=_HOW_MANY, metavar="N", default=20, show_default=True, help="How many at most.")
@json_option
@click.pass_context
def list_sessions(context: click.Context, /, limit: int, as_json: bool) -> None:
    """List sessions, the one changed last first. With --json one a line."""
    from aeon_cli.moments import how_long_ago
    from aeon_cli.tables import print_table

    with connect(context) as client:
        found = client.list_sessions(limit)
    if as_json:
        for session in found:
            print_json(session)
        return
    rows = [(s.session_id, how_long_ago(s.changed_time), str(s.run_count), s.title) for s in found]
    print_table(("SESSION", "CHANGED", "RUNS", "TITLE"), rows, nothing="There are no sessions.")


@sessions.command("new")
@click.argument("title", nargs=-1)
@json_option
@click.pass_context
def new(context: click.Context, /, title: tuple[str, ...], as_json: bool) -> None:
    """Make a session and print its id. Without a TITLE its first request names it."""
    with connect(context) as client:
        session = client.create_session(" ".join(title))
    if as_json:
        print_json(session)
    else:
        print(session.session_id)


@sessions.command("show")
@click.argument("session_id", metavar="SESSION", shell_complete=complete_session)
@click.option(
    "--context",
    "with_context",
    is_flag=True,
    help="Show what a model would be told of it now; starts the engine, whose tokenizer counts.",
)
@click.option(
    "--limit",
    type=_HOW_MANY,
    metavar="N",
    default=1_000,
    show_default=True,
    help="How many messages at most: the newest.",
)
@json_option
@click.pass_context
def show(context: click.Context, /, session_id: str, with_context: bool, limit: int, as_json: bool) -> None:
    """Show what was said in SESSION, or with --context what a model is told of it."""
    from aeon_cli.talking import print_context, print_talk

    with connect(context) as client:
        session = client.get_session(session_named(client, session_id))
        if with_context:
            told = client.preview_context(session.session_id)
            if as_json:
                print_json(told)
            else:
                print_context(told)
            return
        # The newest are at the end of the list, and there is no other way to its end.
        said = client.list_messages(session.session_id, max(session.message_count, 1))[-limit:]
    if as_json:
        print_json(session)
        for message in said:
            print_json(message)
    else:
        print_talk(session, said)


@sessions.command("rm")
@click.argument("session_ids", metavar="SESSION...", nargs=-1, required=True, shell_complete=complete_session)
@click.pass_context
def remove(context: click.Context, /, session_ids: tuple[str, ...]) -> None:
    """Delete sessions and what was said in them. Their runs stay and are listed by `aeonctl runs`.

    A session with a run that has not ended is not deleted: wait for the run, or cancel it.
    """
    with connect(context) as client:
        # All names first: once a session is gone, last is another one.
        for session_id in dict.fromkeys([session_named(client, name) for name in session_ids]):
            client.delete_session(session_id)
            print(
                f"Deleted {session_id}. Its runs stay: aeonctl runs --session {session_id}", file=sys.stderr
            )
