"""Reads the text of a web page, with its title and the addresses that it links to."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urljoin

from aeond.domain.tools import Effect, ToolContext, ToolSpec
from aeond.domain.values import JsonObject, storable

MAX_TITLE_CHARS: Final = 200
MAX_LINK_CHARS: Final = 500
MAX_LINK_TEXT_CHARS: Final = 100
MAX_NAME_CHARS: Final = 60  # of a column, which stands in every row
# The extraction makes one blank of all white space: that of preformatted text is replaced by characters that have no
# meaning in Unicode.
_KEPT: Final = str.maketrans("\n\t \u00a0", "\ufdd0\ufdd1\ufdd2\ufdd2")
_BACK: Final = str.maketrans("\ufdd0\ufdd1\ufdd2", "\n\t ")
_NO_TEXT: Final = re.compile("[\\x00-\\x08\\x0b-\\x1f\\ufffe\\uffff]")  # in pages, and refused by lxml
_CELLS: Final = ("td", "th")
_VISIBLE: Final = ".//text()[not(parent::script or parent::style)]"
_MIN_COLUMNS: Final = 2
_PREFORMATTED: Final = (  # texts, and the elements that begin a line
    ".//text()[not(parent::script or parent::style)] | .//br | .//div | .//li | .//p | .//tr"
)


def read_page(html: str, base: str, offset: int, most: int, most_links: int) -> Mapping[str, Any]:
    """`most` characters of the text from `offset` on, whether there is more, and the first links. Only
    preformatted text keeps its layout; scripts are left out, and cells stand with the names of their columns."""
    import html_text

    root = html_text.parse_html(html)
    title = " ".join((root.findtext(".//title") or "").split())[:MAX_TITLE_CHARS]
    links = _links(root, _base(root, base), most_links)
    _name_cells(root)
    _keep_layout(root)
    body = root.find("body")  # the title is no part of the text
    text = storable(html_text.extract_text(root if body is None else body).translate(_BACK))
    return {
        "title": storable(title),
        "text": text[offset : offset + most],
        "truncated": len(text) > offset + most,
        "links": links,
    }


def _name_cells(root: Any) -> None:
    """Puts the name of its column before each cell of a table that has one row of names and no cell over several rows or columns: without
    the layout nothing else says what a cell is."""
    for table in root.iter("table"):
        if table.find(".//table") is not None:
            continue
        rows = [[cell for cell in row if cell.tag in _CELLS] for row in table.iter("tr")]
        cells = [cell for row in rows for cell in row]
        spans = any(cell.get(span, "1") != "1" for cell in cells for span in ("rowspan", "colspan"))
        if spans or len({len(row) for row in rows}) != 1:
            continue
        names, *others = rows
        if len(names) < _MIN_COLUMNS or any(cell.tag != "th" for cell in names):
            continue
        texts = [" ".join(" ".join(cell.xpath(_VISIBLE)).split())[:MAX_NAME_CHARS] for cell in names]
        for row in others:
            for name, cell in zip(texts[1:], row[1:], strict=True):
                said = f"| {name}: {cell.text or ''}" if name else f"| {cell.text or ''}"
                cell.text = _NO_TEXT.sub("", said)


def _keep_layout(root: Any) -> None:
    """Marks the white space of preformatted text, and removes the elements in it, between which the extraction would add
    blanks."""
    found = [pre for pre in root.iter("pre") if next(pre.iterancestors("pre"), None) is None]
    for pre in found:
        text = "".join(one if isinstance(one, str) else "\n" for one in pre.xpath(_PREFORMATTED))
        pre.clear(keep_tail=True)
        pre.text = _NO_TEXT.sub("", text).rstrip().strip("\n").translate(_KEPT)


def _base(root: Any, base: str) -> str:
    """The address that links are relative to."""
    for element in root.iterfind(".//base[@href]"):
        try:
            return urljoin(base, str(element.get("href")).strip())
        except ValueError:
            break
    return base


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
    return [{"url": storable(url), "text": storable(text)} for url, text in found.items()]


class Pages:
    """The text of the page in `html` that was found at `base`."""

    spec = ToolSpec("pages", "Reads web pages.", {"type": "object"}, {}, Effect.READ)

    async def execute(self, arguments: JsonObject, context: ToolContext) -> Any:
        given: Any = arguments
        return read_page(**given)


TOOLS = [Pages()]
