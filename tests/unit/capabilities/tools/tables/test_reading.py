from dataclasses import replace

import pytest

from aeond.capabilities.tools.tables.reading import Table, read_table, table_within
from aeond.errors import ToolError

ITEMS = Table(("item", "price"), (("lamp", "30"), ("desk", "120")))


@pytest.mark.parametrize(
    "text",
    [
        "item,price\nlamp,30\ndesk,120\n",
        "\ufeffitem;price\r\nlamp;30\r\n\r\ndesk;120",
        "item\tprice\nlamp\t30\ndesk\t120\n",
        "| item | price |\n| --- | ---: |\n| lamp | 30 |\n| desk | 120 |\n",
        '[{"item": "lamp", "price": 30}, {"item": "desk", "price": 120}]',
        'item,price\n"lamp","30"\ndesk, 120 \n',
    ],
)
def test_a_table_is_read_from_any_form(text: str) -> None:
    """Commas, semicolons, tabs, Markdown and JSON give the same table."""
    assert read_table(text) == ITEMS


def test_a_table_without_a_header_has_numbered_columns() -> None:
    """A first row with a number in it is data."""
    table = read_table("lamp,30\ndesk,120\n")
    assert table.columns == ("1", "2")
    assert table.rows == (("lamp", "30"), ("desk", "120"))


def test_the_names_of_columns_may_have_digits() -> None:
    """A name with a year, a length or a number in it makes no data of the header."""
    table = read_table("hive,honey_kg_2025,best_500m,q4\nBirch,17.5,1:52,3\n")
    assert table.columns == ("hive", "honey_kg_2025", "best_500m", "q4")
    assert table.rows == (("Birch", "17.5", "1:52", "3"),)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("month,2024,2025\njan,1,2\nfeb,3,4\n", ("month", "2024", "2025")),
        ("Monat;Miete (12 Monate);Ort\nJan;300;Bonn\n", ("Monat", "Miete (12 Monate)", "Ort")),
        ("name,2024,2025\nLena,yes,no\n", ("name", "2024", "2025")),
        ("Lena,2019\nOmar,2012\n", ("1", "2")),
        ("Lena,2019,2019\nOmar,5,7\n", ("1", "2", "3")),
        ("Lena,2019,12\nOmar,5,7\n", ("1", "2", "3")),
        ("Rope,3 m\nBelt,5 m\n", ("1", "2")),
        ("Rope,30 EUR\nBelt,EUR 5\nLamp,5 EUR\n", ("1", "2")),
        ("item_1,lamp\nitem_2,desk\n", ("1", "2")),
    ],
)
def test_a_header_with_numbers_differs_from_data(text: str, columns: tuple[str, ...]) -> None:
    """Years above other cells than years, and words that no cell below has, name columns; other numbers are data."""
    assert read_table(text).columns == columns


def test_quoted_cells_keep_their_line_breaks() -> None:
    """A cell over several lines stays as it is, the name of a column has spaces there, and rows without content are left out."""
    table = read_table('name,"postal\r\naddress"\r\nA,"Main St 1\r\n\r\n53111 Bonn"\r\n\r\n,\r\nB,x\r\n')
    assert table.columns == ("name", "postal address")
    assert table.rows == (("A", "Main St 1\r\n\r\n53111 Bonn"), ("B", "x"))


@pytest.mark.parametrize("text", [",,\n,,\n", "|---|---|\n"])
def test_separators_without_cells_are_plain_lines(text: str) -> None:
    """Lines of separators alone hold no columns."""
    assert read_table(text).plain


def test_rows_are_as_long_as_the_header() -> None:
    """Short rows are filled up and long ones cut."""
    table = read_table("a,b,c\nx,y,z\n1,2,3\n4,5\n6,7,8,9\n1,2,3\n1,2,3\n1,2,3\n1,2,3\n1,2,3\n1,2,3\n")
    assert set(map(len, table.rows)) == {3}


def test_plain_lines_have_a_text_and_a_number() -> None:
    """Of lines that are no table the last number counts, and the number of a list item does not."""
    table = read_table("1. rent 900 EUR\n2. bread (2 pieces) 3,20\n3. thanks\n")
    assert table.plain
    assert [row[1] for row in table.rows] == ["900", "3,20", ""]
    assert table.rows[0][0] == "1. rent 900 EUR"


def test_an_empty_file_holds_no_table() -> None:
    """A file with nothing but white space is refused."""
    with pytest.raises(ToolError) as refused:
        read_table(" \n\n")
    assert refused.value.reason == "TABLE_EMPTY"


@pytest.mark.parametrize(
    "text",
    [
        'a,b\n1,"' + "x" * 140_000,
        'a,b\n1,2\n3,"open\n' + "4,5\n" * 50_000,
        "[" * 100_000,
    ],
    ids=["long cell", "open quotation mark", "deep nesting"],
)
def test_what_is_no_table_is_read_as_lines(text: str) -> None:
    """Text that looks like a table and cannot be read as one has a single column."""
    table = read_table(text)
    assert len(table.rows) == len(text.splitlines())


@pytest.mark.parametrize(
    ("ending", "text", "table"),
    [
        (
            ".md",
            "# Prices\n\n| item | price |\n| --- | --- |\n| lamp | 30 |\n| desk | 120 |\n\nNo cards.\n",
            "# Prices\nNo cards.",
        ),
        (".txt", "item,price\nlamp,30\ndesk,120\n", ""),
        (".md", "item | price\nlamp | 30\ndesk | 120\n", None),
        (
            ".json",
            '{"shop": "Lund", "items": [{"item": "lamp", "price": 30}, {"item": "desk", "price": 120}]}',
            "shop: Lund",
        ),
        (".toml", '[[items]]\nitem = "lamp"\nprice = 30\n[[items]]\nitem = "desk"\nprice = 120\n', ""),
        (".txt", "Ida, built 1988\nlength, 6.4 m\nsails, red\n", None),
        (".ini", "[shop]\nname = Lund\nopen = 8\nclose = 18\n", None),
    ],
)
def test_tables_are_found_in_other_files(ending: str, text: str, table: str | None) -> None:
    """A drawn table, one by its separators, and records are tables with what stands around them; sentences and settings are none."""
    found = table_within(text, ending)
    assert found == (ITEMS if table is None else replace(ITEMS, around=table)) or (
        table is None and found.plain
    )


def test_values_of_data_files_are_cells() -> None:
    """Dates of TOML stand without quotation marks, lone surrogates are replaced, and objects without members are no table."""
    dated = table_within("[[a]]\nd = 2026-01-02\nn = 1\n[[a]]\nd = 2026-02-01\nn = 2\n", ".toml")
    assert dated.rows == (("2026-01-02", "1"), ("2026-02-01", "2"))
    broken = table_within('{"t": "\\ud800", "a": [{"\\ud800": "\\ud800"}, {"\\ud800": "b"}]}', ".json")
    assert (broken.columns, broken.rows[0], broken.around) == (("?",), ("?",), "t: ?")
    assert table_within("[{},{}]", ".json").plain


def test_lines_of_one_form_are_a_table_in_a_text() -> None:
    """A text of alike lines is a table, and in a data file they are none."""
    text = "Mon 6.2 km\nWed 8 km\nSat 14 km\n"
    assert table_within(text, ".txt").columns == ("name", "km")
    assert table_within(text, ".toml").plain
    weighed = table_within("Mehl 1,5 kg\nZucker 0,5 kg\nButter 0,25 kg\n", ".txt")
    assert weighed.rows[0] == ("Mehl", "1,5")
