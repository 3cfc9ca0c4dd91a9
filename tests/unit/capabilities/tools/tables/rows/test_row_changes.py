"""Rows of a table in a file are changed by statements, and nothing else of the file is."""

import pytest

from aeond.capabilities.tools.tables.rows.row_changes import change_rows, row_file
from aeond.capabilities.tools.tables.rows.row_file import RowFile
from aeond.errors import ToolError

STOCK = 'what,price,count,note\r\nrope,19.50,30,"red, 8 mm"\r\n\r\nlamp,4.00,12,\r\n"paint, white",12.25,2,"two\nlines"\r\n'


def changed(text: str, *statements: str, path: str = "boat/stock.csv") -> str:
    return change_rows(text.encode(), statements, path).content.decode()


def test_other_rows_stay_byte_for_byte() -> None:
    """Quotation marks, empty lines and line breaks of untouched rows are kept, and so are untouched cells of a changed row."""
    after = changed(STOCK, "UPDATE stock SET count = count - 4 WHERE what = 'LAMP'")
    assert after == STOCK.replace("lamp,4.00,12,", "lamp,4.00,8,")
    assert changed(STOCK, "DELETE FROM stock WHERE what = 'rope'") == STOCK.replace(
        'rope,19.50,30,"red, 8 mm"\r\n\r\n', ""
    )


def test_a_new_row_stands_at_the_end_in_the_form_of_the_others() -> None:
    """Its numbers have the decimals of their column; a column that is not given is empty."""
    after = changed(STOCK.rstrip(), "INSERT INTO stock (what, price, count) VALUES ('oar, long', 8.5, 3)")
    assert after == STOCK + '"oar, long",8.50,3,\r\n'


def test_statements_follow_each_other() -> None:
    """Each statement sees what those before it have left, and the report has each."""
    edit = change_rows(
        STOCK.encode(),
        ["UPDATE stock SET price = price * 2 WHERE what = 'lamp'", "DELETE FROM stock WHERE price < 10"],
        "stock.csv",
    )
    assert edit.change == "before: lamp,4.00,12,\nnow: lamp,8.00,12,\nremoved: lamp,8.00,12,"
    assert b"lamp" not in edit.content


@pytest.mark.parametrize(
    ("text", "path", "new", "expected"),
    [
        ("a;price\nx;1,20\ny;3,50\n", "t.csv", "('z', '4.7')", "a;price\nz;4,70\n"),
        ("a,2025\nx,1\ny,2\n", "t.csv", "('z', 3)", "a,2025\nz,3\n"),
        ('\ufeff[\n  {"n": 1}\n]\n', "t.json", "(5), (6)", '\ufeff[\n  {"n": 5},\n  {"n": 6}\n]\n'),
        (
            '{"of": "May", "t": [{"n": true}, {"n": false}]}',
            "t.json",
            "(1)",
            '{"of": "May", "t": [{"n": true}]}',
        ),
    ],
)
def test_all_rows_are_replaced(text: str, path: str, new: str, expected: str) -> None:
    """Rows that follow the removal of all rows are written in the form of these, and the report has both; what removes rows once more changes nothing."""
    statements = ["DELETE FROM t", f"INSERT INTO t VALUES {new}"]
    edit = change_rows(text.encode(), statements, path)
    assert edit.content.decode() == expected
    assert edit.change.startswith("removed: ")
    assert "\nadded: " in edit.change
    with pytest.raises(ToolError) as refused:
        changed(text, "DELETE FROM t", "DELETE FROM t", path=path)
    assert refused.value.reason == "NOTHING_CHANGED"


@pytest.mark.parametrize(
    ("text", "statement", "expected"),
    [
        ("a;price\nx;1,20\ny;3,50\n", "UPDATE t SET price = 4.7 WHERE a = 'x'", "a;price\nx;4,70\ny;3,50\n"),
        ("a,share\nx,12 %\ny,8 %\n", "UPDATE t SET share = 15 WHERE a = 'x'", "a,share\nx,15 %\ny,8 %\n"),
        ("a,n\nx,1\ny,2.5\n", "UPDATE t SET n = 4.75 WHERE a = 'x'", "a,n\nx,4.75\ny,2.5\n"),
        ("a,n\nx,1\n", "UPDATE t SET n = 1.5 WHERE a = 'x'", "a,n\nx,1.5\n"),
        ("a,n\nx,-3\n", "UPDATE t SET n = n - 1", "a,n\nx,-4\n"),
        ("a,n\nx,1\n", "UPDATE t SET n = NULL WHERE a = 'x'", "a,n\nx,\n"),
        ("a,day\nx,\n", "UPDATE t SET day = '2026-11-28' WHERE a = 'x'", "a,day\nx,2026-11-28\n"),
        ("\ufeffa\tn\nx\t1\n", "UPDATE t SET n = 2 WHERE a = 'x'", "\ufeffa\tn\nx\t2\n"),
        ("rowid,n\nx,1\ny,2\n", "UPDATE t SET n = 3 WHERE rowid = 'y'", "rowid,n\nx,1\ny,3\n"),
    ],
)
def test_cells_are_written_as_their_column_is(text: str, statement: str, expected: str) -> None:
    """Decimals, the sign before them and units stay those of the column."""
    assert changed(text, statement, path="t.csv") == expected


