# Generated from protos/ by `make proto`; never edited.
"""Converts messages of sessions.proto to records."""

from aeond.api.v1 import sessions_pb2
from aeond_client.calls import values
from aeond_client.records import sessions


def session(wire: sessions_pb2.Session) -> sessions.Session:
    return sessions.Session(
        session_id=wire.session_id,
        title=wire.title,
        created_time=values.seconds(wire.created_time),
        changed_time=values.seconds(wire.changed_time),
        message_count=wire.message_count,
        run_count=wire.run_count,
        labels=dict(wire.labels),
        uid=wire.uid,
    )


def session_message(wire: sessions_pb2.Message) -> sessions.SessionMessage:
    return sessions.SessionMessage(
        role=values.word(sessions_pb2.Role, wire.role),
        text=values.text(wire.content_json),
        run_id=wire.run_id,
        time=values.seconds(wire.time),
    )


def session_context(wire: sessions_pb2.PreviewContextResponse) -> sessions.SessionContext:
    return sessions.SessionContext(
        text=wire.text,
        tokens=wire.tokens,
        max_tokens=wire.max_tokens,
        kept=tuple(wire.kept),
        digested_count=wire.digested_count,
        whole_count=wire.whole_count,
        taint=tuple(wire.taint),
    )
