"""Formats that an edit keeps."""

import pytest

from aeond.capabilities.tools.editing.formats import breaks, is_valid, keep_format
from aeond.capabilities.tools.editing.text_edits import Replacement, edit_text
from aeond.errors import ToolError


@pytest.mark.parametrize(
    ("text", "path", "valid"),
    [
        ('{"a": 1}', "a.json", True),
        ('\ufeff{"a": 1}', "a.json", True),
        ('{"a": 1, "a": 2}', "a.json", False),
        ("[" * 100_000, "a.JSON", False),
        ("a = 1", "a.toml", True),
        ("a = x", "a.toml", False),
        ("[a]\nb = 1", "a.ini", True),
        ("b = 1", "a.ini", False),
        ("[a] b = 1", "a.ini", False),
        ("[a] ; mine\nb = [c] d", "a.ini", True),
        ("{", "a.yaml", False),
        ("name,age\nIda,3", "a.csv", False),
    ],
)
def test_documents_are_read_by_the_names_of_their_files(text: str, path: str, *, valid: bool) -> None:
    """JSON without a name twice in an object, TOML and INI can be valid; files with other names are no documents that can be read here."""
    assert is_valid(text, path) is valid
    assert breaks(text, "[", path) is valid
    assert not breaks("[", text, path)


def test_what_was_no_valid_document_may_change() -> None:
    """An edit is refused only for what it breaks itself."""
    keep_format("{", "{{", "a.json")
    with pytest.raises(ToolError, match="a name stands twice in one object: 'a'"):
        keep_format('{"a": 1}', '{"a": 1, "a": 2}', "a.json")


@pytest.mark.parametrize(
    ("text", "old", "new", "path"),
    [
        ('{"a": 1, "b": 2}', '"a": 1', '"a": x', "a.json"),
        ('{"a": 1, "b": 2}', '"a": 1', '"b": 1', "a.json"),
        ('{"a": 1, "b": 2}', "1", "", "a.json"),
        ('a = 1\nb = "x"\n', '"x"', "x", "a.toml"),
        ("name,age\nIda,3\nBo,4\n", "Ida,3", "Ida,3,sold=no", "a.csv"),
        ("name;age\nIda;3\n", "Ida;3", "Ida", "a.csv"),
        ("name\tage\nIda\t3\n", "3", "3\t4", "a.tsv"),
    ],
)
def test_an_edit_that_breaks_the_format_is_refused(text: str, old: str, new: str, path: str) -> None:
    """A valid file stays valid, and the error names the fault that an edit would cause."""
    with pytest.raises(ToolError, match="would be broken") as refused:
        edit_text(text.encode(), [Replacement(old, new)], path)
    assert refused.value.reason == "FORMAT_BROKEN"
