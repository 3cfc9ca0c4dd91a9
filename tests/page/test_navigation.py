"""Several tabs, and calls that end after the user has gone to another run."""

from typing import Any

import pytest

from aeon_web.access import Access
from tests.page.conftest import Tab
from tests.support.page_acts import armed, show
from tests.support.page_states import StatesClient


@pytest.fixture
def page(pictured: Access, tab: Tab) -> Any:
    """The page with the states of the fixture `states`."""
    page = tab(pictured.new_link())
    page.get_by_text("aeond 0.1.0").wait_for()
    return page


def test_a_second_tab_leaves_the_first_usable(page: Any, pictured: Access, states: StatesClient) -> None:
    """After another tab of the same browser was opened with a link of its own, both tabs answer questions."""
    second = page.context.new_page()
    second.goto(pictured.new_link())
    second.get_by_text("aeond 0.1.0").wait_for()
    for one, words in ((page, "in the first"), (second, "in the second")):
        one.bring_to_front()
        show(one, "question")
        armed(one)
        one.keyboard.type(words)
        one.keyboard.press("Enter")
        one.locator(".card").wait_for(state="detached")
    assert [given["answer"] for name, given in states.calls if name == "answer_run"] == [
        "in the first",
        "in the second",
    ]
