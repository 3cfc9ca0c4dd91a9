"""The text of a response. Only encodings of the web are decoded: Python knows others that compute, or expand."""

import codecs
import re
from typing import Final

_WEB: Final = frozenset(
    {
        *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "ascii", "koi8-r", "koi8-u", "mac-roman", "tis-620"),
        *(
            "gbk",
            "gb2312",
            "gb18030",
            "big5",
            "euc_jp",
            "euc_kr",
            "shift_jis",
            "iso2022_jp",
            "cp866",
            "cp874",
        ),
        *(f"iso8859-{part}" for part in (*range(1, 12), *range(13, 17))),
        *(f"cp{page}" for page in range(1250, 1259)),
    }
)
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
    beginning = content[:_DECLARED_WITHIN].decode("latin-1") if "html" in content_type.lower() else ""
    for source in (content_type, beginning):
        found = _CHARSET.search(source)
        if found and (name := _known(found[1])):
            return content.decode(name, "replace")
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(content)  # a cut last character is left out
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _known(label: str) -> str:
    """The codec of a label of the web; "" if there is none."""
    try:
        name = codecs.lookup(label).name
    except LookupError:
        return ""
    if name not in _WEB:
        return ""
    return "cp1252" if name in ("ascii", "iso8859-1") else name  # as browsers read them
