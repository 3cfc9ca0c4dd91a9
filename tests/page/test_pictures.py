"""The pictures of the page in docs/pictures."""

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtGui", reason="Qt is not installed here", exc_type=ImportError)

from PySide6.QtGui import QImage

from tests.support.browser import listening, page_server
from tests.support.compared_pictures import check_picture
from tests.support.page_pictures import FOLDER, NOW, SCHEMES, show, states, taken
from tests.support.page_states import StatesClient

# The badge with the state of a run is 0.08 % of the smallest picture that has one.
MOST_SHARE = 0.0005
DEADLINE_SECONDS = 10.0

Servers = tuple[StatesClient, Any, Any]


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    """The client of the first server, that server, and one without a daemon."""
    client = StatesClient(now=lambda: NOW)
    with (
        listening() as daemon,
        page_server(daemon, client) as up,
        page_server("/nonexistent/aeond.sock", StatesClient(up=False)) as down,
    ):
        yield client, up, down


@pytest.mark.parametrize("name", states())
def test_the_pictures_show_the_page_as_it_is(browser: Any, servers: Servers, name: str) -> None:
    """The pictures of the documentation are what the page shows now; if not, `make pictures` takes them again."""
    client, up, down = servers
    link = (down if name == "offline" else up).new_link()
    page = show(browser, name, scheme=SCHEMES[0], scale=1, client=client, link=link)
    try:
        for scheme in SCHEMES:
            file = f"page-{name}-{scheme}"
            expected = QImage(str(FOLDER / f"{file}.png"))
            check_picture(
                file, partial(taken, page, name, scheme), expected, DEADLINE_SECONDS, most=MOST_SHARE
            )
    finally:
        page.context.close()
