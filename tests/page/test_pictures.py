"""The pictures of the page in docs/pictures."""

import os
from functools import partial
from typing import Any

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtGui", reason="Qt is not installed here", exc_type=ImportError)

from PySide6.QtGui import QImage

from tests.support.browser import DEADLINE_SECONDS
from tests.support.compared_pictures import check_picture
from tests.support.page_pictures import FOLDER, SCHEMES, taken
from tests.support.page_shows import Servers, show, states

# The badge with the state of a run is 0.08 % of the smallest picture that has one.
MOST_SHARE = 0.0005


@pytest.mark.parametrize("name", states())
def test_the_pictures_show_the_page_as_it_is(browser: Any, using: Servers, name: str) -> None:
    """The pictures of the documentation are what the page shows now; if not, `make pictures` takes them again."""
    page = show(browser, name, scheme=SCHEMES[0], scale=1, using=using)
    try:
        for scheme in SCHEMES:
            file = f"page-{name}-{scheme}"
            expected = QImage(str(FOLDER / f"{file}.png"))
            check_picture(
                file, partial(taken, page, name, scheme), expected, DEADLINE_SECONDS, most=MOST_SHARE
            )
    finally:
        page.context.close()
