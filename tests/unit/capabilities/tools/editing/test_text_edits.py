"""Replacing places of a text, and adding lines."""

import pytest

from aeond.capabilities.tools.editing.text_edits import (
    Addition,
    Replacement,
    edit_text,
    with_line_breaks,
)
from aeond.capabilities.tools.files.differences import Edit
from aeond.errors import ToolError


def edited(text: str | bytes, old: str, new: str, path: str = "a.txt") -> bytes:
    content = text if isinstance(text, bytes) else text.encode()
    return replaced(content, old, new, path).content


def replaced(content: bytes, old: str, new: str, path: str = "a.txt") -> Edit:
    return edit_text(content, [Replacement(old, new)], path)


def added(content: bytes, text: str, path: str) -> bytes:
    return edit_text(content, [Addition(text)], path).content


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("one two three", "two", "2", "one 2 three"),
        ("No Noise here", "noise", "music", "No music here"),
        ("- Tea\n- steak\n", "tea", "coffee", "- coffee\n- steak\n"),
        ("- Rice\n- price list\n", "rice", "beans", "- beans\n- price list\n"),
        ("\u732b\u5c0f\u5c4b", "\u732b", "\u72ac", "\u72ac\u5c0f\u5c4b"),
        ("- 15. May dentist\n", "15. May dentist", "16. May dentist", "- 16. May dentist\n"),
        ("3. May cinema\n", "May cinema", "4. May cinema", "4. May cinema\n"),
        ("2. milk\n", "milk", "1. oat milk", "2. oat milk\n"),
        ("one\n  two   words\n", "two words", "2", "one\n  2\n"),
        ("a\r\nb c\r\nd", "b c", "x\ny", "a\r\nx\r\ny\r\nd"),
        ("one\r\ntwo\r\n", "one\ntwo", "1", "1\r\n"),
        ("from 9 to 19, 99", "9", "10", "from 10 to 19, 99"),
        ("milk\nmilk chocolate\n", "milk", "tea", "tea\nmilk chocolate\n"),
        ("- milk\n- oat milk\n", "milk", "tea", "- tea\n- oat milk\n"),
        ("a\nb\n", "a\n", "x", "x\nb\n"),
        ("* [ ] milk\n* [x] eggs\n", "milk", "- [x] oat milk", "* [x] oat milk\n* [x] eggs\n"),
        ("1. milk\n2. eggs\n", "eggs", "- [ ] two eggs", "1. milk\n2. [ ] two eggs\n"),
        ("- milk, oat\n", "oat", "- soy", "- milk, - soy\n"),
        ("a (x) b", "(x)", "[y]", "a [y] b"),
        ("one\ntwo\n", "one\\ntwo", "1", "1\n"),
    ],
)
def test_one_place_is_replaced(text: str, old: str, new: str, expected: str) -> None:
    """The one place that is meant is replaced, despite other case, spacing and line breaks."""
    assert edited(text, old, new) == expected.encode()


@pytest.mark.parametrize(
    ("text", "old", "expected"),
    [
        ("milk\nbutter\neggs\n", "butter", "milk\neggs\n"),
        ("- milk\n- Butter.\n- eggs\n", "butter", "- milk\n- eggs\n"),
        ("- [ ] milk\r\n- [x] eggs\r\n", "eggs", "- [ ] milk\r\n"),
        ("1. milk\n2. eggs", "2. eggs", "1. milk\n"),
        ("milk, butter and eggs\n", ", butter", "milk and eggs\n"),
        ("butter,2\n", "butter", ",2\n"),
        ("a\nb\nc\n", "a\nb", "c\n"),
        ("only", "only", ""),
    ],
)
def test_text_is_removed(text: str, old: str, expected: str) -> None:
    """An empty replacement removes the text, and its line if only a list marker or punctuation is left."""
    assert edited(text, old, "") == expected.encode()


def test_everything_else_stays_byte_for_byte() -> None:
    """Bytes that are no UTF-8, a byte order mark and mixed line breaks pass through."""
    content = b"\xef\xbb\xbfcaf\xe9\r\nold\nrest\r\n\t \n"
    assert edited(content, "old", "new") == content.replace(b"old", b"new")


