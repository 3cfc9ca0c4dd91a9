"""What a small model copies around new lines, and where the new ones belong."""

import pytest

from aeond.capabilities.tools.editing.text_edits import Addition, Replacement, edit_text

LIST = "# Trip\n\nTo bring:\n- coffee\n- marjoram\n\nShe eats no onions.\n"
BOXES = "- [ ] descale the kettle\n- [x] oil the gate\n- [ ] post the parcel\n"


def edited(text: str, *changes: Replacement | Addition) -> str:
    return edit_text(text.encode(), changes, "notes.md").content.decode()


@pytest.mark.parametrize(
    ("text", "addition", "expected"),
    [
        (LIST, "- coffee\n- marjoram\n- pickles", LIST.replace("ram\n", "ram\n- pickles\n")),
        (LIST, "To bring:\n- pickles", LIST.replace("ram\n", "ram\n- pickles\n")),
        (LIST, "coffee\nmarjoram\npickles", LIST.replace("ram\n", "ram\n- pickles\n")),
        (LIST, "She eats no onions.\nShe is 70.", f"{LIST}She is 70.\n"),
        ("a\nb", "b\nc\n", "a\nb\nc\n"),
        ("1. tea\n2. rice\n\nend\n", "2. rice\n3. milk", "1. tea\n2. rice\n3. milk\n\nend\n"),
        (LIST, "coffee", f"{LIST}coffee\n"),
        ("a\nb\n", "c\na", "a\nb\nc\na\n"),
    ],
)
def test_copied_lines_say_where_the_new_ones_belong(text: str, addition: str, expected: str) -> None:
    """Where the first of several lines to be added repeat some of the file, only the others are added, behind these and at the end of
    their list."""
    assert edited(text, Addition(addition)) == expected


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ("b2\nc", "a\nb2\nc\nd\n"),
        ("b2\nc\nd", "a\nb2\nc\nd\n"),
        ("b2\nx", "a\nb2\nx\nc\nd\n"),
        ("c", "a\nc\nc\nd\n"),
    ],
)
def test_the_lines_that_follow_are_not_repeated(new: str, expected: str) -> None:
    """A text of several lines in place of one loses its last ones where they stand below that one anyway."""
    assert edited("a\nb\nc\nd\n", Replacement("b", new)) == expected


@pytest.mark.parametrize(
    ("addition", "expected"),
    [
        ("- [x] descale the kettle", BOXES.replace("[ ] descale", "[x] descale")),
        ("- [x] wash the car", f"{BOXES}- [x] wash the car\n"),
        ("- [ ] wash the car", f"{BOXES}- [ ] wash the car\n"),
    ],
)
def test_to_add_an_open_item_as_ticked_is_to_tick_it(addition: str, expected: str) -> None:
    """A ticked item whose text is that of one open item ticks that one; any other is added."""
    assert edited(BOXES, Addition(addition)) == expected
