"""Text of servers never reaches a model or a terminal as it is."""

from hypothesis import given
from hypothesis import strategies as st

from aeond.capabilities.mcp.foreign_text import clean, clean_schema


@given(st.text(max_size=300), st.integers(min_value=4, max_value=100))
def test_clean_text_is_one_printable_line_of_bounded_length(text: str, most: int) -> None:
    """Whatever a server sends, its text is printable, on one line, and short enough."""
    cleaned = clean(text, most)
    assert cleaned.isprintable()
    assert len(cleaned) <= most
    assert cleaned == cleaned.strip()


def test_escape_sequences_vanish_with_their_parameters() -> None:
    """A sequence of a terminal leaves no rest in the text."""
    assert clean("\x1b[1;31mred\x1b[0m \x1b]alert", 50) == "red alert"


def test_texts_in_a_schema_are_cleaned_wherever_they_are() -> None:
    """Descriptions of fields are foreign text, too; numbers, truth values and names of fields stay."""
    schema = {
        "properties": {"a": {"description": "x\x1b[2Jy", "minimum": 1}},
        "required": ["a"],
        "extra": True,
    }
    cleaned = {"properties": {"a": {"description": "x y", "minimum": 1}}, "required": ["a"], "extra": True}
    assert clean_schema(schema, 20) == cleaned


def test_texts_that_are_compared_stay_as_they_are() -> None:
    """Patterns, values, references and names keep their length and their blanks; a field that has the name of a keyword is
    cleaned as any other."""
    exact = {
        "pattern": f"^(?:{'a' * 30})$",
        "enum": ["a  b", "\t", {"title": "two  blanks"}],
        "const": "a\nb",
        "default": {"description": "a  b"},
        "$ref": f"#/$defs/{'n' * 30}",
        "required": ["two  blanks"],
        "dependentRequired": {"two  blanks": ["a  b"]},
    }
    assert clean_schema(exact, 20) == exact
    fields = {name: {"description": "x\x1b[2Jy"} for name in ("pattern", "enum", "two  blanks")}
    cleaned = {name: {"description": "x y"} for name in fields}
    for keyword in ("properties", "$defs", "dependentSchemas"):
        assert clean_schema({"anyOf": [{keyword: fields}]}, 20) == {"anyOf": [{keyword: cleaned}]}
    assert clean_schema({"properties": "x\x1b[2Jy"}, 20) == {"properties": "x y"}
