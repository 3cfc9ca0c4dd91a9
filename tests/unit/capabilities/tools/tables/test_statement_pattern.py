"""What a small model may write to change a table for a request."""

import pytest

from aeond.capabilities.tools.tables.reading import read_table
from aeond.capabilities.tools.tables.rows.row_changes import change_rows
from aeond.capabilities.tools.tables.statement_pattern import statements_schema
from aeond.schemas.checker import SchemaChecker

STOCK = "what,price,note,shelf\nrope (red),2,,A\nlamp,4,old,A\nlamp,9,new,B\noar,7,old,A\n"


def admits(request: str, *statements: str, text: str = STOCK) -> bool:
    schema = statements_schema(read_table(text), "boat/my stock.csv", request)
    return not SchemaChecker().check([{"sql": one} for one in statements], schema, "STATEMENTS")


@pytest.mark.parametrize(
    ("request_", "statement", "right"),
    [
        ("the ropes cost 3 now", "UPDATE my_stock SET price = 3 WHERE what = 'rope (red)'", True),
        (
            "the ropes cost 3 now",
            "UPDATE my_stock SET price = 3, note = NULL WHERE what = 'rope (red)'",
            True,
        ),
        ("the ropes cost 3 now", "UPDATE my_stock SET price = price * 1.5 WHERE what = 'rope (red)'", True),
        ("the ropes cost 3 now", "UPDATE my_stock SET price = 3 WHERE what = 'oar'", False),
        ("the ropes cost 3 now", "UPDATE my_stock SET price = 3", False),
        (
            "the ropes cost 3 now",
            "UPDATE my_stock SET price = 3 WHERE what = 'rope (red)' AND shelf = 'A'",
            False,
        ),
        ("the new lamp is gone", "DELETE FROM my_stock WHERE what = 'lamp' AND note = 'new'", True),
        ("the new lamp is gone", "DELETE FROM my_stock WHERE what = 'lamp' AND price > 4.50", True),
        ("the new lamp is gone", "DELETE FROM my_stock WHERE what = 'lamp' AND shelf = 'C'", False),
        ("the new lamp is gone", "DELETE FROM other WHERE what = 'lamp'", False),
        ("all that is dear is halved", "UPDATE my_stock SET price = price / 2 WHERE price > 5", True),
        ("an anchor for 5", "INSERT INTO my_stock VALUES ('anchor', 5, NULL, 'A')", True),
        ("an anchor for 5", "INSERT INTO my_stock VALUES ('anchor', 5)", False),
        ("a third lamp for 5", "INSERT INTO my_stock VALUES ('lamp', 5, NULL, 'A')", True),
    ],
)
def test_a_statement_changes_what_the_request_names(request_: str, statement: str, right: bool) -> None:
    """Rows that are there, those that the request names if there are any, and by what differs between them."""
    assert admits(request_, statement) is right


def test_a_row_that_is_named_is_not_added_again() -> None:
    """Where a column tells the rows apart, and the request names one of its values, that row can be changed and none added."""
    members = "name,fee\nLena Holt,120\nOmar Reis,95\n"
    assert not admits("Lena pays 80", "INSERT INTO my_stock VALUES ('Lena Holt', 80)", text=members)
    assert admits("Lena pays 80", "UPDATE my_stock SET fee = 80 WHERE name = 'Lena Holt'", text=members)
    assert admits("Vera pays 80", "INSERT INTO my_stock VALUES ('Vera', 80)", text=members)


def test_a_row_with_numbers_is_not_added_without_any() -> None:
    """Where the request names rows that are there and says no number, none is added to a table with numbers."""
    hires = "date,who,hours,paid\n2 May,Judo,2,no\n3 May,Chess,1,yes\n9 May,Judo,2,no\n"
    row = "INSERT INTO my_stock VALUES ('12 May', 'Judo', 2, 'yes')"
    assert not admits("judo has paid all", row, text=hires)
    assert admits("judo has paid all", "UPDATE my_stock SET paid = 'yes' WHERE who = 'Judo'", text=hires)
    assert admits("judo was here for 2 hours", row, text=hires)
    assert admits("karate was here, too", row, text=hires)


