"""JSON values."""

from aeond.domain.values import JsonObject, mapped


def test_every_text_of_a_value_is_replaced() -> None:
    """Texts are replaced with their place in view, and keys and other values stay."""
    value: JsonObject = {"a": "x", "b": [1, ("y", None)], "c": {"x": True}}
    changed = mapped(value, lambda text, place: f"{text} at {'/'.join(map(str, place))}")
    assert changed == {"a": "x at a", "b": [1, ["y at b/1/0", None]], "c": {"x": True}}
