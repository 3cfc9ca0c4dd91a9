"""The files that a request is about."""

import pytest

from aeond.capabilities.tools.relevance.file_ranking import nearest_files

TEXTS = {
    "boat/engine.log": "start\npressure low\nstop",
    "boat/costs.json": "paint rope lamp",
    "club/members.csv": "name,fee\nLena,120\nOmar,95",
    "club/rules.md": "No noise after ten. A guest pays 3 euros.",
    "todo.txt": "paint, rope",
    "boat/notiz.txt": "Laeufer 30 Euro",
}


@pytest.mark.parametrize(
    ("request_", "paths"),
    [
        ("what fee do Lena and Omar have", "club/members.csv"),
        ("read me the rules", "club/rules.md"),
        ("Wie oft steht 'pressure' im Log?", "boat/engine.log"),
        ("what do the costs say about the lamp", "boat/costs.json"),
        ("do we have rope and paint", ""),
        ("did we note lamp, rope and paint", "boat/costs.json todo.txt"),
        ("what is the capital of Portugal", ""),
        ("compare boat/costs.json with TODO.txt", "boat/costs.json todo.txt"),
        ("Wieviel Euro kosten die Läufer?", "boat/notiz.txt"),
        ("", ""),
    ],
)
def test_files_are_found_by_name_and_content(request_: str, paths: str) -> None:
    """A file counts if it shares enough, and the next one if it shares half as much."""
    assert " ".join(nearest_files(request_, TEXTS)) == paths


def test_without_files_there_is_none() -> None:
    """An empty workspace has no nearest file."""
    assert nearest_files("read me the rules", {}) == ()


def test_meaning_counts_beside_words() -> None:
    """A file that is near in meaning comes first though it shares no word; without any, and with little of it, nothing is near."""
    meanings = {"club/members.csv": 0.2, "club/rules.md": 0.5, "todo.txt": 0.1}
    assert nearest_files("co zabronione w nocy", TEXTS, dict.fromkeys(TEXTS, 0.1)) == ()
    assert nearest_files("co zabronione w nocy", TEXTS) == ()
    assert nearest_files("co zabronione w nocy", TEXTS, meanings) == ("club/rules.md",)
    assert nearest_files("is rope on the list todo.txt", TEXTS, meanings)[0] == "todo.txt"
