"""The tool fetch_url. The daemon fetches the page; its HTML is parsed in the sandbox, because anybody can write it."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from aeond.capabilities.egress.charsets import decoded, is_text, media_type
from aeond.capabilities.egress.exchange import Request, Response, fetch
from aeond.capabilities.egress.gate import Gate
from aeond.capabilities.hands.web.requesting import (
    FETCH_SECONDS,
    MAX_BODY_BYTES,
    MAX_CHARS,
    WebAddress,
    allowed_url,
    preview_of,
    require_success,
    targets_of,
)
from aeond.capabilities.hands.workshop import GRACE_SECONDS, Workshop
from aeond.capabilities.sandbox.conversing import Conditions
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.policy import Target
from aeond.domain.tools import Effect, ToolContext
from aeond.domain.values import storable
from aeond.errors import ToolError

PARSE_SECONDS: Final = 20.0
MAX_LINKS: Final = 50
_HTML: Final = ("text/html", "application/xhtml+xml")


class FetchUrlArguments(BaseModel):
    """Which page, and how it is read."""

    url: WebAddress
    raw: Annotated[bool, Field(description="The source instead of the readable text")] = False
    links: Annotated[bool, Field(description="List the links of the page, too")] = False
    offset: Annotated[int, Field(ge=0, le=2**53, description="next_offset of an earlier call")] = 0


class PageLink(BaseModel):
    """A link of the page."""

    url: str
    text: str


class FetchUrlResult(BaseModel):
    """The text from `offset` on. `location` is where the page has moved, if that is another host."""

    url: str
    title: str
    location: str
    links: list[PageLink]
    truncated: bool
    next_offset: int
    text: str


def fetch_url_tool(gate: Gate, workshop: Workshop) -> FunctionTool:
    async def touched(arguments: FetchUrlArguments, _context: ToolContext) -> tuple[Target, ...]:
        return targets_of(allowed_url(gate, arguments.url))

    async def preview(arguments: FetchUrlArguments, _context: ToolContext) -> CallPreview:
        return preview_of("GET", allowed_url(gate, arguments.url))

    async def read(
        response: Response, arguments: FetchUrlArguments, context: ToolContext
    ) -> Mapping[str, Any]:
        kind = response.headers.get("content-type", "")
        if not is_text(kind, response.content):
            raise ToolError(
                f"{response.url.host_port} sent {media_type(kind) or 'binary data'!r:.100}, which is not text",
                reason="NOT_TEXT",
                field="url",
            )
        text = decoded(response.content, kind)
        if arguments.raw or media_type(kind) not in _HTML:
            end = arguments.offset + MAX_CHARS
            return {"text": storable(text[arguments.offset : end]), "truncated": len(text) > end}
        given = {
            "html": text,
            "base": str(response.url),
            "offset": arguments.offset,
            "most": MAX_CHARS,
            "most_links": MAX_LINKS if arguments.links else 0,
        }
        apart = ToolContext(context.run_id, context.step_id, context.call_id, "")  # it needs no folder
        try:
            return dict(await workshop.perform("pages", given, apart, PARSE_SECONDS, Conditions()))
        except ToolError as error:
            if error.reason not in ("TOOL_RAISED", "SANDBOX_ENDED"):  # what parsers end with
                raise
            raise ToolError(
                f"the page of {response.url.host_port} cannot be read: use raw",
                reason="PAGE_BROKEN",
                field="url",
            ) from error

    @tool(
        effect=Effect.NET,
        example={"url": "https://docs.example/guide"},
        page_address="url",
        targets=touched,
        preview=preview,
        timeout_seconds=FETCH_SECONDS + PARSE_SECONDS + 2 * GRACE_SECONDS,
    )
    async def fetch_url(arguments: FetchUrlArguments, context: ToolContext) -> FetchUrlResult:
        """Reads the text of a web page."""
        url = allowed_url(gate, arguments.url)
        request = Request("GET", url, (("Accept", "text/html, text/*;q=0.9, */*;q=0.5"),))
        response = await fetch(gate, request, context.record, max_bytes=MAX_BODY_BYTES, seconds=FETCH_SECONDS)
        require_success(response)
        found: Mapping[str, Any] = {"text": "", "truncated": False}
        if not response.location:
            found = await read(response, arguments, context)
        text = str(found["text"])
        return FetchUrlResult(
            url=str(response.url),
            title=str(found.get("title", "")),
            location=storable(response.location),
            links=[PageLink.model_validate(link) for link in found.get("links", ())],
            truncated=bool(found["truncated"]) or response.truncated,
            next_offset=arguments.offset + len(text),
            text=text,
        )

    return fetch_url