def test_changed_lines_are_shown() -> None:
    """The edit says how the lines read now, or which were removed."""
    assert replaced(b"a\n 2 b \nc", "b", "x").change == "before: 2 b\nnow: 2 x"
    assert replaced(b"a\nb\nc", "b", "1\n2\n3\n4\n5").change == "before: b\nnow: 1\n2\n3\nand 2 more lines"
    assert replaced(b"a\n- b\nc", "b", "").change == "removed: - b"


def test_several_places_are_an_error_with_the_lines() -> None:
    """A text in several places is refused with the lines that have it."""
    with pytest.raises(ToolError) as refused:
        edited("red car\nred bus\nblue car\n", "red", "green")
    assert (refused.value.reason, refused.value.field) == ("TEXT_AMBIGUOUS", "changes")
    assert refused.value.candidates == ("red car", "red bus")
    assert "red car | red bus" in refused.value.message


@pytest.mark.parametrize(
    ("old", "nearest"), [("buy the brad", "buy the bread"), ("bread today", "buy the bread")]
)
def test_missing_text_is_an_error_with_the_nearest_lines(old: str, nearest: str) -> None:
    """A text that is not there is refused with the lines most like it."""
    with pytest.raises(ToolError) as refused:
        edited("call Tim\nbuy the bread\n", old, "x")
    assert (refused.value.reason, refused.value.field) == ("TEXT_NOT_FOUND", "changes")
    assert refused.value.candidates[0] == nearest


@pytest.mark.parametrize(("content", "reason"), [(b"a\0b", "NOT_TEXT"), (b"", "TEXT_NOT_FOUND")])
def test_no_text_is_not_edited(content: bytes, reason: str) -> None:
    """A binary file and an empty one have no place to replace."""
    with pytest.raises(ToolError) as refused:
        edited(content, "a", "b")
    assert refused.value.reason == reason


def test_spaces_are_no_text_to_replace() -> None:
    """A text of spaces alone is refused."""
    with pytest.raises(ToolError) as refused:
        edited("a b", "  ", "-")
    assert refused.value.reason == "TEXT_NOT_FOUND"


@pytest.mark.parametrize(
    ("content", "addition", "expected"),
    [
        (b"", "eggs", b"eggs\n"),
        (b"milk", "eggs", b"milk\neggs\n"),
        (b"milk\n", "eggs\n", b"milk\neggs\n"),
        (b"milk\r\n", "eggs\ntea", b"milk\r\neggs\r\ntea\r\n"),
        (b"milk\r\ntea", "eggs", b"milk\r\ntea\r\neggs\r\n"),
        (b"caf\xe9", "eggs", b"caf\xe9\neggs\n"),
        (b"milk", "eggs\\ntea", b"milk\neggs\ntea\n"),
    ],
)
def test_lines_are_added_on_their_own(content: bytes, addition: str, expected: bytes) -> None:
    """Added text begins a line and ends one, in the file's own line breaks, whatever the file ends with."""
    assert added(content, addition, "a.txt") == expected


