"""Opening the browser without showing the link to others."""

from pathlib import Path

from aeon_web.browser import browser_command, opened

LINK = "http://127.0.0.1:80/#token=secret"


def program(folder: Path, text: str) -> Path:
    path = folder / "xdg-open"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_browser_needs_a_desktop(tmp_path: Path) -> None:
    """Without a display, or without xdg-open, no browser is opened."""
    path = program(tmp_path, "exit 0")
    assert browser_command({"PATH": str(tmp_path)}) == ""
    assert browser_command({"PATH": "/nonexistent", "DISPLAY": ":0"}) == ""
    assert browser_command({"PATH": str(tmp_path), "WAYLAND_DISPLAY": "wayland-0"}) == str(path)


def test_the_link_is_in_a_private_file_and_not_in_the_arguments(tmp_path: Path) -> None:
    """The browser gets the path of a file that only its user can read; the file goes when the page ends."""
    said = tmp_path / "said"
    command = program(tmp_path, f'echo "$@" >{said}.new; mv {said}.new {said}; exec sleep 60')
    with opened(str(command), LINK, {"XDG_RUNTIME_DIR": str(tmp_path)}) as file:
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.parent == tmp_path
        assert LINK in file.read_text()
    assert not file.exists()
