"""Reads the text of a document: PDF, Word (docx) and OpenDocument (odt), recognised by their content."""

import base64
import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any, Final
from xml.etree import ElementTree as ET

from aeond.domain.tools import Effect, ToolContext, ToolSpec
from aeond.domain.values import JsonObject, storable
from aeond.errors import ToolError

MAX_XML_BYTES: Final = 64 << 20
COMPOUND_FILE: Final = b"\xd0\xcf\x11\xe0"  # of old Office files, and of encrypted new ones
ENCRYPTED_STREAM: Final = "EncryptedPackage".encode("utf-16-le")
WORD: Final = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",  # Strict Open XML
    "http://schemas.openxmlformats.org/markup-compatibility/2006",
)
# The stops of tabs are below pPr; Fallback repeats what Choice has.
WORD_LEFT_OUT: Final = frozenset({"pPr", "rPr", "del", "moveFrom", "Fallback"})
WORD_MARKS: Final = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
OPEN_LEFT_OUT: Final = frozenset({"tracked-changes", "annotation"})
_OPEN: Final = re.compile(r"\{urn:oasis:names:tc:opendocument:xmlns:(?:text|table|office):1\.0\}(.+)")
_BLANKS: Final = re.compile(r"\n{3,}")


def text_of(content: bytes) -> Iterator[str]:
    """The text in pieces, pages or lines. ToolError (reason NOT_A_DOCUMENT, DOCUMENT_ENCRYPTED, DOCUMENT_TOO_LARGE), and
    whatever the parsers raise on a damaged document."""
    if b"%PDF-" in content[:1024]:
        return _pdf(content)
    if content.startswith(COMPOUND_FILE):
        if ENCRYPTED_STREAM in content:
            raise _encrypted("save it without a password")
        raise ToolError("this is an old Office file: save it as docx", reason="NOT_A_DOCUMENT")
    if content.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
            if "word/document.xml" in names:
                return WordDocument(archive).lines()
            if "content.xml" in names:
                return OpenDocument(archive).lines()
    raise ToolError("this is neither PDF nor docx nor odt: read text with read_file", reason="NOT_A_DOCUMENT")


def _encrypted(advice: str) -> ToolError:
    return ToolError(f"the document is encrypted: {advice}", reason="DOCUMENT_ENCRYPTED")


def _pdf(content: bytes) -> Iterator[str]:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise _encrypted("save it without a password")
        for page in reader.pages:
            yield f"{page.extract_text()}\n\n"
    except DependencyError as error:
        if "AES" not in str(error):
            raise
        raise _encrypted(
            "save it without encryption, or have the Python package cryptography installed, which AES needs"
        ) from error


def _root(archive: zipfile.ZipFile, name: str) -> ET.Element:
    with archive.open(name) as part:
        xml = part.read(MAX_XML_BYTES + 1)
    if len(xml) > MAX_XML_BYTES:
        raise ToolError(f"its text is larger than {MAX_XML_BYTES >> 20} MiB", reason="DOCUMENT_TOO_LARGE")
    return ET.fromstring(xml)  # noqa: S314 - in a sandbox with bounds on memory and time


class WordDocument:
    """The paragraphs and the rows of tables of a Word document as lines. Footnotes and endnotes, numbered in the order of
    their references, follow at the end."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._document = _root(archive, "word/document.xml")
        self._notes: dict[tuple[str, str], ET.Element] = {}
        self._referred: list[ET.Element] = []
        for kind in ("footnote", "endnote"):
            if f"word/{kind}s.xml" in archive.namelist():
                for note in _root(archive, f"word/{kind}s.xml"):
                    self._notes[f"{kind}Reference", _word_id(note)] = note

    def lines(self) -> Iterator[str]:
        """Each with a line break at its end."""
        for line in self._below(self._document):
            yield f"{line}\n"
        for number, note in enumerate(self._referred, start=1):
            yield f"[{number}] {_in_one_line(self._below(note))}\n"

    def _below(self, element: ET.Element) -> Iterator[str]:
        for child in element:
            name = _word_name(child)
            if name == "p":
                yield self._text(child)
            elif name == "tr":
                yield "\t".join(_in_one_line(self._below(cell)) for cell in _word_cells(child))
            elif name not in WORD_LEFT_OUT:
                yield from self._below(child)

    def _text(self, element: ET.Element) -> str:
        return "".join(map(self._piece, element))

    def _piece(self, part: ET.Element) -> str:
        name = _word_name(part)
        if name in WORD_LEFT_OUT:
            return ""
        if name == "t":
            return part.text or ""
        if name == "p":  # of a text box
            return f"\n{self._text(part)}"
        if (note := self._notes.get((name, _word_id(part)))) is not None:
            self._referred.append(note)
            return f"[{len(self._referred)}]"
        return WORD_MARKS.get(name) or self._text(part)


def _word_name(element: ET.Element) -> str:
    """The element's name; "" for those of other vocabularies."""
    namespace, _, name = element.tag.removeprefix("{").rpartition("}")
    return name if namespace in WORD else ""


