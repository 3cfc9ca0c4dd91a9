"""The text of documents."""

import base64
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from aeond.capabilities.hands.inside import documents
from aeond.capabilities.hands.inside.documents import TOOLS
from aeond.errors import ToolError
from tests.support.documents import docx, encrypted_pdf, odt, pdf
from tests.support.tools import CONTEXT


async def read(content: bytes, offset: int = 0, most: int = 1_000) -> Any:
    given: dict[str, Any] = {"content": base64.b64encode(content).decode(), "offset": offset, "most": most}
    return await TOOLS[0].execute(given, CONTEXT)


async def refused(content: bytes) -> str:
    with pytest.raises(ToolError) as caught:
        await read(content)
    return caught.value.reason


async def test_a_pdf_is_read_page_by_page() -> None:
    """The text of a PDF has its pages in order."""
    assert (await read(pdf("The rent is 900.", "Pets are allowed.")))["text"].split("\n\n")[:2] == [
        "The rent is 900.",
        "Pets are allowed.",
    ]


async def test_a_word_document_is_read() -> None:
    """Paragraphs are lines, and so are the rows of tables, with their cells apart; deleted text is left out."""
    content = docx(
        "<w:p><w:r><w:t>Rent</w:t><w:tab/><w:t>due &amp; paid</w:t></w:r><w:del><w:r><w:delText>no</w:delText></w:r></w:del></w:p>"
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>May</w:t></w:r></w:p></w:tc>"
        "<w:tc><w:p><w:r><w:t>900</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>one</w:t><w:br/><w:t>two</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    )
    assert (await read(content))["text"] == "Rent\tdue & paid\nMay\t900\none\ntwo\n"


async def test_an_open_document_is_read() -> None:
    """Headings, paragraphs, lists and rows are lines; spaces, tabs and line breaks are what they stand for."""
    content = odt(
        "<text:h>Rent</text:h><text:p>a<text:span>b</text:span>c<text:s text:c='2'/>d<text:tab/>e<text:line-break/>f</text:p>"
        "<text:list><text:list-item><text:p>May</text:p></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell>"
        "<table:table-cell><text:p>y</text:p></table:table-cell></table:table-row></table:table>"
    )
    assert (await read(content))["text"] == "Rent\nabc  d\te\nf\nMay\nx\ty\n"


async def test_a_long_text_comes_in_sections() -> None:
    """A section has at most so many characters, says whether there is more, and the next begins where it ends."""
    content = odt("".join(f"<text:p>{number}</text:p>" for number in range(10)))
    first = await read(content, most=8)
    assert first == {"text": "0\n1\n2\n3\n", "truncated": True}
    assert await read(content, offset=8, most=100) == {"text": "4\n5\n6\n7\n8\n9\n", "truncated": False}


async def test_an_unreadable_document_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other files, encrypted, empty and huge documents fail with a reason each."""
    assert await refused(b"plain text") == "NOT_A_DOCUMENT"
    assert await refused(encrypted_pdf("secret")) == "DOCUMENT_ENCRYPTED"
    assert await refused(docx("<w:p/>")) == "DOCUMENT_WITHOUT_TEXT"
    monkeypatch.setattr(documents, "MAX_XML_BYTES", 10)
    assert await refused(docx("<w:p/>")) == "DOCUMENT_TOO_LARGE"


async def test_a_document_made_of_references_to_itself_is_refused() -> None:
    """An XML bomb is an error and not a text of gigabytes."""
    bomb = "<!DOCTYPE x [" + "<!ENTITY a0 'aaaaaaaaaa'>"
    bomb += "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 10)) + "]>"
    with pytest.raises(ET.ParseError, match="amplification"):
        await read(docx("<w:p><w:r><w:t>&a9;</w:t></w:r></w:p>", doctype=bomb))


async def test_reading_leaves_nothing_behind() -> None:
    """There is nothing to reconcile."""
    assert await TOOLS[0].reconcile({}, CONTEXT) is None  # type: ignore[func-returns-value]
