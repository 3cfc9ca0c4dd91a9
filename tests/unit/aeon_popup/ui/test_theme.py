"""Colours of the window."""

import os

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtWidgets", reason="Qt is not installed here", exc_type=ImportError)

from PySide6.QtWidgets import QApplication, QLineEdit

from aeon_popup.ui.prompt import Prompt
from aeon_popup.ui.theme import DARK, LIGHT, Palette, named, style_sheet

TEXTS = ("text", "dim", "accent", "ok", "warn", "err")


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours as WCAG 2 defines it, 1 to 21."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_contrast_is_that_of_the_standard() -> None:
    """Black on white has the greatest contrast, and equal colours have none."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#7aa2ff", "#7aa2ff") == pytest.approx(1)


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda one: one.name)
@pytest.mark.parametrize("name", TEXTS)
def test_text_is_readable(palette: Palette, name: str) -> None:
    """Every colour of text has a contrast of at least 4.5:1 on each background on which it appears."""
    colour = getattr(palette, name)
    assert min(contrast(colour, ground) for ground in (palette.bg, palette.panel, palette.field)) >= 4.5


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda one: one.name)
def test_the_main_button_is_readable(palette: Palette) -> None:
    """The label of the main button has a contrast of at least 4.5:1."""
    assert contrast(palette.on_accent, palette.accent) >= 4.5
    assert palette.accent in style_sheet(palette)


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda one: one.name)
def test_placeholders_are_readable(palette: Palette) -> None:
    """What the empty prompt and the empty field of a question say has a contrast of at least 4.5:1, as it is drawn."""
    app = QApplication.instance() or QApplication(["theme"])
    fields = {palette.bg: Prompt(), palette.field: named(QLineEdit(), "entry")}
    for ground, field in fields.items():
        field.setStyleSheet(style_sheet(palette))
        field.ensurePolished()
        colour = field.palette().placeholderText().color()
        assert colour.alpha() == 255
        assert contrast(colour.name(), ground) >= 4.5
    app.processEvents()
