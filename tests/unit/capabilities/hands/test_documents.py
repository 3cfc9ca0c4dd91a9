"""read_document."""

from pathlib import Path

import pytest

from aeond.capabilities.hands import documents
from aeond.domain.policy import Access
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.documents import docx, odt, pdf
from tests.support.hands import Hands


@needs_bubblewrap
async def test_a_document_is_read_in_sections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document is found by an inexact name, and a long one is read on from `next_offset`."""
    monkeypatch.setattr(documents, "MAX_CHARS", 4)
    (tmp_path / "Lease.odt").write_bytes(odt("<text:p>rent</text:p><text:p>dog</text:p>"))
    hands = Hands(tmp_path)
    first = await hands.done("read_document", path="lease")
    assert first == {"path": "Lease.odt", "truncated": True, "next_offset": 4, "text": "rent"}
    second = await hands.done("read_document", path="Lease.odt", offset=5)
    assert second == {"path": "Lease.odt", "truncated": False, "next_offset": 9, "text": "dog\n"}


@needs_bubblewrap
async def test_an_unreadable_source_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is no document, one that does not exist and one that is too large fail with a reason."""
    (tmp_path / "lease.pdf").write_bytes(pdf("Rent"))
    (tmp_path / "notes.txt").write_text("Rent", encoding="utf-8")
    hands = Hands(tmp_path)
    assert (await hands.call("read_document", path="notes.txt")).reason == "NOT_A_DOCUMENT"
    missing = await hands.call("read_document", path="q8 no such value 7x")
    assert missing.reason == "FILE_NOT_FOUND"
    assert set(missing.candidates) == {"lease.pdf", "notes.txt"}
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 10)
    assert (await hands.call("read_document", path="lease.pdf")).reason == "FILE_TOO_LARGE"


@needs_bubblewrap
@pytest.mark.parametrize("content", [b"%PDF-1.7 and nothing", b"PK\x03\x04 and nothing", docx("<w:p>")])
async def test_a_damaged_document_is_an_error(tmp_path: Path, content: bytes) -> None:
    """Whatever a parser raises is the same error, which says what it was."""
    (tmp_path / "lease").write_bytes(content)
    assert (await Hands(tmp_path).call("read_document", path="lease")).reason == "DOCUMENT_BROKEN"


async def test_the_target_is_the_file(tmp_path: Path) -> None:
    """The policy learns which file is read, and a file of an untrusted folder taints the run as with read_file."""
    (tmp_path / "lease.pdf").write_bytes(pdf("Rent"))
    hands = Hands(tmp_path)
    (tool,) = [tool for tool in hands.tools if tool.spec.name == "read_document"]
    (target,) = await tool.targets({"path": "lease"}, hands.context) or ()
    assert (target.name, target.access) == (f"{tmp_path}/lease.pdf", Access.READ)


async def test_only_documents_are_proposed(tmp_path: Path) -> None:
    """A text that lies beside documents is not proposed, so that it is read as a text."""
    for name in ("lease.pdf", "offers/Old.ODT", "notes.txt", "table.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    hands = Hands(tmp_path)
    (tool,) = [tool for tool in hands.tools if tool.spec.name == "read_document"]
    assert await tool.candidates("path", hands.context, 10) == ["lease.pdf", "offers/Old.ODT"]
