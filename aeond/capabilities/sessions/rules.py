"""Rules common to all session stores."""

import json
from dataclasses import asdict
from typing import Final

from aeond.domain.sessions import SessionDigest
from aeond.errors import NotFoundError, WrongStateError

# The page limit of a reader: one more than the largest page of the API, which checks for a next one.
MAX_PAGE: Final = 501
PAGE_BYTES: Final = 256 << 10
TITLE_CHARS: Final = 80


def page_limit(limit: int) -> int:
    return max(1, min(limit, MAX_PAGE))


def title_of(text: str) -> str:
    """A one-line title from a request."""
    line = " ".join(text[: TITLE_CHARS * 4].split())
    return line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 1].rstrip() + "…"


def encode_digest(digest: SessionDigest) -> str:
    return json.dumps(asdict(digest), ensure_ascii=False)


def decode_digest(text: str | None) -> SessionDigest:
    if not text:
        return SessionDigest()
    fields = json.loads(text)
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    return SessionDigest(**{**fields, **lists})


def session_not_found(session_id: str) -> NotFoundError:
    return NotFoundError(
        f"session {session_id!r} does not exist: list the sessions, or create one",
        reason="SESSION_NOT_FOUND",
        field="session_id",
    )


def session_busy(session_id: str) -> WrongStateError:
    return WrongStateError(
        f"a run of session {session_id} has not ended: wait for it or cancel it, then delete the session",
        reason="SESSION_BUSY",
    )
