"""Lines of a settings file by their section."""

import pytest

from aeond.capabilities.tools.editing.sections import (
    heading_above,
    section_named,
    with_headings,
    without_heading,
)
from aeond.capabilities.tools.editing.text_edits import Replacement, edit_text
from aeond.errors import ToolError

KILN = "[bisque]\nhold_min = 20\nend = 950\n\n[glaze] ; second firing\nend = 1230\nhold_min = 20\n"


def edited(old: str, new: str, text: str = KILN, path: str = "kiln.ini") -> str:
    return edit_text(text.encode(), [Replacement(old, new)], path).content.decode()


@pytest.mark.parametrize("old", ["[glaze] hold_min = 20", "[glaze]\nhold_min = 20"])
@pytest.mark.parametrize("new", ["hold_min = 30", "[glaze] hold_min = 30", "[glaze]\nhold_min = 30"])
def test_a_heading_says_which_line_is_meant(old: str, new: str) -> None:
    """The line of the named section is changed, and that of the other one and the headings stay."""
    assert edited(old, new) == KILN[: KILN.rindex("hold_min")] + "hold_min = 30\n"


def test_a_line_of_a_section_is_removed() -> None:
    """A removal takes the line out of the named section; with its heading as it stands in the file, both."""
    assert edited("[bisque] hold_min = 20", "") == KILN.replace("hold_min = 20\n", "", 1)
    assert edited("[a]\nx = 1\n", "", "[a]\nx = 1\n[b]\nx = 1\n") == "[b]\nx = 1\n"
    assert edited("[a]\nx = 1", "y = 2", "[b]\nx = 1\n[a]\nx = 1\n") == "[b]\nx = 1\n[a]\ny = 2\n"


@pytest.mark.parametrize(
    ("text", "path", "lines"),
    [
        (KILN, "kiln.ini", ("[bisque] hold_min = 20", "[glaze] hold_min = 20")),
        (
            "[[a]]\nhold_min = 20\n[b]\nhold_min = 20\n",
            "k.toml",
            ("[[a]] hold_min = 20", "[b] hold_min = 20"),
        ),
        ("hold_min = 20\n[b]\nhold_min = 20\n", "k.ini", ("hold_min = 20", "[b] hold_min = 20")),
        ("hold_min = 20\nx\nhold_min = 20\n", "k.txt", ("hold_min = 20",)),
    ],
)
def test_a_line_in_several_sections_is_refused_with_them(
    text: str, path: str, lines: tuple[str, ...]
) -> None:
    """Equal lines are refused with the headings of their sections, or else with their numbers."""
    with pytest.raises(ToolError) as refused:
        edited("hold_min = 20", "hold_min = 30", text, path)
    assert (refused.value.reason, refused.value.candidates) == ("TEXT_AMBIGUOUS", lines)
    assert ("on lines 1, 3" in refused.value.message) is (path == "k.txt")


def test_only_a_known_heading_of_a_settings_file_names_a_section() -> None:
    """Boxes of a list, unknown and repeated headings name none."""
    assert section_named("[x]\na\n", "[x] a", "list.md") is None
    assert section_named(KILN, "[third] hold_min", "kiln.ini") is None
    assert section_named("[x]\na = 1\n[x]\na = 2\n", "[x] a", "kiln.ini") is None
    assert section_named(KILN, "[glaze]", "kiln.ini") is None
    assert heading_above(KILN, KILN.rindex("hold_min"), "kiln.ini") == "[glaze]"
    assert without_heading("[bisque] a", "[glaze]") == "[bisque] a"


def test_lines_of_several_sections_are_named_with_their_headings() -> None:
    """Lines that stand in one section only are named as they are."""
    lines = KILN.splitlines()
    assert with_headings(lines, "kiln.ini") == [
        "[bisque]",
        "[bisque] hold_min = 20",
        "end = 950",
        "",
        "[glaze] ; second firing",
        "end = 1230",
        "[glaze] hold_min = 20",
    ]
    assert with_headings(lines, "kiln.md") == lines
