"""The tool web_search, over a server with the interface of SearXNG."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from pydantic import BaseModel, Field

from aeond.capabilities.egress.charsets import decoded
from aeond.capabilities.egress.exchange import Request, fetch
from aeond.capabilities.egress.gate import Gate
from aeond.capabilities.egress.urls import Url, parse_url
from aeond.capabilities.hands.web.requesting import FETCH_SECONDS, preview_of, require_success, targets_of
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.policy import Target
from aeond.domain.tools import Effect, ToolContext
from aeond.domain.values import storable
from aeond.errors import ToolError

MAX_RESULTS: Final = 20
MAX_ANSWER_BYTES: Final = 1 << 20
MAX_TITLE_CHARS: Final = 200
MAX_TEXT_CHARS: Final = 500


class WebSearchArguments(BaseModel):
    """The search terms."""

    query: Annotated[str, Field(min_length=1, max_length=400, description="Words to search for")]
    count: Annotated[int, Field(ge=1, le=MAX_RESULTS, description="Maximum number of results")] = 8


class Found(BaseModel):
    """One page."""

    title: str
    url: str
    text: str


class WebSearchResult(BaseModel):
    """The pages, the best first."""

    results: list[Found]


def web_search_tool(gate: Gate, endpoint: str) -> FunctionTool:
    base = parse_url(endpoint)

    def address(arguments: WebSearchArguments) -> Url:
        query = urlencode({"q": storable(arguments.query), "format": "json"})
        mark = "&" if "?" in base.target else "?"
        return Url(base.scheme, base.host, base.port, f"{base.target}{mark}{query}")

    async def touched(_arguments: WebSearchArguments, _context: ToolContext) -> tuple[Target, ...]:
        return targets_of(base)

    async def preview(arguments: WebSearchArguments, _context: ToolContext) -> CallPreview:
        return preview_of("GET", address(arguments))

    @tool(
        effect=Effect.NET,
        example={"query": "train timetable"},
        targets=touched,
        preview=preview,
        timeout_seconds=FETCH_SECONDS + 10.0,
    )
    async def web_search(arguments: WebSearchArguments, context: ToolContext) -> WebSearchResult:
        """Searches the web and returns addresses with short texts."""
        request = Request("GET", address(arguments), (("Accept", "application/json"),))
        response = await fetch(
            gate, request, context.record, max_bytes=MAX_ANSWER_BYTES, seconds=FETCH_SECONDS
        )
        require_success(response)
        try:
            answer: Any = json.loads(decoded(response.content, "application/json"))
            results = list(islice(_found(answer["results"]), arguments.count))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise ToolError(
                f"{base.host_port} did not answer in the format of SearXNG: its settings must allow the format json",
                reason="SEARCH_ANSWER_INVALID",
            ) from error
        return WebSearchResult(results=results)

    return web_search


def _found(entries: list[Any]) -> Iterator[Found]:
    """The results whose addresses can be fetched."""
    for entry in entries:
        try:
            url = str(parse_url(str(entry["url"])))
        except ToolError:
            continue
        title, text = (" ".join(storable(str(entry.get(key) or "")).split()) for key in ("title", "content"))
        yield Found(title=title[:MAX_TITLE_CHARS], url=url, text=text[:MAX_TEXT_CHARS])
