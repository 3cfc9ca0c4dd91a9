"""The recording for README: an SVG of a terminal, by frames."""

import re
from xml.etree import ElementTree as ET

from benchmarks.recording import PLAYED_SECONDS, Frame, picture

SVG = "{http://www.w3.org/2000/svg}"


def row(text: str, colour: str = "") -> tuple[tuple[str, str], ...]:
    return tuple((letter, colour) for letter in text)


def frames(seconds: float) -> list[Frame]:
    return [
        Frame(0.5, (row("$ ask"),)),
        Frame(seconds, (row("$ ask"), row("✓", "32") + row(" 1 < 2 & so on"))),
    ]


def test_each_frame_has_its_texts() -> None:
    """Every frame is drawn below the one before, each part of a row with its colour, as well-formed XML."""
    drawn = ET.fromstring(picture(frames(3.0), "ask <this>"))
    texts = [(text.text, text.get("class")) for text in drawn.iter(f"{SVG}text")]
    blank = "\u00a0"
    assert texts[:3] == [(f"${blank}ask", "c")] * 2 + [("✓", "c32")]
    assert texts[3] == ("1 < 2 & so on".replace(" ", blank), "c")
    tops = [float(text.get("y", "")) for text in drawn.iter(f"{SVG}text")]
    assert tops[1] - tops[0] == float(drawn.get("viewBox", "").split()[3])


def test_a_long_recording_is_played_faster() -> None:
    """A recording that takes longer than the picture is scaled, and the picture says by how much."""
    drawn = picture(frames(4 * PLAYED_SECONDS), "ask")
    assert f"recorded in {4 * PLAYED_SECONDS:.0f} s, played 4.0 times as fast" in drawn
    assert re.search(r"animation:play 20\.0s step-end", drawn)


def test_a_short_recording_keeps_its_time() -> None:
    """A recording that is short enough is played as it was."""
    drawn = picture(frames(5.0), "ask")
    assert ">recorded in 5 s<" in drawn
    assert re.search(r"animation:play 9\.0s step-end", drawn)
