"""Arithmetic as people write it."""

import ast
from datetime import datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.capabilities.tools.calculator.expressions import MAX_CHARS, MAX_NESTING
from aeond.capabilities.tools.calculator.expressions import evaluate as evaluate_at
from aeond.capabilities.tools.calculator.values import Months, Span, Value, moment, shown
from aeond.errors import ToolError

NOW = moment(2026, 3, 6, 10, 15)


def evaluate(text: str) -> Value:
    return evaluate_at(text, NOW)


def reason_of(text: str) -> str:
    with pytest.raises(ToolError) as failure:
        evaluate(text)
    assert 0 < len(failure.value.message) < 400
    return failure.value.reason


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", "1"),
        (" 1 + 2 ", "3"),
        ("2 + 3 * 4", "14"),
        ("(2 + 3) * 4", "20"),
        ("10 - 4 - 3", "3"),
        ("100 / 10 / 5", "2"),
        ("7 // 2", "3"),
        ("-7 // 2", "-4"),
        ("7 % 4", "3"),
        ("-7 % 4", "1"),
        ("10 % (3)", "1"),
        ("2 ** 3 ** 2", "512"),
        ("2 ^ 10", "1024"),
        ("-2 ** 2", "-4"),
        ("2 ** -1", "1/2"),
        ("--3", "3"),
        ("- + -3", "3"),
        (".5 + 5.", "11/2"),
        ("1.5e3", "1500"),
        ("1E-2", "1/100"),
        ("0.1 + 0.2", "3/10"),
        ("1 / 3 * 3", "1"),
        ("pi - pi", "0"),
        ("ABS(-3)", "3"),
        ("min(3, 1, 2)", "1"),
        ("max(1, 2) * 2", "4"),
        ("sum(1, 2, 3)", "6"),
        ("mean(1, 2)", "3/2"),
        ("round(2.345, 2)", "47/20"),
        ("sqrt(sqrt(16))", "2"),
        ("6 \N{MULTIPLICATION SIGN} 7", "42"),
        ("6 \N{DIVISION SIGN} 4", "3/2"),
        ("6 \N{MINUS SIGN} 7", "-1"),
        ("6 * 7 =", "42"),
    ],
)
def test_arithmetic_is_read_as_written(text: str, value: str) -> None:
    """Operators bind and associate as people are used to, and values are exact."""
    assert evaluate(text) == Fraction(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("17.5% of 2400", 420),
        ("17.5% * 2400", 420),
        ("2400 * 17.5%", 420),
        ("(10 + 7.5)% of 2400", 420),
        ("25%", Fraction(1, 4)),
        ("-25%", Fraction(-1, 4)),
        ("50%%", Fraction(1, 200)),
        ("200 + 10%", 220),
        ("200 - 10%", 180),
        ("200 + 10% + 10%", 242),
        ("200 + 10% of 50", 205),
        ("200 + 10% * 50", 205),
        ("200 + 3 * 10%", Fraction(2003, 10)),
        ("50% + 50%", Fraction(3, 4)),
        ("3/4 of 200", 150),
        ("max(10%, 5%)", Fraction(1, 10)),
        ("200 * 10% - 5", 15),
        ("17 % 5", 2),
        ("17 % pi // 1", 1),
    ],
)
def test_percent_means_what_people_mean(text: str, value: Fraction) -> None:
    """A percent sign is a hundredth, a share of what it is added to, or a remainder, by its place."""
    assert evaluate(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234,567.5 + 0.5", 1_234_568),
        ("1.234.567", 1_234_567),
        ("1.234,56", Fraction("1234.56")),
        ("1,234.56", Fraction("1234.56")),
        ("1'234.50", Fraction("1234.5")),
        ("2 400 * 3", 7200),
        ("1\N{NARROW NO-BREAK SPACE}234,5\N{NO-BREAK SPACE}\N{EURO SIGN}", Fraction("1234.5")),
        ("$45 * 3", 135),
        ("17,5 * 2", 35),
        ("0,125 * 8", 1),
        ("1_000", 1000),
        ("(1,5 + 1) * 2", 5),
        ("max(1,200)", 200),
        ("max(1,5; 2,5)", Fraction("2.5")),
        ("round(2.345, 2)", Fraction("2.35")),
        ("sum([1, 2, 3])", 6),
        ("3 x 4", 12),
        ("3x4", 12),
        ("3\N{SUPERSCRIPT TWO}", 9),
        ("\N{SQUARE ROOT}16 + \N{SQUARE ROOT}(2 + 2)", 6),
        ("math.sqrt(16)", 4),
        ("avg(1, 2)", Fraction("1.5")),
    ],
)
def test_numbers_are_read_in_many_notations(text: str, value: Fraction) -> None:
    """Groups of thousands, decimal commas, currency signs and the spellings of programs are read."""
    assert evaluate(text) == value


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("2,400 * 2", "2400 or 2.4"),
        ("1,000", "1000 or 1.0"),
        ("sum(1,234.50, 2)", "a space after each comma"),
        ("3/6/2026", "date(2026,3,10)"),
        ("2026-6-3", "date(2026,3,10)"),
        ("12 euros * 3", "without other words"),
    ],
)
def test_two_readings_are_refused(text: str, form: str) -> None:
    """A notation with two readings is an error that shows a form with one."""
    with pytest.raises(ToolError) as failure:
        evaluate(text)
    assert form in failure.value.message


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("date(2026,6,3)-date(2026,4,20)", "44 days"),
        ("2026-06-03 - 2026-04-20", "44 days"),
        ("03.06.2026 - 20.04.2026", "44 days"),
        ("(date(2026,6,3)-date(2026,4,20)).days", "44 days"),
        ("date(2026,6,3)-date(2026,4,20)+1", "45 days"),
        ("weeks(date(2026,6,3)-date(2026,4,22))", 6),
        ("days(date(2026,4,20), date(2026,6,3))", 44),
        ("date(2026,3,10)+weeks(6)", "2026-04-21 (Tuesday)"),
        ("2026-03-10 + 6 weeks", "2026-04-21 (Tuesday)"),
        ("date(2026,3,10)+timedelta(weeks=6)", "2026-04-21 (Tuesday)"),
        ("date('2026-03-10') - 10", "2026-02-28 (Saturday)"),
        ("date(2026,1,31)+months(1)", "2026-02-28 (Saturday)"),
        ("date(2024,2,29)+years(1)", "2025-02-28 (Friday)"),
        ("date(2024,3,31) - months(1)", "2024-02-29 (Thursday)"),
        ("years(date(1990,3,7), today)", 35),
        ("years(date(1990,3,6), today)", 36),
        ("months(date(2026,1,31), date(2026,2,28))", 1),
        ("weekday(date(2026,3,10))", "Tuesday"),
        ("max(2026-03-10, today)", "2026-03-10 (Tuesday)"),
        ("today", "2026-03-06 (Friday)"),
        ("now + hours(20)", "2026-03-07 06:15 (Saturday)"),
        ("25/12/2026 - today()", "294 days"),
        ("time(9,50)+time(2,35)", "12:25"),
        ("9:50 + 2:35", "12:25"),
        ("9:50 + 2 h 35 min", "12:25"),
        ("9:50 + 2h35", "12:25"),
        ("17:30 - 9:45", "7:45"),
        ("8:00 - 22:30", "-14:30 (9:30 across midnight)"),
        ("23:30 + 2:00", "25:30 (1 day and 1:30)"),
        ("sum(7:30, 8:15)", "15:45"),
        ("2:30 / 2", "1:15"),
        ("2:30 / 0:30", 5),
        ("hours(2.5)", "2:30"),
        ("45 min * 3", "2:15"),
        ("minutes(2:35)", 155),
        ("0:00:45 * 3", "0:02:15"),
        ("2026-06-03 14:00 - 2026-06-01 09:30", "52:30 (2 days and 4:30)"),
        ("months(14)", "14 months"),
        ("1 day", "1 day"),
    ],
)
def test_dates_and_times_are_computed(text: str, result: object) -> None:
    """Dates, times of day and lengths of time are added, subtracted, compared and shown in short."""
    assert shown(evaluate(text)) == result


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("date(2026,2,30)", "DATE_INVALID"),
        ("date(2026,3)", "EXPRESSION_INVALID"),
        ("date(9999,12,31) + days(5)", "DATE_INVALID"),
        ("date(2026,3,10) + years(9000)", "DATE_INVALID"),
        ("date(2026,3,10) + months(0.5)", "DATE_INVALID"),
        ("date(2026,3,10) + 9e99", "DATE_INVALID"),
        ("date(2026,3,10) * 2", "EXPRESSION_INVALID"),
        ("date(2026,3,10) + date(2026,3,10)", "EXPRESSION_INVALID"),
        ("9:50 + 35", "EXPRESSION_INVALID"),
        ("2 ** days(2)", "EXPRESSION_INVALID"),
        ("sqrt(days(2))", "EXPRESSION_INVALID"),
        ("days(2) / days(0)", "DIVISION_BY_ZERO"),
        ("weekday(3)", "EXPRESSION_INVALID"),
        ("weekday(today) + 1", "EXPRESSION_INVALID"),
        ("-today", "EXPRESSION_INVALID"),
        ("time(1.5, 2)", "EXPRESSION_INVALID"),
    ],
)
def test_dates_without_a_meaning_are_refused(text: str, reason: str) -> None:
    """A date that does not exist, or an operation that dates do not have, fails with its reason."""
    assert reason_of(text) == reason


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "=",
        "()",
        "(",
        ")",
        "((1)",
        "(1))",
        "1 2",
        "1 +",
        "* 1",
        "1 */ 2",
        "min()",
        "min(1,)",
        "min(,1)",
        "min",
        "min 1, 2",
        "sqrt(1, 2)",
        "round(1, 2, 3)",
        "round(1, 0.5)",
        "round(1, 51)",
        "1e9999",
        "0x10",
        "1.2.3",
        "pi(2)",
        "1 = 1",
        "1 < 2",
        "$s1 * 2",
        "'a' * 3",
        "[1, 2]",
        "(1, 2)",
        "96:4",
        "lambda: 1",
        "1 if 1 else 2",
        "a.b",
        "x := 1",
        "1;2",
        "1\n+\x00",
        "\u0663 + 1",
        "of 5",
        "5 of",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    """A text that is no expression fails as EXPRESSION_INVALID or by its unknown name, never otherwise."""
    assert reason_of(text) in ("EXPRESSION_INVALID", "UNKNOWN_NAME")


