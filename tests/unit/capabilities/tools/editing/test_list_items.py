"""Where new lines stand, and how they go on with a list."""

import pytest

from aeond.capabilities.tools.editing.edit_conversation import at_ends_of_lists
from aeond.capabilities.tools.editing.text_edits import Addition, Replacement, edit_text
from aeond.domain.values import JsonValue
from aeond.errors import ToolError

NOTES = "# Trip\n\n## To bring\n\n- [ ] coffee\n- [x] marjoram\n\nShe eats no onions.\n## Done\n- ring her\n"
MORE = """Nuts:
* almonds
Alone.

* of another list
Shopping
========

- a
- b
  in tins
1. first
| x | y |
|---|---|
| 1 | 2 |

- run
- swim

- bike
- swim

- fruit
  - apples
- veg
"""


def edited(text: str, *changes: Replacement | Addition, path: str = "a.md") -> str:
    return edit_text(text.encode(), changes, path).content.decode()


@pytest.mark.parametrize(
    ("text", "addition", "expected"),
    [
        (NOTES, Addition("pickles", "marjoram"), NOTES.replace("ram\n", "ram\n- [ ] pickles\n")),
        (NOTES, Addition("- pickles", "- [x] marjoram"), NOTES.replace("ram\n", "ram\n- [ ] pickles\n")),
        (NOTES, Addition("- post it", "## Done"), NOTES.replace("## Done\n", "## Done\n- post it\n")),
        (NOTES, Addition("She is 70.", "She eats"), NOTES.replace("ions.\n", "ions.\nShe is 70.\n")),
        ("1. tea\n2. rice\n\nend\n", Addition("milk", "rice"), "1. tea\n2. rice\n3. milk\n\nend\n"),
        ("a\nb", Addition("c", "b"), "a\nb\nc\n"),
        ("a\r\nb\r\n", Addition("c", "a"), "a\r\nc\r\nb\r\n"),
        (
            "- bring it\n  with sails\n\nend\n",
            Addition("oars", "with sails"),
            "- bring it\n  with sails\n- oars\n\nend\n",
        ),
        ("a\n", Addition("b", " "), "a\nb\n"),
    ],
)
def test_lines_stand_below_the_line_that_is_named(text: str, addition: Addition, expected: str) -> None:
    """An addition stands below the line that it names, and goes on with the list there."""
    assert edited(text, addition) == expected


def test_lines_below_the_same_one_keep_their_order() -> None:
    """Of several additions below one line the first stands first, and those without one stand at the end."""
    changes = [Addition("x", "a"), Addition("end"), Addition("y", "a"), Addition("z", "b")]
    assert edited("a\nb\n", *changes) == "a\nx\ny\nb\nz\nend\n"


def test_numbers_go_on_through_several_additions() -> None:
    """Several additions below a numbered item have numbers one after the other."""
    assert (
        edited("1. a\n2. b\n\nend\n", Addition("x", "b"), Addition("y", "b"))
        == "1. a\n2. b\n3. x\n4. y\n\nend\n"
    )


@pytest.mark.parametrize(
    ("text", "changes", "expected"),
    [
        ("- tea\n- milk\n", (Replacement("tea", ""), Addition("- tea", "milk")), "- milk\n- tea\n"),
        ("- Tea\n- milk\n", (Replacement("tea", ""), Addition("- tea", "milk")), "- milk\n- tea\n"),
        (
            "Tea: 2\nnuts\n",
            (Replacement("tea", "coffee"), Addition("more tea", "nuts")),
            "coffee: 2\nnuts\nmore tea\n",
        ),
        ("a\nb", (Addition("x", "b"), Addition("y"), Replacement("y", "z")), "a\nb\nx\nz\n"),
        ("a\nb\nc\n", (Addition("x", "a"), Replacement("a\nb", "z")), "z\nx\nc\n"),
    ],
)
def test_lines_below_others_are_not_taken_for_what_was_there(
    text: str, changes: tuple[Replacement | Addition, ...], expected: str
) -> None:
    """Lines that are added below another one are no place for the other changes of the call."""
    assert edited(text, *changes) == expected


def test_a_member_of_json_is_added_with_its_comma() -> None:
    """Changes that keep a document valid only together are made."""
    comma, member = Replacement('"a": 1', '"a": 1,'), Addition('  "b": 2', '"a": 1')
    assert edited('{\n  "a": 1\n}\n', comma, member, path="a.json") == '{\n  "a": 1,\n  "b": 2\n}\n'


def test_a_line_of_another_section_is_no_copy() -> None:
    """A line that stands in another section already is added to this one; one that stands in the same is not."""
    text = "## Mon\n- swim\n\n## Tue\n- run\n"
    changes = [Addition("- swim", "- run"), Addition("- run", "## Tue")]
    assert edited(text, *changes) == "## Mon\n- swim\n\n## Tue\n- run\n- swim\n"


def test_a_line_may_go_and_others_come_below_it() -> None:
    """Lines that are added below one that goes take its place."""
    assert edited("a\nb\nc\n", Replacement("b", ""), Addition("d", "b")) == "a\nd\nc\n"


def test_a_setting_is_added_to_its_section() -> None:
    """A line below another one of a document with a format stands there if the document stays valid."""
    text = "[lamp]\non = 1\n\n[fan]\non = 0\n"
    change = Addition("off = 2", "on = 1")
    assert edited(text, change, path="a.ini") == "[lamp]\non = 1\noff = 2\n\n[fan]\non = 0\n"


def test_a_line_that_is_not_there_has_nothing_below_it() -> None:
    """An addition below a line that the file has not fails, with the nearest lines."""
    with pytest.raises(ToolError) as failed:
        edited("milk\nrice\n", Addition("tea", "rise"))
    assert (failed.value.reason, failed.value.candidates) == ("TEXT_NOT_FOUND", ("rice",))


@pytest.mark.parametrize(
    ("below", "meant"),
    [
        ("coffee", "- [x] marjoram"),
        ("marjoram", "- [x] marjoram"),
        ("## To bring", "- [x] marjoram"),
        ("# Trip", "# Trip"),
        ("ring her", "- ring her"),
        ("She eats no onions.", "She eats no onions."),
        ("Nuts:", "* almonds"),
        ("Shopping", "  in tins"),
        ("a", "  in tins"),
        ("| x | y |", "|---|---|"),
        ("- run", "- run\n- swim"),
        ("apples", "  - apples"),
        ("fruit", "- veg"),
        ("Alone.", "Alone."),
    ],
)
def test_a_small_model_means_the_end_of_a_list(below: str, meant: str) -> None:
    """Whatever item or heading of a list a small model names, new lines belong behind the last item of that list, which is named with so many lines
    as make it the only one."""
    changes: JsonValue = [{"add": "x", "below": below}, {"remove": "coffee"}]
    assert at_ends_of_lists(changes, (NOTES + MORE).splitlines()) == [
        {"add": "x", "below": meant},
        {"remove": "coffee"},
    ]


def test_what_is_no_list_of_changes_stays() -> None:
    """Anything else is left to the check of the arguments."""
    assert at_ends_of_lists("none", ["a"]) == "none"
