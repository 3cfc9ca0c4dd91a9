"""Colours, fonts and the style sheet of the window, for dark and light; and texts cut to a width."""

import re
from dataclasses import dataclass
from html import escape
from typing import TypeVar

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QFont, QFontMetrics, QTextLayout, QTextOption

T = TypeVar("T", bound=QObject)

FAMILIES = ("Inter", "Cantarell", "Noto Sans", "DejaVu Sans", "sans-serif")
MONO_FAMILIES = ("JetBrains Mono", "DejaVu Sans Mono", "monospace")
WIDTH = 720
RADIUS = 14
# The space around the panel for its shadow, where the screen is composited.
SHADOW = 28
# The top edge of the window as a share of the screen's height.
TOP = 0.16
_LONG_WORD = re.compile(r"(\S{30})(?=\S)")


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours as #rrggbb. Text colours have a contrast of at least 4.5:1 on `bg` and `panel`."""

    name: str
    bg: str
    panel: str
    field: str
    line: str
    text: str
    dim: str
    accent: str
    on_accent: str
    ok: str
    warn: str
    err: str
    shadow: int


DARK = Palette(
    name="dark",
    bg="#1d1f24",
    panel="#25282f",
    field="#1d1f24",
    line="#33373f",
    text="#eceef2",
    dim="#9aa1ad",
    accent="#7aa2ff",
    on_accent="#10131a",
    ok="#5fd38d",
    warn="#f2b84b",
    err="#ff7a7a",
    shadow=110,
)
LIGHT = Palette(
    name="light",
    bg="#fbfbfd",
    panel="#f1f2f6",
    field="#ffffff",
    line="#dcdfe6",
    text="#1b1d22",
    dim="#656c78",
    accent="#2f62e0",
    on_accent="#ffffff",
    ok="#157347",
    warn="#8f5a00",
    err="#c62828",
    shadow=60,
)


def style_sheet(p: Palette) -> str:
    """The style sheet of the whole window."""
    families = ", ".join(f'"{name}"' for name in FAMILIES)
    mono = ", ".join(f'"{name}"' for name in MONO_FAMILIES)
    return f"""
    * {{ font-family: {families}; font-size: 14px; color: {p.text}; }}
    QToolTip {{ background: {p.panel}; border: 1px solid {p.line}; padding: 4px; }}
    #prompt {{ background: transparent; border: none; font-size: 20px; selection-background-color: {p.accent};
        selection-color: {p.on_accent}; placeholder-text-color: {p.dim}; }}
    #spark {{ color: {p.accent}; font-size: 22px; }}
    #badge {{ background: {p.panel}; border-radius: 10px; padding: 8px 13px; font-size: 12px; font-weight: 500; }}
    #rule {{ background: {p.line}; }}
    QPushButton#hints {{ background: transparent; border: none; padding: 0; min-height: 0; color: {p.dim};
        font-size: 12px; font-weight: 400; }}
    QPushButton#hints:hover {{ color: {p.text}; }}
    #meta, #detail {{ color: {p.dim}; font-size: 12px; }}
    #note {{ font-size: 13px; }}
    #heading {{ color: {p.dim}; font-size: 12px; font-weight: 600; }}
    #row[active="true"] {{ font-weight: 600; }}
    #row[pending="true"] {{ color: {p.dim}; }}
    #card {{ background: {p.panel}; border: 1px solid {p.line}; border-radius: 10px; }}
    #card[urgent="true"] {{ border-color: {p.warn}; }}
    #card:focus {{ border-color: {p.accent}; }}
    #question {{ font-weight: 600; }}
    #arguments {{ background: {p.field}; border: 1px solid {p.line}; border-radius: 6px; padding: 8px 10px;
        font-family: {mono}; font-size: 12px; }}
    #entry {{ background: {p.field}; border: 1px solid {p.line}; border-radius: 6px; padding: 8px 12px;
        selection-background-color: {p.accent}; selection-color: {p.on_accent};
        placeholder-text-color: {p.dim}; }}
    #entry:focus {{ border-color: {p.accent}; }}
    QPushButton {{ background: {p.field}; border: 1px solid {p.line}; border-radius: 7px; padding: 7px 16px;
        font-weight: 500; min-height: 16px; }}
    QPushButton:hover {{ border-color: {p.dim}; }}
    QPushButton:focus {{ border: 2px solid {p.accent}; padding: 6px 15px; outline: none; }}
    QPushButton[main="true"] {{ background: {p.accent}; border-color: {p.accent}; color: {p.on_accent};
        font-weight: 600; }}
    QPushButton[main="true"]:focus {{ border: 2px solid {p.text}; }}
    QPushButton[wide="true"] {{ text-align: left; }}
    QPushButton:disabled {{ color: {p.dim}; background: transparent; border-color: {p.line}; }}
    #answer, #body, #keys, #history {{ background: transparent; border: none; }}
    #history::item {{ border-radius: 8px; }}
    #history::item:selected {{ background: {p.panel}; }}
    QScrollBar:vertical {{ background: transparent; width: 8px; margin: 2px; }}
    QScrollBar::handle:vertical {{ background: {p.line}; border-radius: 2px; min-height: 24px; }}
    QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page {{
        background: none; height: 0; }}
    """


def document_style(p: Palette) -> str:
    """The style sheet of the answer's text, in the subset of CSS that Qt's rich text has."""
    return f"a {{ color: {p.accent}; text-decoration: none; }} body {{ color: {p.text}; }}"


def font_of(pixels: int, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """The font of the style sheet, for texts that are measured or drawn without it."""
    font = QFont(list(FAMILIES))
    font.setPixelSize(pixels)
    font.setWeight(weight)
    return font


def wrapped(text: str, font: QFont, width: int, most_lines: int) -> str:
    """The text on lines of at most this width; an ellipsis marks the cut if there would be more lines than `most_lines`."""
    layout = QTextLayout(text, font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    units = text.encode("utf-16-le")  # Qt counts two bytes as one character
    lines: list[str] = []
    layout.beginLayout()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        rest = units[2 * line.textStart() :]
        if len(lines) == most_lines - 1:
            left = rest.decode("utf-16-le")
            lines.append(QFontMetrics(font).elidedText(left, Qt.TextElideMode.ElideRight, width))
            break
        lines.append(rest[: 2 * line.textLength()].decode("utf-16-le").rstrip())
    layout.endLayout()
    return "\n".join(lines)


def breakable(text: str) -> str:
    """The text with places inside of long words, such as paths, at which a label may begin a new line."""
    return _LONG_WORD.sub("\\1\u200b", text)


def tooltip(text: str) -> str:
    """The text for a tooltip, as it is: Qt would interpret markup in it."""
    return f"<qt>{escape(breakable(text))}</qt>".replace("\n", "<br>")


def named(widget: T, name: str) -> T:
    """The widget with the name by which the style sheet selects it."""
    widget.setObjectName(name)
    return widget
