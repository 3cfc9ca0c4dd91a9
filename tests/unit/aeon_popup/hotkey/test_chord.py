"""Hotkeys as people write them."""

import pytest

from aeon_popup.hotkey.chord import DEFAULT, parse, wanted


@pytest.mark.parametrize(
    ("text", "mask", "keysym", "trigger", "shown"),
    [
        (DEFAULT, 0x0C, 0x20, "CTRL+ALT+space", "Ctrl+Alt+Space"),
        ("super+A", 0x40, ord("a"), "LOGO+a", "Super+A"),
        ("Alt + Control + F5", 0x0C, 0xFFC2, "CTRL+ALT+F5", "Ctrl+Alt+F5"),
        ("F12", 0, 0xFFC9, "F12", "F12"),
    ],
)
def test_a_hotkey_is_read(text: str, mask: int, keysym: int, trigger: str, shown: str) -> None:
    """A hotkey has its form for X11, for the portal, and for people, whatever the order and case of its parts."""
    chord = parse(text)
    assert (chord.mask, chord.keysym, chord.trigger, chord.text) == (mask, keysym, trigger, shown)


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "unknown key"), ("Hyper+A", "modifier 'hyper'"), ("Ctrl+Bang", "'Bang'"), ("a", "no modifier")],
)
def test_an_invalid_hotkey_is_explained(text: str, said: str) -> None:
    """An unknown part, or a key that all programs need, is rejected with the reason."""
    with pytest.raises(ValueError, match=said):
        parse(text)


@pytest.mark.parametrize(("text", "shown"), [("none", ""), (" None ", ""), ("Ctrl+N", "Ctrl+N")])
def test_the_word_none_is_no_hotkey(text: str, shown: str) -> None:
    """The user may want no hotkey, by the word none in any case; other texts are hotkeys."""
    chord = wanted(text)
    assert (chord.text if chord else "") == shown
