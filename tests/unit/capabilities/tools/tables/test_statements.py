"""SELECT statements over one table."""

import pytest

from aeond.capabilities.tools.tables import statements
from aeond.capabilities.tools.tables.reading import Table, read_table
from aeond.capabilities.tools.tables.statements import MAX_ROWS_READ, column_names, select, table_name
from aeond.errors import ToolError

COSTS = read_table(
    "date,item,group,amount\n"
    "2026-01-02,Rent,home,900\n"
    "2026-01-03,Bread,food,3.20\n"
    '2026-02-05,Milk,food,"1,80"\n'
    "2026-02-09,Bus,travel,\n"
)


def found(statement: str, table: Table = COSTS) -> list[tuple[str, ...]]:
    return list(select({"costs": table}, statement).rows)


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        ("SELECT SUM(amount) FROM costs", [("905",)]),
        ("SELECT item FROM costs ORDER BY amount DESC LIMIT 1", [("Rent",)]),
        ("SELECT item FROM costs WHERE amount IS NULL", [("Bus",)]),
        ("SELECT item FROM costs WHERE \"group\" = 'FOOD'", [("Bread",), ("Milk",)]),
        ("SELECT item FROM costs WHERE `group` = 'food' AND [group] = group_", [("Bread",), ("Milk",)]),
        ("SELECT COUNT(*) FROM costs WHERE date LIKE '2026-02%'", [("2",)]),
        ("SELECT 5 - SUM(amount) FROM costs WHERE item = 'bus'", [("5",)]),
        ("SELECT SUM(amount) FROM costs WHERE item = 'ship'", [("",)]),
        ("SELECT SUM(date || '') FROM costs", [("0",)]),
        ("SELECT SUM('3 m') FROM costs", [("12",)]),
        (f"SELECT SUM('{'9' * 400}') FROM costs", [("0",)]),
        ("SELECT SUM(amount) OVER (ORDER BY date) FROM costs ORDER BY date LIMIT 1", [("900",)]),
        ("SELECT item FROM costs WHERE item = '[group]' OR item = 'Rent'", [("Rent",)]),
        ("SELECT 0.1 + 0.2, 7 / 2.0", [("0.3", "3.5")]),
        ("SELECT 1234567890123.0, 1e15, 1234567890.125", [("1234567890123", "1e+15", "1234567890.12")]),
        ("SELECT amount / 8 FROM costs WHERE item = 'rent'", [("112.5",)]),
        ("SELECT 100 / 3.0, 1 / 3.0, 52.520008", [("33.3333", "0.3333", "52.520008")]),
    ],
)
def test_rows_are_found_and_computed(statement: str, rows: list[tuple[str, ...]]) -> None:
    """Numbers in any notation compute, texts compare in any case, empty cells are NULL."""
    assert found(statement) == rows


def test_without_a_statement_all_rows_are_shown() -> None:
    """The rows come with the columns as statements name them."""
    all_rows = select({"costs": COSTS}, "")
    assert (all_rows.columns, len(all_rows.rows)) == (("date", "item", "group_", "amount"), 4)


@pytest.mark.parametrize("cell", ["2026-01-02", "0151 22334455", "007", "14:30", "3 m", "Q4"])
def test_codes_dates_and_measures_are_texts(cell: str) -> None:
    """A cell that is no number alone keeps its form."""
    table = read_table(f"name,code\nx,{cell}\n")
    assert found("SELECT code FROM costs", table) == [(cell,)]


@pytest.mark.parametrize("literal", ["{}", "'{}'"])
@pytest.mark.parametrize("code", ["53111", "3161484100", "9783161484100", "123456789012345678"])
def test_a_code_is_found_with_and_without_quotes(literal: str, code: str) -> None:
    """A code of digits is shown with all of them, and found as a number and as a text."""
    table = read_table(f"code,name\n{code},x\n")
    assert found(f"SELECT code FROM costs WHERE code = {literal.format(code)}", table) == [(code,)]


def test_a_table_without_rows_has_its_columns() -> None:
    """A header alone is a table that a statement finds nothing in."""
    assert found("SELECT a, b FROM costs", Table(("a", "b"), ())) == []


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE costs",
        "INSERT INTO costs VALUES (1, 2, 3, 4)",
        "SELECT 1; SELECT 2",
        "ATTACH '/etc/passwd' AS other",
        "PRAGMA temp_store = FILE",
        "SELECT price FROM costs",
        "SELECT load_extension('x')",
        "SELECT zeroblob(100000000)",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n",
        "costs\0",
    ],
)
def test_only_one_select_is_taken(statement: str) -> None:
    """Whatever is no SELECT over the columns is refused, with the columns."""
    with pytest.raises(ToolError, match=r"costs\(date, item, group_, amount\)") as refused:
        select({"costs": COSTS}, statement)
    assert (refused.value.reason, refused.value.field) == ("QUERY_INVALID", "query")
    assert refused.value.candidates == ("date", "item", "group_", "amount")


