"""Reads the text of a web page, with its title and the addresses that it links to."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urljoin

from aeond.domain.tools import Effect, ToolContext, ToolSpec
from aeond.domain.values import JsonObject

MAX_TITLE_CHARS: Final = 200
MAX_LINK_CHARS: Final = 500
MAX_LINK_TEXT_CHARS: Final = 100


def read_page(html: str, base: str, offset: int, most: int, most_links: int) -> Mapping[str, Any]:
    """`most` characters of the text from `offset` on, whether there is more, and the first links. Text without a layout,
    scripts and forms are left out."""
    import html_text

    root = html_text.parse_html(html)
    title = " ".join((root.findtext(".//title") or "").split())[:MAX_TITLE_CHARS]
    links = _links(root, base, most_links)
    body = root.find("body")  # the title is no part of the text
    text = _storable(html_text.extract_text(root if body is None else body))
    return {
        "title": _storable(title),
        "text": text[offset : offset + most],
        "truncated": len(text) > offset + most,
        "links": links,
    }


def _links(root: Any, base: str, most: int) -> list[Mapping[str, str]]:
    found: dict[str, str] = {}
    for anchor in root.iterfind(".//a[@href]") if most else ():
        try:
            url = urljoin(base, anchor.get("href")).partition("#")[0]
        except ValueError:
            continue
        text = " ".join("".join(anchor.itertext()).split())[:MAX_LINK_TEXT_CHARS]
        if url.startswith(("http://", "https://")) and len(url) <= MAX_LINK_CHARS:
            found[url] = found.get(url) or text
        if len(found) == most:
            break
    return [{"url": _storable(url), "text": _storable(text)} for url, text in found.items()]


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


class Pages:
    """The text of the page in `html` that was found at `base`."""

    spec = ToolSpec("pages", "Reads web pages.", {"type": "object"}, {}, Effect.READ)

    async def execute(self, arguments: JsonObject, context: ToolContext) -> Any:
        given: Any = arguments
        return read_page(given["html"], given["base"], given["offset"], given["most"], given["most_links"])

    async def reconcile(self, arguments: JsonObject, context: ToolContext) -> None:
        """Reading leaves nothing behind."""
        return


TOOLS = [Pages()]
