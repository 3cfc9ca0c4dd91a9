"""What a server means by a status other than 200, as errors with reasons that stay the same."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

from aeond.capabilities.llm.http.responses import parse_object, redacted
from aeond.domain.values import JsonObject
from aeond.errors import AeondError, InvalidInputError, LLMError, OverloadedError

LONGEST_PAUSE_SECONDS: Final = 86_400.0
MOMENT_SECONDS: Final = 1.0  # when a busy server does not say for how long

# How servers name a prompt that is too long: OpenAI's code, llama.cpp's type, and the words of the others.
_TOO_LONG: Final = ("context_length_exceeded", "exceed_context_size_error", "maximum context length")
_QUOTA: Final = ("insufficient_quota", "billing")
# The server's own failures and conditions that may pass soon; 501 and 505 would only recur.
_WORTH_RETRYING: Final = frozenset({408, 409, 425, 500, 502, 504})


def refusal(status: int, headers: Mapping[str, str], body: bytes, secret: str = "") -> AeondError:
    """The error; its message has what the server said, short and without the secret."""
    error = _error_in(body)
    said = _said(error, body, secret)
    if 300 <= status < 400:
        place = redacted(headers.get("location", "another place"), secret)[:200]
        return LLMError(
            f"The server sends us to {place}, where we do not follow: put the right address into remote.url.",
            reason="ENDPOINT_REDIRECTS",
        )
    names = f"{error.get('code', '')} {error.get('type', '')} {said}".lower()
    if status == HTTPStatus.UNAUTHORIZED:
        return LLMError(
            f"The server does not accept the key ({status}): {said}. Look at remote.key_credential and "
            "remote.key_file.",
            reason="KEY_REFUSED",
        )
    if status == HTTPStatus.FORBIDDEN:
        return LLMError(
            f"The server does not let this key do that ({status}): {said}.", reason="ACCESS_REFUSED"
        )
    if status == HTTPStatus.PAYMENT_REQUIRED or (
        status == HTTPStatus.TOO_MANY_REQUESTS and _any(_QUOTA, names)
    ):
        return LLMError(f"The server wants to be paid first ({status}): {said}.", reason="QUOTA_SPENT")
    if status == HTTPStatus.NOT_FOUND and "model" in names:
        return LLMError(
            f"The server has no such model: {said}. See `aeonctl models list`.", reason="MODEL_NOT_FOUND"
        )
    if status == HTTPStatus.NOT_FOUND:
        return LLMError(
            f"The server has nothing at that address ({status}): {said}. Look at remote.url.",
            reason="ENDPOINT_NOT_FOUND",
        )
    if status in (HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE) and _any(_TOO_LONG, names):
        return InvalidInputError(
            f"The prompt does not fit into the model's context: {said}. Shorten it.",
            reason="CONTEXT_TOO_LONG",
            field="messages",
        )
    if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        return OverloadedError(
            f"The engine is busy: {said}", reason="ENGINE_BUSY", retry_after_seconds=pause_of(headers)
        )
    return LLMError(
        f"The engine answered {status}: {said}", reason="ENGINE_REFUSED", retryable=status in _WORTH_RETRYING
    )


def pause_of(headers: Mapping[str, str]) -> float:
    """The seconds that Retry-After asks for; a date there is read by the server's own clock."""
    asked = headers.get("retry-after", "")
    try:
        seconds = float(asked)
    except ValueError:
        until, now = _date(asked), _date(headers.get("date", ""))
        seconds = (until - now).total_seconds() if until and now else MOMENT_SECONDS
    return min(max(seconds, 0.0), LONGEST_PAUSE_SECONDS) if math.isfinite(seconds) else MOMENT_SECONDS


def _date(text: str) -> datetime | None:
    """A date of HTTP, which is in UTC also where it has no zone."""
    try:
        found = parsedate_to_datetime(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _any(words: tuple[str, ...], text: str) -> bool:
    return any(word in text for word in words)


def _error_in(body: bytes) -> JsonObject:
    try:
        answered = parse_object(body)
    except LLMError:
        return {}
    error = answered.get("error", answered)
    return error if isinstance(error, Mapping) else {"message": str(error)}


def _said(error: JsonObject, body: bytes, secret: str) -> str:
    message = error.get("message", error.get("detail", "")) or body.decode(errors="replace")
    return " ".join(redacted(str(message), secret).split())[:500] or "it says nothing more"