@pytest.mark.parametrize(
    "text", ["__import__('os').system('id')", "open(1)", "exec(1)", "eval(1)", "globals()", "e.real"]
)
def test_names_of_python_mean_nothing(text: str) -> None:
    """Nothing of Python can be reached through an expression."""
    assert reason_of(text) in ("EXPRESSION_INVALID", "UNKNOWN_NAME")


def test_unknown_name_tells_the_known_ones() -> None:
    """An unknown function is answered with the names of those that there are."""
    with pytest.raises(ToolError, match="sqrt"):
        evaluate("root(4)")


@pytest.mark.parametrize("text", ["1 / 0", "1 // 0", "1 % 0", "0 ** -1", "1 / (2 - 2)"])
def test_division_by_zero_is_reported(text: str) -> None:
    """Every way to divide by zero fails as DIVISION_BY_ZERO."""
    assert reason_of(text) == "DIVISION_BY_ZERO"


@pytest.mark.parametrize(
    "text",
    [
        "9 ** 9 ** 9",
        "9 ** 999",
        "2 ** 99999999999",
        "10 ** 299 * 10",
        "1e300",
        "exp(1000)",
        "1e200 * 1e200",
        "1 / 1e-300",
        "9" * 400,
        "0.5 ** -2000",
        "99.5 ** 999.5",
    ],
)
def test_large_results_are_refused(text: str) -> None:
    """A result beyond 300 digits fails as NUMBER_TOO_LARGE instead of being worked out."""
    assert reason_of(text) == "NUMBER_TOO_LARGE"


