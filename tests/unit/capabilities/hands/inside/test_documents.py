"""The text of documents."""

import base64
from typing import Any
from xml.etree import ElementTree as ET

import pypdf._crypt_providers._fallback as without_cryptography
import pypdf._encryption
import pytest

from aeond.capabilities.hands.inside import documents
from aeond.capabilities.hands.inside.documents import TOOLS
from aeond.errors import ToolError
from tests.support.documents import STRICT_WORD, docx, encrypted_pdf, odt, pdf
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


@pytest.mark.parametrize(
    "content",
    [
        docx(
            "".join(
                f"<w:p><w:r><w:t>{n}</w:t></w:r></w:p>" + "<w:p/>" * (n % 20 // 19 * 3) for n in range(500)
            )
        ),
        odt("".join(f"<text:p>{n}</text:p>" + "<text:p/>" * (n % 20 // 19 * 3) for n in range(500))),
    ],
)
async def test_sections_make_up_the_whole_text(content: bytes) -> None:
    """The sections of a document with many empty lines, put together, have every line, with one empty line where there were
    several."""
    text, truncated = "", True
    while truncated:
        found = await read(content, offset=len(text), most=100)
        text, truncated = text + found["text"], found["truncated"]
    assert text.split() == [str(number) for number in range(500)]
    assert text.count("\n\n") == 25
    assert "\n\n\n" not in text


async def test_a_strict_word_document_is_read() -> None:
    """The text of a document in the strict variant of Open XML is read like that of any other."""
    content = docx("<w:p><w:r><w:t>Rent</w:t></w:r></w:p>", word=STRICT_WORD)
    assert (await read(content))["text"] == "Rent\n"


async def test_word_text_appears_once() -> None:
    """A nested table is part of its cell, a text box is read once, and neither tab stops nor moved or deleted text appear."""

    def paragraph(text: str) -> str:
        return f"<w:p><w:pPr><w:tabs><w:tab w:val='left'/></w:tabs></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"

    def table(*cells: str) -> str:
        return f"<w:tbl><w:tr>{''.join(f'<w:tc>{cell}</w:tc>' for cell in cells)}</w:tr></w:tbl>"

    controlled = f"<w:sdt><w:sdtContent><w:tc>{paragraph('sum')}</w:tc></w:sdtContent></w:sdt>"
    box = f"<w:txbxContent>{paragraph('box')}</w:txbxContent>"
    content = docx(
        table(paragraph("a") + table(paragraph("b"), paragraph("c")), paragraph("d"))
        + f"<w:tbl><w:tr><w:tc>{paragraph('e')}</w:tc>{controlled}</w:tr></w:tbl>"
        + "<w:p><w:r><w:t>before</w:t></w:r><w:r><mc:AlternateContent>"
        f"<mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r></w:p>"
        "<w:p><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom><w:del><w:r><w:tab/></w:r></w:del>"
        "<w:r><w:t>e</w:t><w:noBreakHyphen/><w:t>mail</w:t></w:r></w:p>"
    )
    assert (await read(content))["text"] == "a b c\td\ne\tsum\nbefore\nbox\ne-mail\n"


async def test_notes_of_a_word_document_follow_the_text() -> None:
    """Footnotes and endnotes are numbered in the order of their references and stand at the end of the text."""

    def note(kind: str, number: int, text: str) -> str:
        return f"<w:{kind} w:id='{number}'><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:{kind}>"

    content = docx(
        "<w:p><w:r><w:t>Rent</w:t><w:endnoteReference w:id='2'/></w:r><w:r><w:t> and dogs</w:t>"
        "<w:footnoteReference w:id='2'/></w:r></w:p><w:p><w:r><w:t>End</w:t></w:r></w:p>",
        footnotes=note("footnote", 0, "separator") + note("footnote", 2, "small ones"),
        endnotes=note("endnote", 2, "in euros"),
    )
    assert (await read(content))["text"] == "Rent[1] and dogs[2]\nEnd\n[1] in euros\n[2] small ones\n"


async def test_deleted_text_and_comments_of_an_open_document_are_left_out() -> None:
    """Only the valid text is read: no deleted text and no comments; notes follow at the end, and text boxes are lines."""
    content = odt(
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>deleted</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes>"
        "<text:p>Rent<office:annotation><text:p>comment</text:p></office:annotation> is<text:note><text:note-citation>i"
        "</text:note-citation><text:note-body><text:p>in euros</text:p></text:note-body></text:note> due</text:p>"
        "<text:p>Box<text:span><text:p>in it</text:p></text:span></text:p>"
    )
    assert (await read(content))["text"] == "Rent is[i] due\nBox\nin it\n[i] in euros\n"


async def test_an_encrypted_office_document_has_a_reason() -> None:
    """A docx or odt with a password is reported as encrypted, and an old Office file as no document."""
    compound = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    assert await refused(compound + "EncryptedPackage".encode("utf-16-le")) == "DOCUMENT_ENCRYPTED"
    assert await refused(odt("", entry="<manifest:encryption-data/>")) == "DOCUMENT_ENCRYPTED"
    assert await refused(compound) == "NOT_A_DOCUMENT"


@pytest.mark.parametrize("algorithm", ["AES-128", "AES-256"])
async def test_aes_needs_a_package(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PDF with AES and without a password for reading is read; an installation without cryptography reports it as
    encrypted and names the package."""
    content = encrypted_pdf("Rent", password="", algorithm=algorithm)
    assert (await read(content))["text"].startswith("Rent")
    for name in ("CryptAES", "aes_cbc_decrypt", "aes_ecb_decrypt", "aes_cbc_encrypt", "aes_ecb_encrypt"):
        monkeypatch.setattr(pypdf._encryption, name, getattr(without_cryptography, name))
    with pytest.raises(ToolError, match="cryptography") as caught:
        await read(content)
    assert caught.value.reason == "DOCUMENT_ENCRYPTED"


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
