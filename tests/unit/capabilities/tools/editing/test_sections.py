"""Where new sections of settings stand."""

import configparser

import pytest

from aeond.capabilities.tools.editing.sections import (
    end_of_section,
    line_in_section,
    named_lines,
    opens_section,
    sets_apart,
)
from aeond.capabilities.tools.editing.text_edits import Addition, Replacement, edit_text
from aeond.errors import ToolError

LAMPS = "on = no\n[left]\nwatts = 60\n  on = yes\n\n[right] # new\nwatts = 40\non = yes\n"
STAGE = "volume = 3\n\n[curtain]\nspeed = 4\nlock = on\n\n# above the stage\n[lamp]\nwatts = 60\n"


def edited(text: str, *changes: Replacement | Addition, path: str = "stage.ini") -> str:
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


SEAT = "\n[seat]\nnumber = 9\n"


@pytest.mark.parametrize("path", ["stage.toml", "stage.conf"])
@pytest.mark.parametrize(
    ("old", "new", "stays", "section"),
    [
        ("speed = 4", "speed = 5\n[seat]\nnumber = 9", "speed = 5\nlock = on\n", SEAT),
        ("4", "5\n\n[seat]\nnumber = 9\n", "speed = 5\nlock = on\n", SEAT),
        ("speed = 4\n", "# fixed\n[seat]\nnumber = 9", "lock = on\n", "\n# fixed\n[seat]\nnumber = 9\n"),
        (
            "[curtain]",
            "[curtain]\ncolour = 7\n[seat]\nnumber = 9",
            "colour = 7\nspeed = 4\nlock = on\n",
            SEAT,
        ),
    ],
)
def test_a_section_in_a_replacement_takes_no_settings_of_another(
    old: str, new: str, stays: str, section: str, path: str
) -> None:
    """A section that a replacement brings stands behind the section of the text that is replaced, whose other keys stay its own."""
    text = STAGE.replace("on\n", "1\n")
    expected = text.replace("speed = 4\nlock = 1\n", stays.replace("on\n", "1\n") + section)
    assert edited(text, Replacement(old, new), path=path) == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[curtain]", "[seat]\nnumber = 9\n[curtain]"),
        ("[curtain]", "[curtains]"),
        ("lock = on\n", "lock = on\n[seat]\n"),
        ("speed = 4\nlock = on", "[speed]\nspeed = 4\nlock = on"),
    ],
)
def test_headers_that_take_no_settings_stay_where_they_are_written(old: str, new: str) -> None:
    """A header in place of another one or above it, and one below which no key of another section stands, is written as it is given."""
    assert edited(STAGE, Replacement(old, new)) == STAGE.replace(old, new)


def test_a_value_in_brackets_is_no_header() -> None:
    """A line in brackets within a value of several lines is written where it is given."""
    text = "sizes = [\n  [1, 2],\n  3\n]\n"
    assert edited(text, Replacement("  3", "  [4]"), path="a.toml") == text.replace("3", "[4]")


def test_a_section_may_replace_what_the_same_call_brings() -> None:
    """A replacement of a text that the change before it has written is made in its place."""
    changes = Replacement("speed = 4", "pace = 5"), Replacement("pace = 5", "[seat]\nnumber = 9")
    assert edited(STAGE, *changes) == STAGE.replace("speed = 4", "[seat]\nnumber = 9")


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


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (Replacement("[right] on = yes", "on = no"), LAMPS[:-9] + "on = no\n"),
        (Replacement("[right] on = yes", "[right] on = no"), LAMPS[:-9] + "on = no\n"),
        (Replacement("[right] on = yes", "[right]\non = no"), LAMPS[:-9] + "on = no\n"),
        (Replacement("[left]  on = yes ", ""), LAMPS.replace("  on = yes\n", "")),
        (Addition("hue = 3", "[right] on = yes"), LAMPS + "hue = 3\n"),
        (
            Replacement("[left] on = yes", "on = no\n[seat]\nnumber = 9"),
            LAMPS.replace("  on = yes\n", "  on = no\n[seat]\nnumber = 9\n"),
        ),
    ],
)
def test_an_equal_line_is_named_with_its_section(change: Replacement | Addition, expected: str) -> None:
    """A line that stands in two sections is replaced, removed or followed in the one whose header stands before it in the change."""
    assert edited(LAMPS, change, path="lamps.ini") == expected


