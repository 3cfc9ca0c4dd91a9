"""Where new sections of settings stand."""

import configparser

import pytest

from aeond.capabilities.tools.editing.sections import end_of_section, opens_section, sets_apart
from aeond.capabilities.tools.editing.text_edits import Addition, edit_text

STAGE = "volume = 3\n\n[curtain]\nspeed = 4\nlock = on\n\n# above the stage\n[lamp]\nwatts = 60\n"


def edited(text: str, *changes: Addition, path: str = "stage.ini") -> str:
    return edit_text(text.encode(), changes, path).content.decode()


@pytest.mark.parametrize("below", ["[curtain]", "speed = 4", "lock = on"])
def test_a_new_section_takes_no_settings_of_another(below: str) -> None:
    """A section that is added below a line of another one stands behind that one, before the comment of the next."""
    expected = STAGE.replace("lock = on\n", "lock = on\n\n[seat]\nnumber = 9\n")
    assert edited(STAGE, Addition("[seat]\nnumber = 9", below), path="stage.toml") == expected
    assert edited(STAGE, Addition("[seat]", below), Addition("number = 9", below), path="a.conf") == expected


def test_a_setting_beside_a_new_section_stays_in_its_own() -> None:
    """A setting below the last line of a section belongs to it, whatever else the call adds there."""
    changes = Addition("[seat]\nnumber = 9", "[curtain]"), Addition("colour = red", "lock = on")
    text = edited(STAGE.removeprefix("volume = 3\n\n"), *changes)
    parser = configparser.ConfigParser()
    parser.read_string(text)
    assert parser["curtain"]["colour"] == "red"
    assert dict(parser["seat"]) == {"number": "9"}


@pytest.mark.parametrize(
    ("text", "addition", "expected"),
    [
        (STAGE, Addition("[seat]", "watts = 60"), STAGE + "\n[seat]\n"),
        (STAGE, Addition("[seat]"), STAGE + "\n[seat]\n"),
        (STAGE, Addition("\n[seat]"), STAGE + "\n[seat]\n"),
        (STAGE + "\n", Addition("[seat]"), STAGE + "\n[seat]\n"),
        (STAGE, Addition("[seat]", "volume = 3"), STAGE.replace("3\n", "3\n\n[seat]\n", 1)),
        ("[a]\nx=1\n[b]\ny=2\n", Addition("[c]", "[a]"), "[a]\nx=1\n[c]\n[b]\ny=2\n"),
        ("[a]\r\nx=1\r\n\r\n[b]\r\n", Addition("[c]", "[a]"), "[a]\r\nx=1\r\n\r\n[c]\r\n\r\n[b]\r\n"),
        ("[a]\nx=1", Addition("[c]", "[a]"), "[a]\nx=1\n[c]\n"),
        ("", Addition("[c]"), "[c]\n"),
    ],
)
def test_a_new_section_is_set_apart_as_the_others(text: str, addition: Addition, expected: str) -> None:
    """A new section has an empty line above it where those of the file have one, and the file's line breaks."""
    assert edited(text, addition, path="stage.conf") == expected


def test_only_settings_have_sections() -> None:
    """A line in brackets is the header of a section in a file of settings alone."""
    assert opens_section("# new\n[[seat]]  ; mine", "a.toml")
    assert not opens_section("[seat]", "a.md")
    assert not opens_section("sizes = [1, 2]", "a.toml")
    assert edited("[a]\nb\n", Addition("[c]", "[a]"), path="a.md") == "[a]\n[c]\nb\n"


def test_the_end_of_a_section_is_its_last_line() -> None:
    """Empty lines and comments above the next header are no part of the section before; other comments are."""
    text = "[a]\nx=1\n# old\n\n\n; next\n[b]\n"
    assert text[end_of_section(text, 4) :] == "\n\n; next\n[b]\n"
    assert end_of_section("[b]", 3) == 3
    assert sets_apart(text)
    assert not sets_apart("[a]\nx=1\n; next\n[b]\n")
