"""What the file of the memory holds of a fact."""

from aeond.capabilities.memory.schema import MAX_INDEXED_CHARS, index_text


def test_what_is_indexed_of_a_value_is_bounded() -> None:
    """Of a long value only the beginning is indexed, also where its letters become several when case and accents are
    left out.
    """
    for letter, folded in (("x", "x"), ("\N{LATIN SMALL LETTER SHARP S}", "ss")):
        assert (
            index_text("key", letter * 10 * MAX_INDEXED_CHARS)
            == f"key {(folded * MAX_INDEXED_CHARS)[: MAX_INDEXED_CHARS - 4]}"
        )
