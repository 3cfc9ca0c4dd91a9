import re

import pytest

from aeond.capabilities.tools.tables.query_pattern import ANY_SELECT, select_pattern
from aeond.capabilities.tools.tables.reading import MAX_SHOWN_COLUMNS, Table, read_table
from aeond.capabilities.tools.tables.statement_pattern import MAX_PATTERN_ROWS

TOURS = read_table(
    "date,guide,boat,guests,euros,paid\n"
    "2026-05-02,Lena,Ida red,4,80,yes\n"
    "2026-05-09,Omar,Ida blue,3,60,no\n"
    "2026-06-06,Till,Luna,5,,yes\n"
    "2026-06-07,Vera,Luna,2,40,no\n"
    "2026-06-20,O'Hara,Skua,2,40,no\n"
    "2026-06-21,Nils,Tern,2,44,yes\n"
)


def admits(query: str, request: str, table: Table = TOURS) -> bool:
    return re.fullmatch(select_pattern(table, "club/tours.csv", request)[1:-1], query) is not None


@pytest.mark.parametrize(
    "query",
    [
        "SELECT SUM(euros) AS total FROM tours",
        "SELECT SUM(euros) AS total FROM tours WHERE paid = 'no' AND date LIKE '2026-06%'",
        "SELECT guide, SUM(guests * euros) AS total FROM tours GROUP BY guide ORDER BY total DESC LIMIT 1",
        "SELECT substr(date, 1, 7) AS month, COUNT(*) AS number FROM tours GROUP BY month",
        "SELECT date, euros / guests AS each FROM tours ORDER BY each",
        "SELECT guide, guests FROM tours WHERE guests = (SELECT MAX(guests) FROM tours)",
        "SELECT COUNT(*) FROM tours WHERE euros > guests OR euros IS NULL",
        "SELECT * FROM tours WHERE date BETWEEN '2026-05-01' AND '2026-05-31'",
        "SELECT ROUND(AVG(euros), 2) FROM tours",
        "SELECT SUM(euros) AS total, SUM(guests) AS number FROM tours",
        "SELECT COUNT(DISTINCT boat) FROM tours",
        "SELECT guide FROM tours WHERE date >= '2026-05-01' AND date < '2026-06-01'",
    ],
)
def test_sums_groups_and_extremes_can_be_written(query: str) -> None:
    """Columns, numbers, dates and the few values of a column are free."""
    assert admits(query, "whatever")


@pytest.mark.parametrize(
    ("query", "request_", "fits"),
    [
        ("SELECT euros FROM tours WHERE guide = 'Lena'", "what did Lenas tour bring in?", True),
        ("SELECT euros FROM tours WHERE guide = 'Omar'", "what did Lenas tour bring in?", False),
        ("SELECT euros FROM tours WHERE guide IN ('Lena', 'Till')", "Lena or Till?", True),
        ("SELECT euros FROM tours WHERE guide = 'O''Hara'", "what does o'hara owe", True),
        ("SELECT euros FROM tours WHERE boat LIKE '%Ida%'", "all with Ida", True),
        ("SELECT euros FROM tours WHERE boat = 'Ida red'", "all with Ida", False),
        ("SELECT euros FROM tours WHERE boat = 'Skua'", "what do they all come to", False),
        ("SELECT guide FROM tours WHERE guests >= 3", "tours for 3 and more", True),
        ("SELECT guide FROM tours WHERE guests >= 4", "tours for 3 and more", False),
        ("SELECT guide FROM tours WHERE euros > 500", "who paid more than 500?", True),
        ("SELECT guide FROM tours WHERE date = '2026-05-02'", "who went on 2.5.2026?", True),
        ("SELECT guide FROM tours WHERE euros >= 50 AND euros <= 70", "between 50 and 70 euros", True),
        ("SELECT guide FROM tours WHERE date LIKE '2026-05%' AND euros > 20", "in may, more than 20", True),
        ("SELECT guide FROM tours WHERE euros < -5", "colder than -5", True),
        ("SELECT guide FROM tours WHERE euros > 1000", "mehr als 1.000 Euro", True),
        ("SELECT guide FROM tours WHERE euros = 0", "which were free?", False),
        ("SELECT guide FROM tours WHERE euros > 2026", "all tours of 2026", False),
        ("SELECT guide FROM tours WHERE euros > euros", "all tours", False),
    ],
)
def test_conditions_name_what_the_request_names(query: str, request_: str, fits: bool) -> None:
    """A text or number that the request does not name, or a number that no row is near, is no condition, and texts that share a word with others are found by it."""
    assert admits(query, request_) is fits


