"""Small documents: PDF, docx and odt."""

import io
import zipfile
from collections.abc import Mapping

from pypdf import PdfReader, PdfWriter

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT_WORD = "http://purl.oclc.org/ooxml/wordprocessingml/main"
COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
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


def encrypted_pdf(line: str, password: str = "password", algorithm: str = "RC4-128") -> bytes:
    """A PDF that can be read with the password only."""
    writer, made = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(line)))), io.BytesIO()
    writer.encrypt(password, "owner", algorithm=algorithm)
    writer.write(made)
    return made.getvalue()


def docx(body: str, doctype: str = "", word: str = WORD, **notes: str) -> bytes:
    """A Word document with this body, and parts for `footnotes` and `endnotes`, in the vocabulary `word`."""
    names = f'xmlns:w="{word}" xmlns:mc="{COMPATIBILITY}"'
    parts = {f"word/{kind}.xml": f"<w:{kind} {names}>{xml}</w:{kind}>" for kind, xml in notes.items()}
    parts["word/document.xml"] = f"{doctype}<w:document {names}><w:body>{body}</w:body></w:document>"
    return _zipped(parts)


def odt(text: str, entry: str = "") -> bytes:
    """An OpenDocument with this text, whose manifest has this in the entry of the text."""
    names = " ".join(
        f'xmlns:{name}="{OFFICE}:{name}:1.0"' for name in ("office", "text", "table", "manifest")
    )
    body = f"<office:body><office:text>{text}</office:text></office:body>"
    file = f"<manifest:file-entry>{entry}</manifest:file-entry>"
    return _zipped(
        {
            "META-INF/manifest.xml": f"<manifest:manifest {names}>{file}</manifest:manifest>",
            "content.xml": f"<office:document-content {names}>{body}</office:document-content>",
        }
    )


def _zipped(parts: Mapping[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return made.getvalue()