def _word_id(element: ET.Element) -> str:
    return next((value for key, value in element.items() if key.endswith("}id")), "")


def _word_cells(row: ET.Element) -> Iterator[ET.Element]:
    """The cells of a row, also those in content controls, and not those of tables in cells."""
    for child in row:
        if _word_name(child) == "tc":
            yield child
        else:
            yield from _word_cells(child)


class OpenDocument:
    """As WordDocument, with the notes' own labels. ToolError (reason DOCUMENT_ENCRYPTED)."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        manifest = "META-INF/manifest.xml"
        if manifest in archive.namelist():
            entries = _root(archive, manifest).iter()
            if any(entry.tag.endswith("}encryption-data") for entry in entries):
                raise _encrypted("save it without a password")
        self._document = _root(archive, "content.xml")
        self._referred: list[tuple[str, ET.Element]] = []

    def lines(self) -> Iterator[str]:
        """Each with a line break at its end."""
        for line in self._below(self._document):
            yield f"{line}\n"
        for label, note in self._referred:
            yield f"[{label}] {_in_one_line(self._below(note))}\n"

    def _below(self, element: ET.Element) -> Iterator[str]:
        for child in element:
            name = _open_name(child)
            if name in ("p", "h"):
                yield self._text(child)
            elif name == "table-row":
                yield "\t".join(_in_one_line(self._below(cell)) for cell in child)
            elif name not in OPEN_LEFT_OUT:
                yield from self._below(child)

    def _text(self, element: ET.Element) -> str:
        return (element.text or "") + "".join(self._piece(part) + (part.tail or "") for part in element)

    def _piece(self, part: ET.Element) -> str:
        match _open_name(part):
            case name if name in OPEN_LEFT_OUT:
                return ""
            case "s":
                count = next((value for key, value in part.items() if key.endswith("}c")), "1")
                return " " * min(int(count), 1_000)
            case "tab":
                return "\t"
            case "line-break":
                return "\n"
            case "p" | "h":  # of a text box
                return f"\n{self._text(part)}"
            case "note":
                label = "".join(
                    text for one in part if _open_name(one) == "note-citation" for text in one.itertext()
                )
                self._referred.append((label, part))
                return f"[{label}]"
            case _:
                return self._text(part)


def _open_name(element: ET.Element) -> str:
    found = _OPEN.fullmatch(element.tag)
    return found[1] if found else ""


def _in_one_line(lines: Iterator[str]) -> str:
    return " ".join(" ".join(lines).split())


def _collapsed(pieces: Iterator[str]) -> Iterator[str]:
    """The pieces with at most one empty line in a row, also where one piece ends and the next begins."""
    before = ""  # the line breaks at the end of the text so far, at most two
    for piece in pieces:
        text = _BLANKS.sub("\n\n", before + piece)
        yield storable(text[len(before) :])
        before = text[len(text.rstrip("\n")) :]


def section(pieces: Iterator[str], offset: int, most: int) -> Mapping[str, Any]:
    """`most` characters of the text from `offset` on, and whether there is more. Reads no further than it must."""
    text = ""
    for piece in _collapsed(pieces):
        text += piece
        if len(text) > offset + most:
            break
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


TOOLS = [Documents()]
