"""The commands of a page that is typed word by word, in order."""

import re
from dataclasses import dataclass
from pathlib import Path

from tests.support.repository import ROOT

TUTORIAL = ROOT / "docs" / "tutorial.md"
HANDS = ROOT / "docs" / "hands.md"
AIDER = ROOT / "docs" / "aider.md"
WEB = ROOT / "docs" / "web.md"


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, where its commands are typed ("" for none), and its text."""

    language: str
    place: str
    text: str


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of the page."""
    found = re.findall(
        r"^```(\w+)(?: ([\w-]+))?\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    return [Block(*parts) for parts in found]
