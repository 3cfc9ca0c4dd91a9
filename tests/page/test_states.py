"""Every state of the page: axe-core, its pictures in docs/pictures, and small screens."""

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from tests.support.browser import DEADLINE_SECONDS
from tests.support.page_shows import DRAWN, SCHEMES, Servers, show, states

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

# Rules of axe-core: WCAG 2.2 A and AA, contrast among them, and its own good practice.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Widths of small screens, the largest first.
WIDTHS = (700, 360, 320)
# The badge with the state of a run is 0.08 % of the smallest picture that has one.
MOST_SHARE = 0.0005


def violations(page: Any) -> list[str]:
    """Violations that axe-core, which the page has, finds in it as it is now. It describes and sends only these: descriptions of all
    that keeps the rules take longer than the rules themselves.
    """
    found = page.evaluate(
        "rules => axe.run(document, { runOnly: rules, resultTypes: ['violations'] }).then((found) => found.violations)",
        RULES,
    )
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}" for rule in found for node in rule["nodes"]
    ]


@pytest.fixture(scope="module", params=states())
def name(request: pytest.FixtureRequest) -> str:
    """Each state, one after the other."""
    return str(request.param)


@pytest.fixture(scope="module")
def shown(name: str, browser: Any, using: Servers) -> Iterator[Any]:
    """A page in this state, for the tests in their order: they change its colours and then its size, and nothing else."""
    page = show(browser, name, scheme=SCHEMES[0], scale=1, using=using)
    yield page
    page.context.close()


def test_every_state_is_accessible(shown: Any, axe: str) -> None:
    """No state violates a rule of WCAG 2.2 AA, in either colour scheme: names, roles, order and contrast."""
    shown.evaluate(axe)
    for scheme in SCHEMES:
        shown.emulate_media(color_scheme=scheme)
        assert violations(shown) == []


def test_the_pictures_show_the_page_as_it_is(shown: Any, name: str) -> None:
    """The pictures of the documentation are what the page shows now; if not, `make pictures` takes them again."""
    gui = pytest.importorskip("PySide6.QtGui", reason="Qt is not installed here", exc_type=ImportError)
    from tests.support.compared_pictures import check_picture
    from tests.support.page_pictures import FOLDER, taken

    for scheme in SCHEMES:
        file = f"page-{name}-{scheme}"
        expected = gui.QImage(str(FOLDER / f"{file}.png"))
        check_picture(file, partial(taken, shown, name, scheme), expected, DEADLINE_SECONDS, most=MOST_SHARE)


def test_nothing_is_cut_off_on_small_screens(shown: Any) -> None:
    """On small screens no state scrolls sideways, and every button lies within the screen."""
    outside = "all => all.filter((one) => one.getBoundingClientRect().right > innerWidth).length"
    for width in WIDTHS:
        shown.set_viewport_size({"width": width, "height": 640})
        shown.evaluate(DRAWN)
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert shown.locator("button:visible").evaluate_all(outside) == 0
