"""Records in a JSON file are changed by statements, and nothing else of the file is."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.capabilities.tools.tables.reading import MAX_COLUMNS
from aeond.capabilities.tools.tables.rows.json_rows import MAX_JSON_CHARS, json_rows
from aeond.capabilities.tools.tables.rows.row_changes import change_rows
from aeond.capabilities.tools.tables.statements import as_literal
from aeond.errors import ToolError

ORDERS = """\
{
  "season": 2026,
  "orders": [
    {"no": "B-3107", "supplier": "Ortholux", "price": 110.00, "paid": false},
    {"no": "B-3112", "supplier": "Fjäll & Co", "price": 8.50,  "paid": true},
    {"no": "B-3113", "supplier": null, "price": 64.50, "paid": false}
  ]
}
"""


def changed(text: str, *statements: str) -> str:
    return change_rows(text.encode(), statements, "work/orders.json").content.decode()


@pytest.mark.parametrize(
    ("statement", "old", "new"),
    [
        (
            "UPDATE orders SET paid = 'true' WHERE no = 'B-3107'",
            '110.00, "paid": false',
            '110.00, "paid": true',
        ),
        ("UPDATE orders SET paid = 'FALSE' WHERE no = 'b-3112'", '"paid": true', '"paid": false'),
        ("UPDATE orders SET price = price + 1 WHERE no = 'B-3112'", "8.50", "9.50"),
        ("UPDATE orders SET price = -0.125 WHERE no = 'B-3112'", "8.50", "-0.125"),
        ("UPDATE orders SET price = NULL WHERE no = 'B-3112'", "8.50", "null"),
        ("UPDATE orders SET supplier = 'Brückl \"X\"' WHERE no = 'B-3113'", "null", '"Brückl \\"X\\""'),
        ("UPDATE orders SET supplier = 12 WHERE no = 'B-3107'", '"Ortholux"', '"12"'),
        ("UPDATE orders SET supplier = '' WHERE no = 'B-3107'", '"Ortholux"', '""'),
        (
            "DELETE FROM orders WHERE paid = 'true'",
            '    {"no": "B-3112", "supplier": "Fjäll & Co", "price": 8.50,  "paid": true},\n',
            "",
        ),
        (
            "DELETE FROM orders WHERE price < 100 AND supplier IS NULL",
            ',\n    {"no": "B-3113", "supplier": null, "price": 64.50, "paid": false}',
            "",
        ),
        (
            "INSERT INTO orders (no, price, paid) VALUES ('B-3114', 7, 'false')",
            "}\n  ]",
            '},\n    {"no": "B-3114", "supplier": null, "price": 7.00, "paid": false}\n  ]',
        ),
    ],
)
def test_a_change_leaves_all_else_as_it_is(statement: str, old: str, new: str) -> None:
    """Values keep the kind and the form of their column; spaces, numbers and commas of the others stay."""
    assert ORDERS.count(old) == 1
    assert changed(ORDERS, statement) == ORDERS.replace(old, new)


@pytest.mark.parametrize(
    ("text", "statement", "expected"),
    [
        ('[{"a":1}]', "INSERT INTO orders VALUES (5)", '[{"a":1},{"a":5}]'),
        ('[{"a": 1}]', "INSERT INTO orders VALUES (5)", '[{"a": 1}, {"a": 5}]'),
        (
            '[{"a" : 1} , {"a" : 2}]',
            "INSERT INTO orders VALUES (5)",
            '[{"a" : 1} , {"a" : 2} , {"a" : 5}]',
        ),
        ('[{"a": 1}]\n', "DELETE FROM orders WHERE a = 1", "[]\n"),
        (
            '[\r\n\t{\r\n\t\t"a" : "x"\r\n\t}\r\n]',
            "INSERT INTO orders VALUES ('y')",
            '[\r\n\t{\r\n\t\t"a" : "x"\r\n\t},\r\n\t{\r\n\t\t"a" : "y"\r\n\t}\r\n]',
        ),
        (
            '[\n  {\n    "a": 1\n  },\n  {\n    "a": 2, "b": "x"\n  }\n]',
            "UPDATE orders SET b = 'y' WHERE a = 1",
            '[\n  {\n    "a": 1,\n    "b": "y"\n  },\n  {\n    "a": 2, "b": "x"\n  }\n]',
        ),
        (
            '[{"a":1,"c":true},{"a":2,"b":"x"}]',
            "UPDATE orders SET b = 'y' WHERE a = 1",
            '[{"a":1,"c":true,"b":"y"},{"a":2,"b":"x"}]',
        ),
        (
            '[{"a": 1, "b": "x"}, {"a": 2}]',
            "INSERT INTO orders VALUES (3, 'y')",
            '[{"a": 1, "b": "x"}, {"a": 2}, {"a": 3, "b": "y"}]',
        ),
        (
            '\ufeff[{"a": 1, "b": "x\\/y"}, {"a": 2, "b": "\\u00fc"}]',
            "UPDATE orders SET b = 'ä' WHERE a = 2",
            '\ufeff[{"a": 1, "b": "x\\/y"}, {"a": 2, "b": "\\u00e4"}]',
        ),
        ('[{"a": -3}, {"a": 4}]', "UPDATE orders SET a = a - 1", '[{"a": -4}, {"a": 3}]'),
        ('[{"a": 1, "b": null}]', "UPDATE orders SET b = 2.5", '[{"a": 1, "b": 2.5}]'),
        ('[{"a": 1, "b": null}]', "UPDATE orders SET b = 'true'", '[{"a": 1, "b": "true"}]'),
        (
            '[{"a": 1234567890123456789}, {"a": 1}]',
            "UPDATE orders SET a = 1234567890123456788 WHERE a <> '1'",
            '[{"a": 1234567890123456788}, {"a": 1}]',
        ),
        (
            '[{"a": 1, "b": 7}, {"a": 2, "b": "none"}]',
            "UPDATE orders SET b = CASE a WHEN 1 THEN 'none' ELSE 3 END",
            '[{"a": 1, "b": "none"}, {"a": 2, "b": "3"}]',
        ),
        ('[{"A": 1, "a": 2}]', "UPDATE orders SET a_2 = 3", '[{"A": 1, "a": 3}]'),
        (
            '[{"no": "5551234"}, {"no": "5559876"}]',
            "UPDATE orders SET no = '0551234' WHERE no = '5551234'",
            '[{"no": "0551234"}, {"no": "5559876"}]',
        ),
        (
            '[{"no": 1, "paid": true}, {"no": 2, "paid": false}]',
            "DELETE FROM orders WHERE NOT paid",
            '[{"no": 1, "paid": true}]',
        ),
        (
            '[{"no": 1, "paid": true}, {"no": 2, "paid": false}]',
            "UPDATE orders SET paid = NOT paid WHERE paid = TRUE OR paid = 'False'",
            '[{"no": 1, "paid": false}, {"no": 2, "paid": true}]',
        ),
        (
            '[{"kind": "true", "paid": true}, {"kind": "b", "paid": false}]',
            "UPDATE orders SET paid = TRUE WHERE kind <> 'true'",
            '[{"kind": "true", "paid": true}, {"kind": "b", "paid": true}]',
        ),
        (
            '[{"v": "12", "n": 1}, {"v": 7, "n": 2}]',
            "UPDATE orders SET v = '13' WHERE n = 1",
            '[{"v": "13", "n": 1}, {"v": 7, "n": 2}]',
        ),
        (
            '[{"TRUE": null, "paid": false}]',
            "UPDATE orders SET paid = 'true'",
            '[{"TRUE": null, "paid": true}]',
        ),
        ('[{"no": "7"}]', "INSERT INTO orders VALUES ('+4912.10')", '[{"no": "7"}, {"no": "+4912.10"}]'),
    ],
)
def test_layouts_are_kept(text: str, statement: str, expected: str) -> None:
    """Objects on one line or many, tabs, marks, escapes and members that single objects have are written as in the file."""
    assert changed(text, statement) == expected


def test_the_report_has_each_object_on_one_line() -> None:
    """An object over several lines is reported in short."""
    text = json.dumps([{"no": 1, "what": "rope " * 60}, {"no": 2, "what": "lamp"}], indent=2)
    edit = change_rows(text.encode(), ["DELETE FROM t WHERE no = 2", "UPDATE t SET no = 3"], "t.json")
    removed, before, now = edit.change.splitlines()
    assert removed == 'removed: { "no": 2, "what": "lamp" }'
    assert before.startswith('before: { "no": 1, "what": "rope rope ')
    assert now.startswith('now: { "no": 3, "what": "rope rope ')
    assert now.endswith("...")


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("UPDATE orders SET paid = 'yes' WHERE no = 'B-3107'", "STATEMENT_INVALID"),
        ("UPDATE orders SET paid = 2 WHERE no = 'B-3112'", "STATEMENT_INVALID"),
        ("UPDATE orders SET price = 'a lot' WHERE no = 'B-3107'", "STATEMENT_INVALID"),
        ("UPDATE orders SET price = 9e999 WHERE no = 'B-3107'", "FORMAT_BROKEN"),
        ("UPDATE orders SET price = 110 WHERE no = 'B-3107'", "NOTHING_CHANGED"),
        ("UPDATE orders SET paid = 'FALSE' WHERE no = 'B-3107'", "NOTHING_CHANGED"),
    ],
)
def test_values_of_another_kind_are_refused(statement: str, reason: str) -> None:
    """What is neither true nor false, no number, or a number that JSON has not, changes nothing."""
    with pytest.raises(ToolError) as refused:
        changed(ORDERS, statement)
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "[]",
        "[{}]",
        "[1, 2]",
        '{"a": 1}',
        '[{"a": 1}',
        '[{"a": NaN}]',
        '[{"a": 1, "a": 2}]',
        '{"x": [{"a": 1}], "x": 2}',
        '[{"a": {"b": 1}}]',
        '[{"a": [1]}]',
        '[{"a": 1}, {"b": 1}]',
        '{"x": [{"a": 1}], "y": [{"a": 1}]}',
        '{"x": [{"a": 1}], "y": {"b": 1}}',
        '{"x": {"b": 1}}',
        "[" * 100_000,
        '[{"a": ' + "1" * 5_000 + "}]",
        json.dumps([{str(name): 1 for name in range(MAX_COLUMNS + 1)}]),
        json.dumps([{"a": "x" * MAX_JSON_CHARS}]),
    ],
)
def test_other_json_is_changed_by_lines(text: str) -> None:
    """Text that is no list of flat objects, has a name twice, or is too long, has no rows for statements."""
    assert json_rows(text) is None


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8).map(
    "n".__add__
)
orders = st.fixed_dictionaries(
    {"note": st.none() | texts, "sum": st.integers(-999, 999), "done": st.booleans()}
)
others = st.dictionaries(st.text(max_size=4), scalars, max_size=3)
Records = Sequence[dict[str, object]]


def written(records: Records, options: Mapping[str, object], above: bool, line_break: str, mark: str) -> str:
    found = {"season": "ü", "x": None, "rows": records} if above else records
    text = json.dumps(found, **options)  # type: ignore[arg-type]
    return mark + text.replace("\n", line_break) + line_break


layouts = st.fixed_dictionaries(
    {"indent": st.sampled_from([None, 1, 4, "\t"]), "ensure_ascii": st.booleans()},
    optional={"separators": st.just((",", ":"))},
)
writing = st.builds(
    lambda *given: partial(written, options=given[0], above=given[1], line_break=given[2], mark=given[3]),
    layouts,
    st.booleans(),
    st.sampled_from(["\n", "\r\n", ""]),
    st.sampled_from(["", "\ufeff"]),
)


@given(st.lists(st.tuples(orders, others), min_size=1, max_size=5), writing, st.data())
def test_any_file_is_as_if_written_with_the_change(
    found: Sequence[tuple[dict[str, object], dict[str, object]]],
    write: Callable[[Records], str],
    data: st.DataObject,
) -> None:
    """In whatever layout, the file after a change is the one that would have been written with it, byte for byte."""
    records = [
        {"id": number, "sign": "ü"} | order | {name: one for name, one in more.items() if name not in order}
        for number, (order, more) in enumerate(found)
    ]
    records = [record | {"id": number, "sign": "ü"} for number, record in enumerate(records)]
    before = write(records).encode()
    at, note, done = data.draw(st.integers(0, len(records) - 1)), data.draw(texts), data.draw(st.booleans())
    values = f"{as_literal(note)}, 5, '{str(done).lower()}'"
    new = {"note": note, "sum": 5, "done": done}

    def after(statement: str) -> bytes:
        return change_rows(before, [statement], "t.json").content

    if records[at] != records[at] | new:
        expected = [*records[:at], records[at] | new, *records[at + 1 :]]
        assert (
            after(f"UPDATE t SET (note, sum, done) = ({values}) WHERE id = {at}") == write(expected).encode()
        )
    assert after(f"DELETE FROM t WHERE id = {at}") == write([*records[:at], *records[at + 1 :]]).encode()
    added = dict.fromkeys(records[-1]) | {"id": 9, "sign": "ü"} | new
    statement = f"INSERT INTO t (id, sign, note, sum, done) VALUES (9, 'ü', {values})"
    assert after(statement) == write([*records, added]).encode()