@pytest.mark.parametrize(
    ("content", "addition", "expected"),
    [
        ("- milk\n- tea\n", "eggs\nrice\n", "- milk\n- tea\n- eggs\n- rice\n"),
        ("# Trip\n\n  * boots", "map", "# Trip\n\n  * boots\n  * map\n"),
        ("1. milk\r\n2. tea\r\n", "eggs", "1. milk\r\n2. tea\r\n3. eggs\r\n"),
        ("- [x] milk\n", "eggs", "- [x] milk\n- [ ] eggs\n"),
        ("- milk\n", "- eggs\n", "- milk\n- eggs\n"),
        ("- milk\n", "- [ ] eggs\n* rice", "- milk\n- eggs\n- rice\n"),
        ("- [ ] milk\n", "- eggs", "- [ ] milk\n- [ ] eggs\n"),
        ("1. milk\n2. tea\n", "1. eggs", "1. milk\n2. tea\n3. eggs\n"),
        ("- milk\n", "- [x] eggs", "- milk\n- [x] eggs\n"),
        ("- milk\n", "- eggs\n  - six", "- milk\n- eggs\n  - six\n"),
        ("milk\n", "- eggs", "milk\neggs\n"),
        ("- 3. May cinema\n", "15. May dentist", "- 3. May cinema\n15. May dentist\n"),
        ("3. May cinema\n", "15. May dentist", "3. May cinema\n15. May dentist\n"),
        ("- milk\n", "1. FC ticket", "- milk\n1. FC ticket\n"),
        ("- food\n  - milk\n", "- tools", "- food\n  - milk\n- tools\n"),
        ("- food\n  - milk\n", "  * rice", "- food\n  - milk\n  - rice\n"),
        ("1. milk\n2. tea\n", "1. eggs\n2. rice", "1. milk\n2. tea\n3. eggs\n4. rice\n"),
        ("- milk\n", "\nThe end", "- milk\n\nThe end\n"),
        ("- milk\n", "## Later", "- milk\n## Later\n"),
        ("- milk\n\n", "eggs", "- milk\n\neggs\n"),
        ("milk\n-5 degrees\n", "eggs", "milk\n-5 degrees\neggs\n"),
    ],
)
def test_a_list_goes_on_with_its_markers(content: str, addition: str, expected: str) -> None:
    """Lines that follow a list item directly become items like it; other lines, items of other lists, ticked ones and dates stay as they are."""
    assert added(content.encode(), addition, "a.md") == expected.encode()


def test_a_file_keeps_its_encoding() -> None:
    """A file that is not UTF-8 gets new text in its own encoding, and none that this lacks; one with both stays as it is."""
    assert added(
        "Müller;Köln\n".encode("cp1252"), "Jäger;Bonn", "a.csv"
    ) == "Müller;Köln\nJäger;Bonn\n".encode("cp1252")
    assert (
        added("Köln\n".encode() + b"\xe9\n", "Bär", "a.txt")
        == "Köln\n".encode() + b"\xe9\n" + "Bär\n".encode()
    )
    with pytest.raises(ToolError) as raised:
        added("Köln\n".encode("cp1252"), "Łódź", "a.txt")
    assert raised.value.reason == "NOT_TEXT"


def test_changes_are_made_in_turn() -> None:
    """Several changes build on each other, and the edit names each of them."""
    changes: list[Replacement | Addition] = [
        Replacement("milk", "tea"),
        Addition("eggs"),
        Replacement("eggs", "six eggs"),
        Replacement("rice", ""),
    ]
    assert edit_text(b"- milk\n- rice\n", changes, "a.md") == Edit(
        b"- tea\n- six eggs\n",
        "before: - milk\nnow: - tea\nadded: - eggs\nbefore: - eggs\nnow: - six eggs\nremoved: - rice",
    )


def test_only_the_outcome_of_all_changes_is_judged() -> None:
    """Changes that break a format each, and keep it together, are made."""
    changes = [Replacement('"a": 1', '"a": 1,'), Replacement("}", '"b": 2}')]
    assert edit_text(b'{"a": 1}', changes, "a.json").content == b'{"a": 1,"b": 2}'


def test_only_prose_has_lists() -> None:
    """In formats other than prose, a line that looks like a list item is data."""
    assert added(b"- a\n", "b", "a.yaml") == b"- a\nb\n"


