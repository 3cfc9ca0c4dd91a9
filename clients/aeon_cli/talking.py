"""A session as text: what was said, and what a model is told of it."""

import sys
from collections.abc import Sequence

from aeon_cli.moments import when
from aeon_cli.printable import one_line, printable
from aeon_cli.titles import counted
from aeond_client.sessions import Session, SessionContext, SessionMessage

_WHO = {"user": "You", "agent": "aeond"}


def print_talk(session: Session, said: Sequence[SessionMessage]) -> None:
    """Prints the session and each message with who said it and when; `said` are its newest messages."""
    print(f"session   {one_line(session.session_id)}")
    if session.title:
        print(f"title     {one_line(session.title)}")
    print(f"created   {when(session.created_time)}, changed {when(session.changed_time)}")
    print(f"holds     {counted(session.message_count, 'message')} of {counted(session.run_count, 'run')}")
    if len(said) < session.message_count:
        print(f"\n{counted(session.message_count - len(said), 'earlier message')} not shown: see --limit")
    for message in said:
        who = _WHO.get(message.role, one_line(message.role))
        print(f"\n{who}, {when(message.time)} (run {one_line(message.run_id)})")
        print(printable(message.text).rstrip())


def print_context(told: SessionContext) -> None:
    """Prints the context on standard output and what is to be said about it on standard error."""
    if told.text:
        print(printable(told.text).rstrip())
    told_short = f", {counted(told.digested_count, 'exchange')} in short" if told.digested_count else ""
    whole = f"{counted(told.whole_count, 'exchange')} word for word{told_short}"
    cost = f"{counted(told.tokens, 'token')} of at most {told.max_tokens}"
    print(f"({whole}; {cost})" if told.text else "(a model is told nothing yet)", file=sys.stderr)