def test_a_long_query_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """An endless statement is stopped after a number of steps, or at once if its call was cancelled."""
    joined = ", ".join(f"costs c{number}" for number in range(16))
    endless = f"SELECT COUNT(*) FROM {joined}"
    with pytest.raises(ToolError) as stopped:
        select({"costs": COSTS}, endless, lambda: True)
    assert stopped.value.reason == "QUERY_TOO_LONG"
    monkeypatch.setattr(statements, "MAX_STEPS", 100_000)
    with pytest.raises(ToolError) as refused:
        select({"costs": COSTS}, endless)
    assert refused.value.reason == "QUERY_TOO_LONG"


def test_rows_are_bounded() -> None:
    """Of more rows than are read the rest is reported as missing."""
    table = Table(("n",), tuple((str(number),) for number in range(100)))
    many = select({"costs": table}, "SELECT a.n FROM costs a, costs b")
    assert (len(many.rows), many.more) == (MAX_ROWS_READ, True)


def test_a_large_result_is_cut() -> None:
    """Of a result of large values the rows beyond a few MiB are reported as missing."""
    table = Table(("n",), tuple((str(number),) for number in range(100)))
    large = select({"costs": table}, "SELECT zeroblob(200000) FROM costs")
    assert (len(large.rows), large.more) == (11, True)


def test_a_query_is_bounded_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sort or join that would need much memory is stopped."""
    monkeypatch.setattr(statements, "MAX_MEMORY_BYTES", 1 << 20)
    table = Table(("n",), tuple((str(number),) for number in range(100)))
    with pytest.raises(ToolError) as refused:
        select({"costs": table}, "SELECT a.n || hex(zeroblob(50000)) x FROM costs a, costs b ORDER BY x")
    assert refused.value.reason == "QUERY_TOO_LONG"


def test_names_are_those_of_statements() -> None:
    """A table has its file's name in letters that need no quotes, and so have columns, which are distinct."""
    assert [table_name(path) for path in ("a/My costs.csv", "2026.csv", "order.csv", "sqlite_x.csv")] == [
        "My_costs",
        "t2026",
        "order_",
        "tsqlite_x",
    ]
    columns = ("name", "first name", "Name", 'a"b', "2026", "from", "unit price (€)", "%", "höhe", "null")
    named = ["name", "first_name", "Name_2", "a_b", "_2026", "from_", "unit_price", "column", "höhe", "null_"]
    assert column_names(columns) == named
    table = Table(("x", "X"), (("1", "2"),))
    assert found("SELECT x, X_2 FROM costs", table) == [("1", "2")]


@pytest.mark.parametrize(
    ("columns", "statement", "row"),
    [
        (("who", "x", "x"), 'SELECT "x" FROM t', ("1",)),
        (("who", "a b", "a_b"), 'SELECT "a b", "a_b", "a_b_2" FROM t', ("1", "1", "2")),
        (("who", "first name", "lat"), 'SELECT t."first name", lat FROM t', ("1", "2")),
        (("who", "", "lat"), "SELECT 'a', \"\" FROM t", ("a", "1")),
    ],
)
def test_names_in_quotes_mean_the_columns_of_the_file(
    columns: tuple[str, ...], statement: str, row: tuple[str, ...]
) -> None:
    """Of equal names the first one counts, a name that statements use means that column, and texts are no names."""
    assert select({"t": Table(columns, (("L", "1", "2"),))}, statement).rows == (row,)


def test_tables_may_share_names() -> None:
    """A name of the file that several tables have can be quoted, where it is called the same in all."""
    one, other = (Table(("first name", "fee"), (("Lena", fee),)) for fee in ("3", "4"))
    joined = 'SELECT a.fee + b.fee FROM a JOIN b ON a."first name" = b."first name"'
    assert select({"a": one, "b": other}, joined).rows == (("7",),)


def test_cells_of_the_file_are_not_rounded() -> None:
    """A stored number is shown with all its decimals, and a quotient with four."""
    table = Table(("lat",), (("52.5200065999",),))
    assert select({"t": table}, "SELECT lat, lat / 3 FROM t").rows == (("52.5200065999", "17.5067"),)