@pytest.mark.parametrize(
    ("table", "row", "written"),
    [
        ("name,years\nIda,3\nBo,4\n", "Cy, 5 years", "Cy,5"),
        ("what,price_eur\nrope,22\npaint,48.5\n", "oar, 19.90 euros", "oar,19.90"),
        ("name;Jahre\nIda;3\nBo;4\n", "Cy; 5 Jahre\nDi; 6 Jahre", "Cy;5\nDi;6"),
        ("what,euros\nrope,22\npaint,48.5\n", "oar, 16k", "oar,16k"),
        ("what,pieces\nrope,22\npaint,48\n", "oar, 2 dozen", "oar,2 dozen"),
        ("name,house\nIda,3\nBo,4\n", "Cy, 12b", "Cy,12b"),
        ("name, age\nIda, 3\nBo, 4\n", "Cy, 5 years", "Cy, 5 years"),
        ("name,age\nIda,3\nBo,\n", "Cy, 5 years", "Cy,5 years"),
        ("name,day\nIda,3 May\nBo,4 May\n", "Cy, 5 May", "Cy,5 May"),
        ("name,age\nIda,3\nBo,4\n", "Cy,five", "Cy,five"),
        ("name,age\nIda,3\n", "Cy, 5 years", "Cy, 5 years"),
        ('name,age\n"Ida, too",3\nBo,4\n', "Cy, 5 years", "Cy, 5 years"),
    ],
)
def test_a_row_is_added_in_the_form_of_the_others(table: str, row: str, written: str) -> None:
    """Without spaces around cells where no row has them, and without the unit that a column of plain numbers is named by; other cells stay."""
    assert added(table.encode(), row, "a.csv").decode() == f"{table}{written}\n"


def test_a_row_of_another_table_is_refused() -> None:
    """An added row has as many fields as the header, and the error shows the header."""
    with pytest.raises(ToolError, match="name,age") as refused:
        added(b"name,age\nIda,3\n", "Bo,4,x", "a.csv")
    assert refused.value.reason == "FORMAT_BROKEN"


@pytest.mark.parametrize(
    ("text", "old", "new", "path"),
    [
        ("name,age\nIda,3\n", "name,age", "name,age,town", "a.csv"),
        ("name,age\nIda,3\nBo\n", "Bo", "Bo,4,x", "a.csv"),
        ('name,age\n"Ida, the boat",3\n', "3", "4", "a.csv"),
        ("one line\n", "one", "one, two", "a.csv"),
        ("{broken", "broken", "still", "a.json"),
        ("a = 1", "1", "one, two", "a.ini"),
    ],
)
def test_other_edits_are_not_judged(text: str, old: str, new: str, path: str) -> None:
    """A changed header, and what was not valid before, can be edited freely."""
    assert edited(text, old, new, path) == text.replace(old, new).encode()


@pytest.mark.parametrize(
    ("text", "path", "meant"),
    [
        ("a\\nb\\nc", "a.txt", "a\nb\nc"),
        ("a\\nb", "list", "a\nb"),
        ("a\\nb\nc", "a.txt", "a\\nb\nc"),
        ('{"a": "x\\ny"}', "a.json", '{"a": "x\\ny"}'),
        ("print('a\\nb')", "a.py", "print('a\\nb')"),
        ("C:\\new", "a.txt", "C:\\new"),
        ("D:\\data\\new", "a.txt", "D:\\data\\new"),
        ("a\\\\nb", "a.txt", "a\\\\nb"),
        ("plain", "a.txt", "plain"),
    ],
)
def test_escaped_breaks_become_lines_where_nothing_else_can_be_meant(
    text: str, path: str, meant: str
) -> None:
    """The two characters of an escaped break become a break in prose without breaks, and stay in code and paths."""
    assert with_line_breaks(text, path) == meant


def test_lines_behind_a_json_document_are_left_out() -> None:
    """Beside another change the report says so and they are not written; alone they are refused, and so is a change that breaks it."""
    document = b'{\n  "due": "May"\n}\n'
    june = Replacement('  "due": "May"', '  "due": "June"')
    edited = edit_text(document, [june, Addition("That is a month later.")], "order.json")
    assert edited.content == document.replace(b"May", b"June")
    assert edited.change.splitlines() == [
        'before: "due": "May"',
        'now: "due": "June"',
        "nothing else added: it is there already, or is no part of such a file",
    ]
    alone: list[Replacement | Addition] = [Addition("A month later.")]
    for wrong in (alone, [Replacement("}", "]"), *alone]):
        with pytest.raises(ToolError) as refused:
            edit_text(document, wrong, "order.json")
        assert refused.value.reason == "FORMAT_BROKEN"


