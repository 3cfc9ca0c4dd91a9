"""Small documents: PDF, docx and odt."""

import io
import zipfile

from pypdf import PdfReader, PdfWriter

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "urn:oasis:names:tc:opendocument:xmlns"


def pdf(*pages: str) -> bytes:
    """A PDF with one line of text on each page."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, line in enumerate(pages):
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Resources << /Font << /F 3 0 R >> >>"
            f" /Contents {5 + 2 * number} 0 R >>"
        )
        drawing = f"BT /F 12 Tf 20 200 Td ({line}) Tj ET"
        objects.append(f"<< /Length {len(drawing)} >>\nstream\n{drawing}\nendstream")
    text, places = "%PDF-1.4\n", []
    for number, one in enumerate(objects, start=1):
        places.append(len(text))
        text += f"{number} 0 obj\n{one}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(text)}\n%%EOF\n"
    return f"{text}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()


def encrypted_pdf(line: str) -> bytes:
    """A PDF that can be read with a password only."""
    writer, made = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(line)))), io.BytesIO()
    writer.encrypt("password", algorithm="RC4-128")
    writer.write(made)
    return made.getvalue()


def docx(body: str, doctype: str = "") -> bytes:
    """A Word document with this body."""
    xml = f'{doctype}<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
    return _zipped("word/document.xml", xml)


def odt(text: str) -> bytes:
    """An OpenDocument with this text."""
    names = " ".join(f'xmlns:{name}="{OFFICE}:{name}:1.0"' for name in ("office", "text", "table"))
    body = f"<office:body><office:text>{text}</office:text></office:body>"
    return _zipped("content.xml", f"<office:document-content {names}>{body}</office:document-content>")


def _zipped(name: str, content: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(name, content)
    return made.getvalue()
