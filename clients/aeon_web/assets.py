"""The files of the page, and the headers with which everything is sent."""

from collections.abc import Mapping
from importlib.resources import files

from aeon_web.exchange import Response

# No inline code, nothing from elsewhere, no frames, and no way to turn text into markup.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS: Mapping[str, str] = {
    "cache-control": "no-store",
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


def load() -> dict[str, Response]:
    """A response for each path of the page; they hold nothing secret."""
    found = {}
    for file in files("aeon_web").joinpath("page").iterdir():
        suffix = file.name.rpartition(".")[2]
        if suffix in _TYPES:
            headers = {**HEADERS, "content-type": _TYPES[suffix]}
            found[f"/{file.name}"] = Response(200, headers, file.read_bytes())
    found["/"] = found.pop("/index.html")
    return found
