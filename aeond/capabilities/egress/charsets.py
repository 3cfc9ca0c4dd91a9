"""The text of a response. Only encodings of the web are decoded: Python knows others that compute, or expand."""

import codecs
import re
from typing import Final

_WEB: Final = frozenset(
    {
        *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "ascii", "koi8-r", "koi8-u", "mac-roman", "tis-620"),
        *("gbk", "gb2312", "gb18030", "big5", "euc_jp", "euc_kr", "shift_jis", "iso2022_jp"),
        *("cp866", "cp874"),
        *(f"iso8859-{part}" for part in (*range(1, 12), *range(13, 17))),
        *(f"cp{page}" for page in range(1250, 1259)),
    }
)
# Labels and codecs as browsers read them (https://encoding.spec.whatwg.org): by their larger relatives.
_LABELS: Final = {"windows-31j": "cp932", "x-sjis": "cp932", "x-gbk": "gb18030", "x-euc-jp": "euc_jp"}
_READ_AS: Final = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
}
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_DECLARED_WITHIN: Final = 1_024  # bytes of a page, as browsers look for it
_TEXTUAL: Final = re.compile(
    r"text/.*|.*[/+](json|xml|javascript|yaml|x-www-form-urlencoded)|application/(x-)?ndjson"
)


def media_type(content_type: str) -> str:
    """The type without its parameters, in lower case; "" if there is none."""
    return content_type.partition(";")[0].strip().lower()


def is_text(content_type: str, content: bytes) -> bool:
    """Whether the content is to be read as text."""
    kind = media_type(content_type)
    return _TEXTUAL.fullmatch(kind) is not None if kind else b"\0" not in content


def decoded(content: bytes, content_type: str) -> str:
    """The content as text: by its byte order mark, its content type, its own declaration, as UTF-8, or as
    Windows-1252, whichever comes first. What does not fit is replaced."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, "replace")
    if name := _declared(content_type):
        return content.decode(name, "replace")
    if "html" in content_type.lower():
        name = _declared(content[:_DECLARED_WITHIN].decode("latin-1"))
        if name:  # a declaration that could be read is not in UTF-16
            return content.decode("utf-8" if name.startswith("utf-16") else name, "replace")
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(content)  # a cut last character is left out
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _declared(text: str) -> str:
    """The codec of the encoding that the text names; "" if there is none of the web."""
    found = _CHARSET.search(text)
    return _known(found[1]) if found else ""


def _known(label: str) -> str:
    """The codec of a label of the web; "" if there is none."""
    if label.lower() in _LABELS:
        return _LABELS[label.lower()]
    try:
        name = codecs.lookup(label).name
    except LookupError:
        return ""
    return _READ_AS.get(name, name) if name in _WEB else ""
