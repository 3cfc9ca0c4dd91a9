"""Arithmetic as people write it."""

import ast
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.capabilities.tools.builtin.expressions import MAX_CHARS, MAX_NESTING, evaluate
from aeond.errors import ToolError


def reason_of(text: str) -> str:
    with pytest.raises(ToolError) as failure:
        evaluate(text)
    assert 0 < len(failure.value.message) < 300
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
    [("2,400 * 2", 4800), ("1,234,567.5 + 0.5", 1_234_568), ("max(1,200)", 200), ("(2,400)", 2400)],
)
def test_thousands_are_told_from_arguments(text: str, value: int) -> None:
    """A comma groups thousands, except where a function makes it stand between arguments."""
    assert evaluate(text) == value


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
        "1,2",
        "12,34",
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
        "1_000",
        "0x10",
        "1.2.3",
        "pi(2)",
        "1 = 1",
        "1 < 2",
        "$s1 * 2",
        "'a' * 3",
        "[1, 2]",
        "lambda: 1",
        "1 if 1 else 2",
        "a.b",
        "x := 1",
        "1;2",
        "1\n+\x00",
        "\u0663 + 1",
        "of 5",
        "5 of",
        "√4",
    ],
)
def test_what_is_no_arithmetic_is_told(text: str) -> None:
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
def test_division_by_zero_is_told(text: str) -> None:
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


@given(st.text(alphabet="0123456789.+-*/%^()e, ofpisqrtmaxn", max_size=60))
def test_any_text_ends_in_a_value_or_a_reason(text: str) -> None:
    """Whatever is written, the outcome is a number or a ToolError with a reason."""
    try:
        assert isinstance(evaluate(text), Fraction)
    except ToolError as error:
        assert error.reason
