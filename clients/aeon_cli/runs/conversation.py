"""Prints a session: its messages, and the context that a model sees."""

import sys
from collections.abc import Sequence

from aeon_cli.text.printable import one_line, printable
from aeon_cli.text.timestamps import when
from aeon_cli.text.titles import counted
from aeond_client.records.sessions import Session, SessionContext, SessionMessage

_WHO = {"user": "You", "agent": "aeond"}


def print_talk(session: Session, said: Sequence[SessionMessage]) -> None:
    """Prints the session and each message with author and time; `said` holds its newest messages."""
    print(f"session   {one_line(session.session_id)}")
    if session.title:
        print(f"title     {one_line(session.title)}")
    print(f"created   {when(session.created_time)}, changed {when(session.changed_time)}")
    print(f"contains  {counted(session.message_count, 'message')} of {counted(session.run_count, 'run')}")
    if len(said) < session.message_count:
        print(f"\n{counted(session.message_count - len(said), 'earlier message')} not shown: see --limit")
    for message in said:
        who = _WHO.get(message.role, one_line(message.role))
        print(f"\n{who}, {when(message.time)} (run {one_line(message.run_id)})")
        print(printable(message.text).rstrip())


def print_context(context: SessionContext) -> None:
    """Prints the context on standard output and a summary of it on standard error."""
    if context.text:
        print(printable(context.text).rstrip())
    summarised = (
        f", {counted(context.digested_count, 'exchange')} summarised" if context.digested_count else ""
    )
    whole = f"{counted(context.whole_count, 'exchange')} verbatim{summarised}"
    cost = f"{counted(context.tokens, 'token')} of at most {context.max_tokens}"
    print(f"({whole}; {cost})" if context.text else "(the context is empty)", file=sys.stderr)