def test_a_file_of_windows_stays_one() -> None:
    """A file that is no UTF-8 is written in the code page that it was read in, and not at all where that lacks a character."""
    content = "name;ort\nMüller;Köln\n".encode("cp1252")
    edit = change_rows(content, ["UPDATE kunden SET ort = 'Düren' WHERE name = 'Müller'"], "kunden.csv")
    assert edit.content == "name;ort\nMüller;Düren\n".encode("cp1252")
    for bad, statement in (
        (content, "UPDATE kunden SET ort = 'Łódź' WHERE name = 'Müller'"),
        (b"a;b\n\x81;\xfc\n", "DELETE FROM kunden WHERE a = 1"),
    ):
        with pytest.raises(ToolError) as refused:
            change_rows(bad, [statement], "kunden.csv")
        assert refused.value.reason == "NOT_TEXT"


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("UPDATE stock SET count = 1 WHERE what = 'anchor'", "NOTHING_CHANGED"),
        ("UPDATE stock SET count = 12 WHERE what = 'lamp'", "NOTHING_CHANGED"),
        ("UPDATE stock SET colour = 'red' WHERE what = 'lamp'", "STATEMENT_INVALID"),
        ("DELETE FROM stock WHERE count > 1; DELETE FROM stock WHERE count < 1", "STATEMENT_INVALID"),
        ("DROP TABLE stock", "STATEMENT_INVALID"),
        ("ATTACH DATABASE '/tmp/a' AS other", "STATEMENT_INVALID"),
        ("INSERT INTO sqlite_master VALUES (1, 2, 3, 4, 5)", "STATEMENT_INVALID"),
        (
            "INSERT INTO stock (what) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
            "STATEMENT_INVALID",
        ),
    ],
)
def test_other_statements_are_refused(statement: str, reason: str) -> None:
    """A statement that changes no row, is none of the three, or does not end, fails with what is wrong, and changes nothing."""
    with pytest.raises(ToolError) as refused:
        changed(STOCK, statement)
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a,b\n1,2\n", "a.txt"),
        ("3,4\n5,6\n7,8\n", "a.csv"),
        ("only lines\nof text\n", "a.csv"),
        ("a,b\n1,2\n3,4,5\n6,7\n8,9\n1,1\n", "a.csv"),
        ("", "a.csv"),
        ("| a | b |\n| - | - |\n| 1 | 2 |\n", "a.csv"),
        ('[{"a": {"b": 1}}]', "a.json"),
    ],
)
def test_files_without_rows_are_not_changed_by_statements(text: str, path: str) -> None:
    """Any other file is refused with what to do instead."""
    assert row_file(text, path) is None
    with pytest.raises(ToolError) as refused:
        changed(text, "DELETE FROM a WHERE a = 1", path=path)
    assert refused.value.reason == "NO_TABLE"


def test_a_long_change_is_reported_in_short() -> None:
    """Of many changed rows the report shows three and counts the others."""
    text = "n\tm\n" + "".join(f"{n}\t1\n" for n in range(9))
    edit = change_rows(text.encode(), ["UPDATE t SET m = 2 WHERE n < 5"], "t.tsv")
    assert edit.change == "before: 0\t1\n1\t1\n2\t1\nand 2 more rows\nnow: 0\t2\n1\t2\n2\t2\nand 2 more rows"


@pytest.mark.parametrize(
    ("text", "path"), [(STOCK, "a.csv"), ("\ufeff" + STOCK, "a.CSV"), ('[{"a": 1}, {"a": 2}]\n', "a.json")]
)
def test_a_file_of_rows_can_be_put_together_again(text: str, path: str) -> None:
    """The rows of a file, joined, are its text, but for a mark of the order of bytes."""
    file: RowFile | None = row_file(text, path)
    assert file is not None
    assert len(file.rows) == len(file.table.rows) == len(file.written)
    assert file.joined(file.rows, []) == text.removeprefix("\ufeff")
