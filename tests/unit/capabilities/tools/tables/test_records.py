import pytest

from aeond.capabilities.tools.tables.records import records_in

BERTHS = [{"name": "A1", "metres": 6}, {"name": "A2", "metres": 8}]


@pytest.mark.parametrize(
    ("text", "records", "above"),
    [
        (
            '{"harbour": "Lund", "open": true, "berths": [{"name": "A1", "metres": 6}, {"name": "A2", "metres": 8}]}',
            BERTHS,
            "harbour: Lund\nopen: True",
        ),
        ('{"A1": {"metres": 6}, "A2": {"metres": 8}}', BERTHS, ""),
        ('[[berth]]\nname = "A1"\nmetres = 6\n\n[[berth]]\nname = "A2"\nmetres = 8\n', BERTHS, ""),
        ("[A1]\nmetres = 6\n[A2]\nmetres = 8\n", BERTHS, ""),
        (
            "[A1]\nMetres = 6 m\n; second\n[A2]\nMetres = 8 m\n",
            [{"name": "A1", "Metres": "6 m"}, {"name": "A2", "Metres": "8 m"}],
            "",
        ),
        (
            '{"of": {"list": [{"a": 1}], "berths": [{"name": "A1", "metres": 6}, {"name": "A2", "metres": 8}]}}',
            BERTHS,
            "",
        ),
    ],
)
def test_records_are_found_in_data_files(text: str, records: list[dict[str, object]], above: str) -> None:
    """Objects in a list or below their names are records in JSON, TOML and INI, with the single values above them."""
    assert records_in(text) == (records, above)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": [1, 2]}',
        "[tuning]\nupright = 72\n[travel]\nper_mile = 0.45\n",
        '[{"a": 1}, {"b": 2}]',
        '[{"a": 1}, 2]',
        "[" * 5_000 + "]" * 5_000,
    ],
)
def test_other_data_have_no_records(text: str) -> None:
    """Settings, single objects, objects without a common member, and a value too deep to be read are no records."""
    assert not (records_in(text) or ([], ""))[0]


@pytest.mark.parametrize("text", ["Rope, 3 m", "# Rules\n\n1. No noise", "[x] paint\nrope"])
def test_other_texts_are_no_data(text: str) -> None:
    """A text that no format reads is none."""
    assert records_in(text) is None
