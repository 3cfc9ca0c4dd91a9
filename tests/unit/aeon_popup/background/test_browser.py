"""Opening links where the desktop lacks a part of what opens them; tests/desktop/test_links.py has a desktop."""

from pathlib import Path

import pytest

from aeon_popup.background.browser import open_link

LINK = "https://example.org"


async def test_where_no_program_can_be_started_nothing_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a session bus and without the programs that start another one, a link is not opened, and no error ends the popup."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await open_link(None, LINK) == ""


async def test_an_address_that_no_program_can_take_is_not_opened() -> None:
    """An address that is too long for the arguments of a program is not opened, and no error ends the popup."""
    assert await open_link(None, f"{LINK}/{'a' * 200_000}") == ""