def test_a_section_for_an_equal_line_takes_no_settings() -> None:
    """A section that takes the place of a line that is named with its own stands behind that one."""
    text = "[a]\nx = 1\ny = 2\n[b]\nx = 1\n"
    change = Replacement("[a] x = 1", "[c]\nx = 1")
    assert edited(text, change, path="a.conf") == "[a]\ny = 2\n[c]\nx = 1\n[b]\nx = 1\n"


FAN = "[fan]\nspeed = 3\non = no\n\n[lamp] # left\non = no\nhue = 2\n"


@pytest.mark.parametrize("path", ["fan.ini", "fan.conf"])
@pytest.mark.parametrize(
    "change",
    [
        Replacement("[lamp]", "[lamp] on = yes"),
        Replacement("[lamp]", "[lamp]\non = yes"),
        Replacement("on = no", "[lamp]\n on = yes"),
        Replacement("on = no", "[lamp] on = yes"),
        Addition("[lamp] on = yes"),
    ],
)
def test_settings_of_a_section_take_the_place_of_its_own(change: Replacement | Addition, path: str) -> None:
    """A setting that is written with the header of a section that is there takes the place of the one with its key."""
    assert edited(FAN, change, path=path) == FAN.replace("left\non = no", "left\non = yes")


@pytest.mark.parametrize("change", [Replacement("[lamp]", "[lamp] watts = 9"), Addition("[lamp]\nwatts = 9")])
def test_new_settings_of_a_section_stand_in_it(change: Replacement | Addition) -> None:
    """A setting with a new key, written with the header of a section that is there, stands below that header, which stays as it is."""
    assert edited(FAN, change, path="fan.ini") == FAN.replace("left\n", "left\nwatts = 9\n")


def test_a_header_alone_sets_nothing() -> None:
    """A header that takes its own place changes nothing, and the report says so."""
    edit = edit_text(FAN.encode(), [Replacement("[fan]", "[fan]")], "fan.ini")
    assert (edit.content.decode(), edit.change) == (FAN, "before: [fan]\nnow: [fan]")


def test_a_section_is_added_once_more_where_the_format_allows_it() -> None:
    """An added section with the header of another one changes that one only in a file where it can stand once."""
    addition = Addition("[lamp]\non = yes")
    assert edited(FAN, addition, path="fan.ini") == FAN.replace("left\non = no", "left\non = yes")
    assert edited(FAN, addition, path="fan.conf") == f"{FAN}\n[lamp]\non = yes\n"
    lamps = "[[lamp]]\non = true\n"
    assert edited(lamps, Addition("[[lamp]]\non = false"), path="a.toml") == f"{lamps}[[lamp]]\non = false\n"


def test_settings_of_a_section_that_is_there_twice_have_no_place() -> None:
    """A header that stands twice names no section whose settings could be set."""
    text = "[[lamp]]\non = true\n[[lamp]]\non = false\n"
    with pytest.raises(ToolError, match="would be broken"):
        edited(text, Replacement("on = false", "[[lamp]] on = true"), path="a.toml")


def test_equal_lines_have_names() -> None:
    """A line of settings that other sections have too is named with its section; others, and those of other files, by themselves."""
    lines = LAMPS.splitlines()
    names = named_lines(lines, "lamps.conf")
    assert names == [*lines[:3], "[left] on = yes", *lines[4:7], "[right] on = yes"]
    assert named_lines(lines, "lamps.md") == lines
    twice = ["[[lamp]]", "on = yes", "[[lamp]]", "on = yes"]
    assert named_lines(twice, "a.toml") == twice


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("[right] on = yes", "a.md"),
        ("[up] on = yes", "a.ini"),
        ("[right] on = no", "a.ini"),
        ("[right] # new", "a.ini"),
        ("on = yes", "a.ini"),
    ],
)
def test_no_other_text_is_a_name(name: str, path: str) -> None:
    """A name means a line that its section has, in a file of settings, and nothing that is in the file as it is."""
    assert line_in_section(LAMPS, name, path) is None


def test_equal_lines_are_refused_with_their_names() -> None:
    """A line that stands in two sections is refused without one, with the names that tell them apart."""
    with pytest.raises(ToolError, match="give its section as well") as refused:
        edited(LAMPS, Replacement("on = yes", "on = no"))
    assert refused.value.candidates == ("[left] on = yes", "[right] on = yes")
