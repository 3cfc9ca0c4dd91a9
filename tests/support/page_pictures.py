"""Draws the states of the web page into docs/pictures: `python -m tests.support.page_pictures [FOLDER [STATE...]]`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QImage

from tests.support.browser import chromium
from tests.support.page_shows import DRAWN, SCHEMES, Scheme, servers, show, states
from tests.support.popup_pictures import fewer_colours
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["FOLDER", "main", "states", "taken"]

FOLDER = ROOT / "docs" / "pictures"
_PARTLY = {"small", "history", "long-answer"}


def taken(page: "Page", name: str, scheme: Scheme) -> QImage:
    """A picture of the page that shows the state: of all of it, or of the screen where that is what the state is about."""
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    if name not in _PARTLY:
        _grow(page)
    return QImage.fromData(page.screenshot()).convertToFormat(QImage.Format.Format_RGB32)


def _grow(page: "Page") -> None:
    """Makes the window as high as the page, so that all of it is in the picture. A picture of more than the window would
    have in its middle what sticks to the window's edge.
    """
    for _ in range(20):  # parts of the page are as high as the window allows
        height = int(page.evaluate("document.documentElement.scrollHeight"))
        assert page.viewport_size is not None
        if height == page.viewport_size["height"]:
            break
        page.set_viewport_size({"width": page.viewport_size["width"], "height": height})
        page.evaluate(DRAWN)
    page.evaluate("scrollTo(0, 0)")


def main(folder: Path, *names: str) -> None:
    folder.mkdir(exist_ok=True)
    with chromium() as browser, servers() as using:
        for name in names or states():
            for scheme in SCHEMES:
                for scale in (1, 2):
                    page = show(browser, name, scheme=scheme, scale=scale, using=using)
                    image = fewer_colours(taken(page, name, scheme))
                    page.context.close()
                    suffix = "" if scale == 1 else "@2x"
                    image.save(str(folder / f"page-{name}-{scheme}{suffix}.png"), quality=0)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER, *sys.argv[2:])
