"""The conversation in which an expression is written."""

from datetime import datetime

from aeond.capabilities.tools.calculator.expression_conversation import EXPRESSION, expression_view
from aeond.capabilities.tools.calculator.expressions import evaluate

NOW = datetime(2026, 3, 6, 10, 15)  # noqa: DTZ001 - local time, as people write dates


def test_each_example_can_be_computed() -> None:
    """A small model copies examples: none of them may fail."""
    for _view, _request, expression in EXPRESSION.examples:
        assert isinstance(expression, str)
        assert evaluate(expression, NOW) is not None


def test_the_date_is_in_view() -> None:
    """A date of a request without a year belongs to a year that the model sees."""
    assert expression_view(NOW).text == "Now: 2026-03-06 10:15 (Friday)"