def test_what_is_replaced_is_not_removed_as_well() -> None:
    """A line that is replaced and removed by the same changes gets its new text: a small model says the same thing twice."""
    edit = edit_text(
        b"hours = 8\nfan = on\n",
        [Replacement("hours = 8", "hours = 10"), Replacement("hours = 8", "")],
        "a.ini",
    )
    assert edit.content == b"hours = 10\nfan = on\n"


def test_lines_that_no_settings_have_are_left_out() -> None:
    """Beside another change of an INI file a sentence at its end is not written; alone it is refused, and a new key is written."""
    document = b"[fridge]\ntemperature = 7\n"
    colder = Replacement("temperature = 7", "temperature = 5")
    edited = edit_text(document, [colder, Addition("- [ ] make the fridge colder")], "van.ini")
    assert edited.content == b"[fridge]\ntemperature = 5\n"
    edited = edit_text(document, [colder, Addition("light = off")], "van.ini")
    assert edited.content == b"[fridge]\ntemperature = 5\nlight = off\n"
    with pytest.raises(ToolError) as refused:
        edit_text(document, [Addition("make the fridge colder")], "van.ini")
    assert refused.value.reason == "FORMAT_BROKEN"


def test_lines_that_are_there_already_are_left_out() -> None:
    """Beside another change a line is not added once more, unless it is moved; alone it is."""
    edited = edit_text(
        b"bread\ntea\n", [Addition("candles"), Addition("- [ ] Tea"), Addition("bread")], "a.txt"
    )
    assert edited.content == b"bread\ntea\ncandles\n"
    assert edit_text(b"bread\ntea\n", [Addition("bread")], "a.txt").content == b"bread\ntea\nbread\n"
    moved = edit_text(b"bread\ntea\n", [Replacement("bread", ""), Addition("bread")], "a.txt")
    assert moved.content == b"tea\nbread\n"


@pytest.mark.parametrize(
    ("before", "added", "after"),
    [
        ("bread\ntea\n", "- [ ] candles", "bread\ntea\ncandles\n"),
        ("bread\ntea\n", "- candles", "bread\ntea\ncandles\n"),
        ("bread\ntea\n", "1. candles", "bread\ntea\n1. candles\n"),
        (
            "# Jobs\n\n- [ ] wash\n\nMore later.\n",
            "- [ ] dry",
            "# Jobs\n\n- [ ] wash\n\nMore later.\n- [ ] dry\n",
        ),
        ("", "- [ ] candles", "- [ ] candles\n"),
    ],
)
def test_plain_lines_get_no_bullet(before: str, added: str, after: str) -> None:
    """Below lines of which none is a list item, a single new one loses its bullet and its open box."""
    assert edit_text(before.encode(), [Addition(added)], "a.txt").content.decode() == after


@pytest.mark.parametrize(
    ("new", "path", "after"),
    [
        ("- [ ] green tea", "a.txt", "bread\ngreen tea\n"),
        ("- [x] tea", "a.txt", "bread\n- [x] tea\n"),
        ("- tea", "a.yaml", "bread\n- tea\n"),
    ],
)
def test_a_plain_line_stays_one(new: str, path: str, after: str) -> None:
    """What replaces a line of prose without list items has no bullet either, unless it is ticked off."""
    assert edit_text(b"bread\ntea\n", [Replacement("tea", new)], path).content.decode() == after


def test_what_changes_nothing_is_not_reported_beside_a_change() -> None:
    """A replacement by the same text is left out of the report, unless it is all that was to be changed."""
    same = Replacement("tea", "- tea")
    edit = edit_text(b"- tea\n", [Addition("- rice"), same], "list.md")
    assert edit.change == "added: - rice"
    assert "tea" in edit_text(b"- tea\n", [same], "list.md").change


def test_what_is_removed_does_not_come_back_in_its_place() -> None:
    """A line that the same call removes and adds where it stood is removed."""
    changes = Replacement("tea", ""), Addition("- [ ] tea", "- [ ] tea")
    assert edit_text(b"- [ ] bread\n- [ ] tea\n", changes, "list.md").content == b"- [ ] bread\n"
