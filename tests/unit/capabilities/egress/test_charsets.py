"""The text of responses."""

import codecs

import pytest

from aeond.capabilities.egress.charsets import decoded, is_text

TEXT = "größe żółć"


@pytest.mark.parametrize(
    ("content", "content_type", "text"),
    [
        (TEXT.encode(), "text/plain", TEXT),
        (TEXT.encode(), "text/plain; charset=UTF-8", TEXT),
        (codecs.BOM_UTF8 + TEXT.encode(), "text/plain; charset=latin-1", TEXT),
        (TEXT.encode("utf-16"), "text/plain", TEXT),
        ("größe".encode("latin-1"), "text/plain; charset=ISO-8859-1", "größe"),
        ("größe".encode("latin-1"), "text/plain", "größe"),
        ("żółć".encode("iso8859-2"), 'text/html; charset="iso-8859-2"', "żółć"),
        ('<meta charset="iso-8859-2">ż'.encode("iso8859-2"), "text/html", '<meta charset="iso-8859-2">ż'),
        ("日本".encode("shift_jis"), "text/plain; charset=Shift_JIS", "日本"),
        (b"\x87\x40\x87\x8a\xfb\xfc", "text/plain; charset=Shift_JIS", "①㈱髙"),
        (b"\x87\x40", "text/plain; charset=windows-31j", "①"),
        (b"\x93\xfa", "text/plain; charset=x-sjis", "日"),
        ("镕€".encode("gb18030"), "text/plain; charset=gb2312", "镕€"),
        ("똠".encode("cp949"), "text/plain; charset=euc-kr", "똠"),
        ("啫".encode("big5hkscs"), "text/plain; charset=big5", "啫"),
        ("ğ".encode("cp1254") + b"\x80", "text/plain; charset=iso-8859-9", "ğ€"),
        ('<meta charset="utf-16">ż'.encode(), "text/html", '<meta charset="utf-16">ż'),
        ("ż".encode("utf-16-le"), "text/html; charset=utf-16", "ż"),
        (b"\x93x\x94", "text/plain; charset=us-ascii", "“x”"),
        (b"abc\xff", "text/plain; charset=utf-8", "abc�"),
        ("aö".encode()[:2], "text/plain", "a"),
    ],
)
def test_the_encoding_is_found(content: bytes, content_type: str, text: str) -> None:
    """A byte order mark, the content type, the page's own declaration and UTF-8 are tried in this order."""
    assert decoded(content, content_type) == text


@pytest.mark.parametrize(
    "label", ["idna", "punycode", "unicode_escape", "zip", "base64", "rot13", "undefined", "x"]
)
def test_codecs_that_are_no_encodings_of_the_web_are_not_used(label: str) -> None:
    """A response cannot choose a codec that computes or expands: its text is read as if nothing were declared."""
    assert decoded(rb"\x41-9 abc", f"text/plain; charset={label}") == r"\x41-9 abc"


@pytest.mark.parametrize(
    ("content_type", "content", "text"),
    [
        ("text/csv", b"", True),
        ("application/json; charset=utf-8", b"", True),
        ("application/ld+json", b"", True),
        ("image/svg+xml", b"", True),
        ("application/pdf", b"text", False),
        ("image/png", b"", False),
        ("", b"text", True),
        ("", b"\0\1", False),
    ],
)
def test_text_is_distinguished_from_other_data(content_type: str, content: bytes, text: bool) -> None:
    """The content type decides; without one, data with a zero byte are not text."""
    assert is_text(content_type, content) is text
