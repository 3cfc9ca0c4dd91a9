"""A hotkey as people write it, such as Ctrl+Alt+Space."""

from dataclasses import dataclass

DEFAULT = "Ctrl+Alt+Space"
_NONE = "none"

# Modifier -> its bit in X11, and its name in the portal's notation.
MODIFIERS = {"ctrl": (0x04, "CTRL"), "alt": (0x08, "ALT"), "shift": (0x01, "SHIFT"), "super": (0x40, "LOGO")}
_ALIASES = {"control": "ctrl", "meta": "super", "win": "super", "logo": "super", "mod4": "super"}
# Name -> keysym, and its name in the portal's notation.
_NAMED = {
    "space": (0x0020, "space"),
    "tab": (0xFF09, "Tab"),
    "return": (0xFF0D, "Return"),
    "enter": (0xFF0D, "Return"),
    "escape": (0xFF1B, "Escape"),
    "backspace": (0xFF08, "BackSpace"),
    "insert": (0xFF63, "Insert"),
    "delete": (0xFFFF, "Delete"),
    "pause": (0xFF13, "Pause"),
    "menu": (0xFF67, "Menu"),
    **{f"f{number}": (0xFFBD + number, f"F{number}") for number in range(1, 25)},
}


@dataclass(frozen=True, slots=True)
class Chord:
    """A key with modifiers: `mask` and `keysym` in X11's terms, `trigger` in those of the XDG shortcuts
    specification, `text` for people.
    """

    mask: int
    keysym: int
    trigger: str
    text: str


def wanted(text: str) -> Chord | None:
    """The hotkey that the user wants; None if the text is the word none. ValueError if it is neither."""
    return None if text.strip().lower() == _NONE else parse(text)


def parse(text: str) -> Chord:
    """Reads modifiers and a key joined by +. ValueError, with the accepted names, if it is not a hotkey."""
    *modifiers, key = [part.strip() for part in text.split("+")] if text.strip() else [""]
    names = [_ALIASES.get(name.lower(), name.lower()) for name in modifiers]
    unknown = [name for name in names if name not in MODIFIERS]
    if unknown:
        raise ValueError(f"unknown modifier {unknown[0]!r} in {text!r}: use Ctrl, Alt, Shift or Super")
    if key.lower() in _NAMED:
        keysym, named = _NAMED[key.lower()]
    elif len(key) == 1 and key.isascii() and key.isprintable():
        keysym, named = ord(key.lower()), key.lower()
    else:
        raise ValueError(
            f"unknown key {key!r} in {text!r}: use a letter, a digit, Space, F1 to F24 or a named key"
        )
    if not names and not named.startswith("F"):
        raise ValueError(
            f"{text!r} has no modifier: it would take the key from all programs; use Ctrl+Alt+Space"
        )
    ordered = [name for name in MODIFIERS if name in names]
    mask = sum(MODIFIERS[name][0] for name in ordered)
    trigger = "+".join([*(MODIFIERS[name][1] for name in ordered), named])
    shown = named.upper() if len(named) == 1 else named.capitalize()
    return Chord(mask, keysym, trigger, "+".join([*(name.capitalize() for name in ordered), shown]))
