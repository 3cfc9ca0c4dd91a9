"""The tokenizer of uncased BERT models."""

from pathlib import Path

import pytest

from aeond.capabilities.embedding.wordpiece import WordPiece, read_vocabulary
from aeond.errors import LLMError
from tests.support.embedders import VOCABULARY

IDS = {token: number for number, token in enumerate(VOCABULARY)}


def tokens(text: str, limit: int = 100) -> list[str]:
    """The tokens of a text by the small vocabulary."""
    return [VOCABULARY[number] for number in WordPiece(IDS).encode(text, limit)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", []),
        ("Red  APPLES.", ["red", "apple", "##s", "."]),
        ("blue\tsea\nred", ["blue", "sea", "red"]),
        ("réd a\u0301pple", ["red", "apple"]),
        ("re\u00add\x00 \ufffdsea", ["red", "sea"]),
        ("海sea", ["[UNK]", "sea"]),
        ("seared", ["[UNK]"]),
        ("[SEP]", ["[", "sep", "]"]),
        ("a" * 101, ["[UNK]"]),
    ],
)
def test_a_text_becomes_the_longest_known_pieces(text: str, wanted: list[str]) -> None:
    """Case, accents and invisible characters do not count; a name of a special token is ordinary text."""
    assert tokens(text) == ["[CLS]", *wanted, "[SEP]"]


def test_a_long_text_is_cut_to_the_limit() -> None:
    """The last special token stays, whatever is cut."""
    assert tokens("red " * 50, limit=5) == ["[CLS]", "red", "red", "red", "[SEP]"]


def test_a_file_that_is_no_vocabulary_is_refused(tmp_path: Path) -> None:
    """Without the special tokens a file is not a vocabulary."""
    file = tmp_path / "vocab.txt"
    file.write_text("red\nblue\n", encoding="utf-8")
    with pytest.raises(LLMError) as refused:
        read_vocabulary(file)
    assert refused.value.reason == "MODEL_DAMAGED"