def test_a_row_that_is_told_apart_is_the_only_one() -> None:
    """Where the request names a row by a column that tells the rows apart, values that other rows share name none."""
    text = "name,kind,paid\nLena,year,no\nOmar,year,no\nTill,month,no\n"
    right = "UPDATE my_stock SET paid = 'yes' WHERE name = 'Lena'"
    assert admits("Lena has paid her year", right, text=text)
    assert not admits(
        "Lena has paid her year", right, "UPDATE my_stock SET paid = 'no' WHERE kind = 'year'", text=text
    )
    assert admits("the years are paid", "UPDATE my_stock SET paid = 'yes' WHERE kind = 'year'", text=text)


def test_a_date_is_named_as_a_whole() -> None:
    """A year in common names no row, so that one with another date of that year can be added; a whole date names its row."""
    text = "day,what\n2027-01-31,paint\n2027-06-30,rope\n"
    new = "INSERT INTO my_stock VALUES ('2027-03-30', 'oar')"
    assert admits("an oar on 30 March 2027", new, text=text)
    assert not admits("not on 2027-06-30 but later", new, text=text)
    assert admits("A3 is gone", "DELETE FROM my_stock WHERE id = 'A3'", text="id,what\nA3,x\nB3,y\n")


def test_there_are_as_many_statements_as_named_values() -> None:
    """A request that names one row has one statement, one that names two has two at most."""
    rope, oar = (f"DELETE FROM my_stock WHERE what = '{what}'" for what in ("rope (red)", "oar"))
    assert admits("rope and oar are gone", rope, oar)
    assert not admits("the rope is gone", rope, rope)
    assert not admits("some of it is gone", "DELETE FROM my_stock WHERE price > 5", rope)


def test_values_that_no_pattern_can_hold_are_left_open() -> None:
    """A column with quotation marks in it, or with very many values, takes any text."""
    many = "\n".join(f"name {number},a" for number in range(99))
    text = f'name,what\n{many}\nlast,"5"" pipe"\n'
    for condition in ("name = 'Till'", "what = 'pipe'"):
        assert admits("it is gone", f"DELETE FROM my_stock WHERE {condition}", text=text)


def test_a_table_without_rows_takes_new_ones() -> None:
    """Below a header alone rows can be added, and nothing else done."""
    assert admits("add a lamp", "INSERT INTO my_stock VALUES ('lamp', 4)", text="what,price\n")
    assert not admits("add a lamp", "DELETE FROM my_stock WHERE price = 4", text="what,price\n")


def test_names_of_columns_need_no_escapes() -> None:
    """Of a name that is no plain word its letters and digits count."""
    text = 'part no,unit price (€),"a ""b"" c"\nA/1,4,x\nB/2,5,y\n'
    right = "UPDATE my_stock SET unit_price = 6, a_b_c = 'z' WHERE part_no = 'A/1'"
    assert admits("A/1 costs 6", right, text=text)
    assert admits("a new one", "INSERT INTO my_stock VALUES ('C/3', 7, 'z')", text=text)
    after = change_rows(text.encode(), [right], "my stock.csv").content.decode()
    assert after == text.replace("A/1,4,x", "A/1,6,z")


@pytest.mark.parametrize("rows", [3, 99, 2_500])
def test_the_pattern_of_a_long_table_stays_short(rows: int) -> None:
    """Where the request names very many values, or values that many rows share, any value may stand in a condition."""
    lines = [f"{number} Mill Street,{number % 7},visit {number},open" for number in range(rows)]
    text = "\n".join(["address,week,note,state", *lines, ""])
    for request in ("all in Mill Street are open", "state 5", "nothing of it"):
        schema = statements_schema(read_table(text), "my stock.csv", request)
        assert len(str(schema)) < 30_000
        done = "UPDATE my_stock SET state = 'done' WHERE address = '2 Mill Street'"
        assert admits("all in Mill Street are done", done, text=text)
