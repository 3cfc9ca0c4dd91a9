"""Items and members are added to JSON documents, and removed from them."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.capabilities.tools.editing.json_items import MAX_CHARS, containers, items_on_lines, with_commas
from aeond.capabilities.tools.editing.text_edits import Addition, Replacement, edit_text
from aeond.errors import ToolError

LINE = '{"tools": ["saw", "file"], "n": 2}'
TREE = '{\n  "tools": ["saw", "file"],\n  "sizes": [\n    [1, 2],\n    [3]\n  ],\n  "box": {}\n}\n'


def edited(text: str, *changes: Replacement | Addition) -> str:
    return edit_text(text.encode(), changes, "box.json").content.decode()


@pytest.mark.parametrize(
    ("text", "change", "expected"),
    [
        (LINE, Addition('"axe"', LINE), '{"tools": ["saw", "file", "axe"], "n": 2}'),
        (LINE, Addition('"axe"'), '{"tools": ["saw", "file", "axe"], "n": 2}'),
        (LINE, Addition('"axe",', '"saw"'), '{"tools": ["saw", "axe", "file"], "n": 2}'),
        (LINE, Addition('"axe", "awl"', "file"), '{"tools": ["saw", "file", "axe", "awl"], "n": 2}'),
        (LINE, Addition('"axe"', '"tools"'), '{"tools": ["saw", "file", "axe"], "n": 2}'),
        (LINE, Addition('"m": 3', LINE), '{"tools": ["saw", "file"], "n": 2, "m": 3}'),
        (TREE, Addition('"axe"', '  "tools": ["saw", "file"],'), TREE.replace('"file"', '"file", "axe"')),
        (
            TREE,
            Addition('"m": 3', '  "tools": ["saw", "file"],'),
            TREE.replace('],\n  "s', '],\n  "m": 3,\n  "s'),
        ),
        (TREE, Addition("[4]", "    [3]"), TREE.replace("[3]", "[3],\n    [4]")),
        (TREE, Addition("[4]", '  "sizes": ['), TREE.replace("[1,", "[4],\n    [1,")),
        (TREE, Addition("4", "3"), TREE.replace("[3]", "[3, 4]")),
        (TREE, Addition('"a": 1', '"box": {}'), TREE.replace("{}", '{},\n  "a": 1')),
        ("[]", Addition("5"), "[5]"),
        ('["a"]', Addition('"b"'), '["a","b"]'),
        ('["a"]\n', Addition("- b\n"), None),
        ('[\r\n\t"a"\r\n]\r\n', Addition('"b"', '"a"'), '[\r\n\t"a",\r\n\t"b"\r\n]\r\n'),
        ('\ufeff["a", "b"]', Addition('"c"', '"b"'), '\ufeff["a", "b", "c"]'),
        ('{"a": [1], "b": [2]}', Addition("3"), None),
        (LINE, Addition('"n": 3', '"n": 2'), None),
        (LINE, Addition("A day later.", LINE), None),
        (LINE, Addition("A day later.", '"n": 2'), None),
        (LINE, Addition("- [ ] awl", '"file"'), LINE.replace('"file"', '"file", "awl"')),
        (LINE, Addition("drill bit, 8 mm", '"tools"'), LINE.replace('"file"', '"file", "drill bit, 8 mm"')),
        (LINE, Addition("awl", '["saw", "file"]'), LINE.replace('"file"', '"file", "awl"')),
        (LINE, Addition('awl "fine"', '"file"'), None),
        (TREE, Addition("four", "3"), None),
    ],
)
def test_items_are_added_where_they_fit(text: str, change: Addition, expected: str | None) -> None:
    """An item or member stands behind what the change names, or in the only list or object there, in the form of the others; one that fits nowhere is refused."""
    if expected is not None:
        assert edited(text, change) == expected
        return
    with pytest.raises(ToolError) as refused:
        edited(text, change)
    assert refused.value.reason == "FORMAT_BROKEN"


@pytest.mark.parametrize(
    ("text", "old", "expected"),
    [
        (LINE, '"saw"', '{"tools": ["file"], "n": 2}'),
        (LINE, '"file"', '{"tools": ["saw"], "n": 2}'),
        (LINE, "file", '{"tools": ["saw"], "n": 2}'),
        (LINE, '"n": 2', '{"tools": ["saw", "file"]}'),
        ('["a", "b", "c"]', "b", '["a", "c"]'),
        ('\ufeff["a", "b"]', '"b"', '\ufeff["a"]'),
        (TREE, "    [3]", TREE.replace(",\n    [3]", "")),
        (TREE, '  "box": {}', TREE.replace(',\n  "box": {}', "")),
        ('{"name": "Ida"}', "Ida", '{"name": ""}'),
        ('["a", b]', '"a", ', "[b]"),
        ("a, b", "a", ", b"),
    ],
)
def test_an_item_goes_with_its_comma(text: str, old: str, expected: str) -> None:
    """A removal from a list or object leaves no comma and no empty text behind; a file that is no JSON is changed as it says."""
    assert edited(text, Replacement(old, "")) == expected


def test_items_of_a_list_are_moved_and_changed_in_one_call() -> None:
    """An item stands behind the one that is named as the list was before, whatever else is changed in it."""
    changes = Replacement('"saw"', ""), Addition('"saw"', '"file"'), Replacement('"file"', '"rasp"')
    assert edited(LINE, *changes) == '{"tools": ["rasp", "saw"], "n": 2}'
    awl = edit_text(LINE.encode(), [Addition('"awl"', '"saw"')], "a.json")
    assert awl.change == 'added: "awl"'


def test_no_item_is_added_to_a_line_that_is_replaced() -> None:
    """Where a line is replaced, an addition within the old one is left out, and the report says so."""
    new = LINE.replace('"file"', '"file", "axe"')
    edit = edit_text(LINE.encode(), [Replacement(LINE, new), Addition('"axe"', LINE)], "a.json")
    assert edit.content.decode() == new
    assert edit.change.endswith("nothing else added: it is there already, or is no part of such a file")


def test_items_on_one_line_have_names() -> None:
    """The items of lists on one line can be named; those that stand twice, or on lines of their own, cannot."""
    assert items_on_lines(TREE) == ['"saw"', '"file"', "1", "2", "3"]
    assert items_on_lines('["a", "a", "b"]') == ['"b"']


def test_what_is_no_document_has_no_containers() -> None:
    """Text that closes what is not open, and a document that is too long to take apart, are left as they are."""
    for text in ("], [", '["a", "b",]' + " " * MAX_CHARS):
        assert not containers(text)
    assert with_commas('["a",]' + " " * MAX_CHARS).startswith('["a",]')


items = st.lists(
    st.text(max_size=4) | st.integers() | st.none() | st.just({"a": [1]}), min_size=2, max_size=5
)


@given(items, st.sampled_from([None, 2, "\t"]), st.data())
def test_any_list_is_as_if_written_with_the_change(
    found: Sequence[object], indent: int | str | None, data: st.DataObject
) -> None:
    """In whatever layout, a list after an addition at its end, and after a removal from it, is the one that would have been written so."""

    def written(changed: Sequence[object]) -> str:
        return json.dumps({"n": {"m": 1}, "items": changed}, indent=indent)

    before = written(found)
    assert edited(before, Addition('"new item"')) == written([*found, "new item"])
    at = data.draw(st.integers(0, len(found)))
    with_one = [*found[:at], "an item", *found[at:]]
    assert edited(written(with_one), Replacement('"an item"', "")) == before
