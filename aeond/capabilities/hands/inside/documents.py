"""Reads the text of a document: PDF, Word (docx) and OpenDocument (odt), recognised by their content."""

import base64
import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any, Final
from xml.etree import ElementTree as ET

from aeond.domain.tools import Effect, ToolContext, ToolSpec
from aeond.domain.values import JsonObject
from aeond.errors import ToolError

MAX_XML_BYTES: Final = 64 << 20
WORD: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
TEXT: Final = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
TABLE: Final = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_BLANKS: Final = re.compile(r"\n{3,}")


def text_of(content: bytes) -> Iterator[str]:
    """The text in pieces, pages or lines. ToolError (reason NOT_A_DOCUMENT, DOCUMENT_ENCRYPTED, DOCUMENT_TOO_LARGE), and
    whatever the parsers raise on a damaged document."""
    if b"%PDF-" in content[:1024]:
        return _pdf(content)
    if content[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
            for name, lines in (("word/document.xml", _word_lines), ("content.xml", _open_lines)):
                if name in names:
                    return (f"{line}\n" for line in lines(_root(archive, name)))
    raise ToolError("this is neither PDF nor docx nor odt: read text with read_file", reason="NOT_A_DOCUMENT")


def _pdf(content: bytes) -> Iterator[str]:
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise ToolError("the document is encrypted: save it without a password", reason="DOCUMENT_ENCRYPTED")
    for page in reader.pages:
        yield f"{page.extract_text()}\n\n"


def _root(archive: zipfile.ZipFile, name: str) -> ET.Element:
    with archive.open(name) as part:
        xml = part.read(MAX_XML_BYTES + 1)
    if len(xml) > MAX_XML_BYTES:
        raise ToolError(f"its text is larger than {MAX_XML_BYTES >> 20} MiB", reason="DOCUMENT_TOO_LARGE")
    return ET.fromstring(xml)  # noqa: S314 - in a sandbox with bounds on memory and time


def _word_lines(element: ET.Element) -> Iterator[str]:
    """The paragraphs below an element, and each row of a table as a line."""
    for child in element:
        if child.tag == f"{WORD}p":
            yield _word_text(child)
        elif child.tag == f"{WORD}tr":
            cells = child.iter(f"{WORD}tc")
            yield "\t".join(" ".join(map(_word_text, cell.iter(f"{WORD}p"))) for cell in cells)
        else:
            yield from _word_lines(child)


def _word_text(paragraph: ET.Element) -> str:
    marks = {f"{WORD}tab": "\t", f"{WORD}br": "\n", f"{WORD}cr": "\n"}
    return "".join(
        part.text or "" if part.tag == f"{WORD}t" else marks.get(part.tag, "") for part in paragraph.iter()
    )


def _open_lines(element: ET.Element) -> Iterator[str]:
    """As `_word_lines`, for OpenDocument."""
    for child in element:
        if child.tag in (f"{TEXT}p", f"{TEXT}h"):
            yield _open_text(child)
        elif child.tag == f"{TABLE}table-row":
            yield "\t".join(" ".join(_open_lines(cell)) for cell in child)
        else:
            yield from _open_lines(child)


def _open_text(element: ET.Element) -> str:
    match element.tag:
        case t if t == f"{TEXT}s":
            return " " * min(int(element.get(f"{TEXT}c", "1")), 1_000)
        case t if t == f"{TEXT}tab":
            return "\t"
        case t if t == f"{TEXT}line-break":
            return "\n"
        case _:
            return (element.text or "") + "".join(_open_text(part) + (part.tail or "") for part in element)


def section(pieces: Iterator[str], offset: int, most: int) -> Mapping[str, Any]:
    """`most` characters of the text from `offset` on, and whether there is more. Reads no further than it must."""
    text = ""
    for piece in pieces:
        text += piece
        if len(text) > offset + most:
            break
    text = _BLANKS.sub("\n\n", text).encode("utf-8", "replace").decode()
    if not text.strip():
        raise ToolError(
            "the document has no text; it may consist of pictures", reason="DOCUMENT_WITHOUT_TEXT"
        )
    return {"text": text[offset : offset + most], "truncated": len(text) > offset + most}


class Documents:
    """The section of the document in `content`, base64, that `offset` and `most` name."""

    spec = ToolSpec("documents", "Reads documents.", {"type": "object"}, {}, Effect.READ)

    async def execute(self, arguments: JsonObject, context: ToolContext) -> Any:
        given: Any = arguments
        return section(text_of(base64.b64decode(given["content"])), given["offset"], given["most"])

    async def reconcile(self, arguments: JsonObject, context: ToolContext) -> None:
        """Reading leaves nothing behind."""
        return


TOOLS = [Documents()]