def test_length_is_bounded() -> None:
    """An expression of the longest length is computed and a longer one refused."""
    assert evaluate("1" + "+1" * ((MAX_CHARS - 1) // 2)) == 1 + (MAX_CHARS - 1) // 2
    assert reason_of("1" * (MAX_CHARS + 1)) == "EXPRESSION_INVALID"


@pytest.mark.parametrize("around", [("(", ")"), ("abs(", ")"), ("1**", "")])
def test_nesting_is_bounded(around: tuple[str, str]) -> None:
    """Parentheses, functions and powers nest to a limit, below which they are computed."""
    before, after = around
    assert evaluate(before * MAX_NESTING + "1" + after * MAX_NESTING) == 1
    deep = MAX_NESTING + 1
    assert reason_of(before * deep + "1" + after * deep) == "EXPRESSION_INVALID"


def test_signs_do_not_nest() -> None:
    """A row of hundreds of signs costs no recursion."""
    assert evaluate("-" * 400 + "1") == 1


numbers = st.integers(0, 10**6).map(str) | st.decimals(0, 1000, places=3).map(str)
expressions = st.recursive(
    numbers,
    lambda parts: (
        st.tuples(parts, st.sampled_from(["+", "-", "*"]), parts).map(" ".join)
        | parts.map(lambda part: f"({part})")
        | parts.map(lambda part: f"-({part})")
    ),
    max_leaves=8,
)


def exactly(node: ast.AST) -> Fraction:
    """The value of a parsed expression in rational numbers, as an independent reading."""
    match node:
        case ast.BinOp(left, ast.Add(), right):
            return exactly(left) + exactly(right)
        case ast.BinOp(left, ast.Sub(), right):
            return exactly(left) - exactly(right)
        case ast.BinOp(left, ast.Mult(), right):
            return exactly(left) * exactly(right)
        case ast.UnaryOp(ast.USub(), operand):
            return -exactly(operand)
        case ast.Constant(value):
            return Fraction(str(value))
        case _:
            raise AssertionError(ast.dump(node))


@given(expressions)
def test_values_agree_with_an_independent_reading(text: str) -> None:
    """For sums, differences and products the value is the one that Python's own grammar gives exactly."""
    try:
        value = evaluate(text)
    except ToolError as error:
        assert error.reason in ("EXPRESSION_INVALID", "NUMBER_TOO_LARGE")
        assert len(text) > MAX_CHARS or error.reason == "NUMBER_TOO_LARGE"
        return
    assert value == exactly(ast.parse(text, mode="eval").body)


@given(st.text(alphabet="0123456789.+-*/%^()e, ofpisqrtmaxndywk:;[]", max_size=60))
def test_any_text_ends_in_a_value_or_a_reason(text: str) -> None:
    """Whatever is written, the outcome is a number or a ToolError with a reason."""
    try:
        assert isinstance(evaluate(text), Fraction | datetime | Span | Months | str)
    except ToolError as error:
        assert error.reason
