import pytest

from aeond.capabilities.tools.tables.records import MAX_LINE_CHARS, records_in

BERTHS = [{"name": "A1", "metres": 6}, {"name": "A2", "metres": 8}]
TOURS = [{"id": 1, "by": [{"p": 1}, {"p": 2}, {"p": 3}]}, {"id": 2, "by": []}]
IN_LIST = '[{"name": "A1", "metres": 6}, {"name": "A2", "metres": 8}]'


@pytest.mark.parametrize(
    ("ending", "text", "records", "above"),
    [
        (
            ".json",
            f'{{"harbour": "Lund", "open": true, "berths": {IN_LIST}}}',
            BERTHS,
            "harbour: Lund\nopen: True",
        ),
        (".json", '{"A1": {"metres": 6}, "A2": {"metres": 8}}', BERTHS, ""),
        (".json", f'{{"of": {{"list": [{{"a": 1}}], "berths": {IN_LIST}}}}}', BERTHS, ""),
        (
            ".toml",
            'year = 2026\n[[berth]]\nname = "A1"\nmetres = 6\n[[berth]]\nname = "A2"\nmetres = 8\n',
            BERTHS,
            "year: 2026",
        ),
        (
            ".json",
            '{"tours": [{"id": 1, "by": [{"p": 1}, {"p": 2}, {"p": 3}]}, {"id": 2, "by": []}]}',
            TOURS,
            "",
        ),
        (".toml", "[A1]\nmetres = 6\n[A2]\nmetres = 8\n", BERTHS, ""),
        (
            ".ini",
            "[A1]\nMetres = 6 m\n; second\n[A2]\nMetres = 8 m\n",
            [{"name": "A1", "Metres": "6 m"}, {"name": "A2", "Metres": "8 m"}],
            "",
        ),
    ],
)
def test_records_are_found_in_data_files(
    ending: str, text: str, records: list[dict[str, object]], above: str
) -> None:
    """Objects in a list or below their names are records in JSON, TOML and INI, the outermost ones with the single values above them."""
    assert records_in(text, ending) == (records, above)


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        (".json", '{"a": 1, "b": [1, 2]}'),
        (".json", '[{"a": 1}, {"b": 2}]'),
        (".json", '[{"a": 1}, 2]'),
        (".json", "[" * 5_000 + "]" * 5_000),
        (".json", "{"),
        (".ini", "[tuning]\nupright = 72\n[travel]\nper_mile = 0.45\n"),
        (".ini", "[a]\nx" + " " * MAX_LINE_CHARS + "y\n"),
        (".toml", "Rope, 3 m"),
        (".toml", "a." * MAX_LINE_CHARS + "a = 1"),
    ],
)
def test_other_data_have_no_records(ending: str, text: str) -> None:
    """Settings, single objects, objects without a common member, and what cannot be read in little time are no records."""
    assert not records_in(text, ending)[0]