@pytest.mark.parametrize(
    "query",
    [
        "SELECT SUM(euros) AS total FROM tours GROUP BY guide",
        "SELECT SUM(fee) AS total FROM tours",
        "SELECT SUM(euros) AS drop FROM tours",
        "SELECT SUM(euros) AS total_of_tips FROM tours",
        "SELECT SUM(euros) AS total guests, SUM(guests) FROM tours",
        "SELECT name FROM members",
        "SELECT euros FROM tours WHERE paid = 'perhaps'",
    ],
)
def test_other_queries_cannot_be_written(query: str) -> None:
    """Groups that nothing tells apart, other columns, tables and values, and names that say more than the columns do not fit."""
    assert not admits(query, "what do the tours come to?")


def test_dates_are_written_as_in_the_table() -> None:
    """Dates with slashes and times behind a T can be compared."""
    for date in ("03/14/2026", "2026-03-02T10:00"):
        table = Table(("since", "fee"), ((date, "0"), (date, "4")))
        assert admits(f"SELECT fee FROM tours WHERE since = '{date}'", "", table)
        assert admits("SELECT since FROM tours WHERE fee = 0", "", table)


@pytest.mark.parametrize("month", ["2026/12", "2026-1-5", "10-03"])
def test_dates_of_any_form_may_be_named_in_words(month: str) -> None:
    """A column of dates in another form than usual can be asked by a request without digits, which names a month."""
    table = read_table(f"month,euros\n{month},3\n{month},4\n")
    pattern = select_pattern(table, "costs.csv", "what did i pay in december")
    assert re.match(pattern, f"SELECT SUM(euros) AS total FROM costs WHERE month LIKE '{month}'")


def test_a_time_of_day_is_given_in_digits() -> None:
    """A request without a number is about no time of day."""
    table = Table(("start", "fee"), (("08:30", "1"), ("13:45", "2")))
    for request, fits in (("the one at 13:45", True), ("the early ones", False)):
        assert admits("SELECT fee FROM tours WHERE start = '13:45'", request, table) is fits


def test_words_that_texts_share_are_quoted() -> None:
    """A word with an apostrophe is doubled, and one with a sign of a pattern is left out."""
    table = Table(
        ("of", "fee"), (("Car O'Hara", "1"), ("Boat O'Hara", "2"), ("Bike of_all", "3"), ("Raft of_all", "3"))
    )
    assert admits("SELECT fee FROM tours WHERE of LIKE '%O''Hara%'", "what does O'Hara pay", table)
    assert not admits("SELECT fee FROM tours WHERE of LIKE '%of_all%'", "of_all", table)


def test_a_wide_table_may_be_asked_anything() -> None:
    """Where the pattern would be too long, or not all rows and columns are seen for it, any SELECT fits."""
    wide = Table(tuple(f"a_rather_long_name_{number}" for number in range(30)), (("1",) * 30,))
    assert select_pattern(wide, "wide.csv", "") == ANY_SELECT
    many = Table(tuple(f"c{number}" for number in range(MAX_SHOWN_COLUMNS + 1)), ())
    assert select_pattern(many, "many.csv", "") == ANY_SELECT
    long = Table(("n",), tuple((str(number),) for number in range(MAX_PATTERN_ROWS + 1)))
    assert select_pattern(long, "long.csv", "") == ANY_SELECT
