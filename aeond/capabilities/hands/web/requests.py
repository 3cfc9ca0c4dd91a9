"""The tool http_request, for interfaces of programs. It sends no credentials and keeps no cookies."""

import re
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field

from aeond.capabilities.egress.charsets import decoded, is_text, media_type
from aeond.capabilities.egress.exchange import Request, fetch
from aeond.capabilities.egress.gate import Gate
from aeond.capabilities.hands.web.requesting import (
    FETCH_SECONDS,
    MAX_BODY_BYTES,
    MAX_CHARS,
    WebAddress,
    allowed_url,
    preview_of,
    targets_of,
)
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.policy import Target
from aeond.domain.tools import Effect, ToolContext
from aeond.domain.values import storable
from aeond.errors import ToolError

MAX_FIELDS: Final = 16
MAX_FIELD_CHARS: Final = 1_000
MAX_SENT_CHARS: Final = 64_000
_FIELD: Final = re.compile(
    r"(?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(?P<value>[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?)?"
)
_OURS: Final = frozenset(
    {
        *("host", "user-agent", "accept-encoding", "connection", "content-length", "transfer-encoding", "te"),
        *("trailer", "upgrade", "expect", "keep-alive", "forwarded", "via", "http2-settings"),
    }
)
_SECRET: Final = frozenset({"authorization", "cookie", "x-api-key", "x-auth-token"})


class HttpRequestArguments(BaseModel):
    """The request, and its destination."""

    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
    url: WebAddress
    headers: Annotated[
        list[Annotated[str, Field(max_length=MAX_FIELD_CHARS)]],
        Field(max_length=MAX_FIELDS, description='Header fields such as "Accept: text/csv"'),
    ] = []
    body: Annotated[str, Field(max_length=MAX_SENT_CHARS, description="Text to send")] = ""


class HttpRequestResult(BaseModel):
    """What came back. `location` is the address of a redirection that was not followed."""

    status: int
    content_type: str
    location: str
    truncated: bool
    text: str


def http_request_tool(gate: Gate) -> FunctionTool:
    async def touched(arguments: HttpRequestArguments, _context: ToolContext) -> tuple[Target, ...]:
        fields_of(arguments)
        return targets_of(allowed_url(gate, arguments.url))

    async def preview(arguments: HttpRequestArguments, _context: ToolContext) -> CallPreview:
        return preview_of(arguments.method, allowed_url(gate, arguments.url))

    @tool(
        effect=Effect.NET,
        example={"method": "PUT", "url": "http://lamp.local/on"},
        targets=touched,
        preview=preview,
        timeout_seconds=FETCH_SECONDS + 10.0,
    )
    async def http_request(arguments: HttpRequestArguments, context: ToolContext) -> HttpRequestResult:
        """Sends an HTTP request and returns the response."""
        request = Request(
            arguments.method,
            allowed_url(gate, arguments.url),
            fields_of(arguments),
            arguments.body.encode("utf-8", "replace"),
        )
        response = await fetch(gate, request, context.record, max_bytes=MAX_BODY_BYTES, seconds=FETCH_SECONDS)
        kind = response.headers.get("content-type", "")
        readable = is_text(kind, response.content)
        text = storable(decoded(response.content, kind)) if readable else ""
        return HttpRequestResult(
            status=response.status,
            content_type=media_type(kind)[:MAX_FIELD_CHARS],
            location=storable(response.location),
            truncated=response.truncated
            or len(text) > MAX_CHARS
            or (not readable and bool(response.content)),
            text=text[:MAX_CHARS],
        )

    return http_request


def fields_of(arguments: HttpRequestArguments) -> tuple[tuple[str, str], ...]:
    """The header fields. ToolError (reason HEADER_INVALID, HEADER_NOT_ALLOWED)."""
    fields: list[tuple[str, str]] = []
    for text in arguments.headers:
        found = _FIELD.fullmatch(text.strip(" "))
        if found is None:
            raise ToolError(
                f"{text!r:.100} is not a header field such as 'Accept: text/csv'",
                reason="HEADER_INVALID",
                field="headers",
            )
        name = found["name"].lower()
        if name in _OURS or name in _SECRET or name.startswith(("proxy-", "sec-")):
            why = "credentials are not sent" if name in _SECRET else "it is set automatically"
            raise ToolError(
                f"the header field {name:.100} is not allowed: {why}",
                reason="HEADER_NOT_ALLOWED",
                field="headers",
            )
        fields.append((found["name"], found["value"] or ""))
    if arguments.body and not any(name.lower() == "content-type" for name, _value in fields):
        is_json = arguments.body.lstrip().startswith(("{", "["))
        fields.append(("Content-Type", "application/json" if is_json else "text/plain; charset=utf-8"))
    return tuple(fields)
