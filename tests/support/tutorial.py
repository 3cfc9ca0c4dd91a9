"""The commands of docs/tutorial.md, in order."""

import re
from dataclasses import dataclass

from tests.support.repository import ROOT

PAGE = ROOT / "docs" / "tutorial.md"


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, where its commands are typed ("" for none), and its text."""

    language: str
    place: str
    text: str


def blocks() -> list[Block]:
    """All fenced blocks of the page."""
    found = re.findall(
        r"^```(\w+)(?: ([\w-]+))?\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    return [Block(*parts) for parts in found]
