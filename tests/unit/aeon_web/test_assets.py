"""The files of the page."""

import re

from aeon_web.assets import POLICY, load


def test_every_file_has_its_type_and_the_strict_headers() -> None:
    """Each file is sent with its type and the policy; the page itself is the root."""
    found = load()
    assert {"/", "/app.js", "/style.css", "/icon.svg"} <= set(found)
    assert "/index.html" not in found
    assert {one.headers["content-security-policy"] for one in found.values()} == {POLICY}
    assert found["/app.js"].headers["content-type"] == "text/javascript; charset=utf-8"


def test_the_page_has_no_inline_code_and_nothing_from_elsewhere() -> None:
    """No file contains inline handlers, inline styles, a way to parse markup, or an address of another host."""
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function|<style|\sstyle=|\son\w+=\"|"
        r"https?://(?!www\.w3\.org/2000/svg\")"
    )
    bodies = {path: one.body for path, one in load().items() if isinstance(one.body, bytes)}
    assert {path: found for path, body in bodies.items() if (found := forbidden.findall(body.decode()))} == {}
