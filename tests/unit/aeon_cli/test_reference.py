"""The page of aeonctl."""

from aeon_cli.exits import MEANINGS, Exit
from aeon_cli.main import cli
from aeon_cli.reference import page
from tests.support.repository import ROOT


def test_the_page_is_current() -> None:
    """docs/aeonctl.md equals the generated page; `python -m aeon_cli.reference > docs/aeonctl.md`
    updates it.
    """
    assert (ROOT / "docs" / "aeonctl.md").read_text(encoding="utf-8") == page()


def test_the_page_has_every_command() -> None:
    """No command is missing on the page, those of groups included."""
    text = page()
    for name, command in cli.commands.items():
        assert f"\n### aeonctl {name}\n" in text
        for word in getattr(command, "commands", {}):
            assert f"\n### aeonctl {name} {word}\n" in text


def test_every_exit_code_is_explained() -> None:
    """The help of aeonctl explains every exit code."""
    assert list(MEANINGS) == list(Exit)
    text = page()
    for code, meaning in MEANINGS.items():
        assert f"{code.value:>5}  {meaning}" in text
