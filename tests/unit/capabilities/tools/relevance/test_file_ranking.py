"""The file that a request is about."""

import pytest

from aeond.capabilities.tools.relevance.file_ranking import nearest_file

TEXTS = {
    "boat/engine.log": "start\npressure low\nstop",
    "boat/costs.json": "paint rope lamp",
    "club/members.csv": "name,fee\nLena,120\nOmar,95",
    "club/rules.md": "No noise after ten. A guest pays 3 euros.",
    "todo.txt": "paint, rope",
}


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ("what fee do Lena and Omar have", "club/members.csv"),
        ("read me the rules", "club/rules.md"),
        ("Wie oft steht 'pressure' im Log?", "boat/engine.log"),
        ("what do the costs say about the lamp", "boat/costs.json"),
        ("do we have rope and paint", ""),
        ("what is the capital of Portugal", ""),
        ("", ""),
    ],
)
def test_a_file_is_found_by_its_name_and_content(request_: str, path: str) -> None:
    """A file counts if it shares clearly more than all others; what several files have leaves it open."""
    assert nearest_file(request_, TEXTS) == path


def test_without_files_there_is_none() -> None:
    """An empty workspace has no nearest file."""
    assert nearest_file("read me the rules", {}) == ""
