"""Colours of the window."""

import pytest

pytest.importorskip("PySide6.QtCore", reason="Qt is not installed here", exc_type=ImportError)

from aeon_popup.ui.theme import DARK, LIGHT, Palette, contrast, style_sheet

TEXTS = ("text", "dim", "accent", "ok", "warn", "err")


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
