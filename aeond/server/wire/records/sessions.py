"""Translates sessions and their messages to the wire."""

from aeond.api.v1 import sessions_pb2 as pb
from aeond.domain.sessions import Session, SessionContext, SessionMessage
from aeond.server.wire.enums import ROLES
from aeond.server.wire.json_text import json_text, plain_text
from aeond.server.wire.records.parts import plain_texts, timestamp


def session_to_wire(session: Session) -> pb.Session:
    return pb.Session(
        session_id=session.session_id,
        title=plain_text(session.title),
        created_time=timestamp(session.created_time),
        changed_time=timestamp(session.changed_time),
        message_count=session.message_count,
        run_count=session.run_count,
        labels=session.labels,
        uid=session.uid,
    )


def said_to_wire(said: SessionMessage) -> pb.Message:
    return pb.Message(
        role=ROLES.wire(said.role),
        content_json=json_text(said.text),
        time=timestamp(said.time),
        run_id=said.run_id,
    )


def context_to_wire(context: SessionContext) -> pb.PreviewContextResponse:
    return pb.PreviewContextResponse(
        text=plain_text(context.text),
        tokens=context.tokens,
        max_tokens=context.max_tokens,
        kept=plain_texts(context.kept),
        digested_count=context.digested_count,
        whole_count=context.whole_count,
    )
