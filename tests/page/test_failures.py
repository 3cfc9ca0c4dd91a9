"""What the page keeps and shows when a call fails, when a run was cut short, and when lists are long."""

from typing import Any

import pytest

from aeon_web.access import Access
from aeond_client.events import (
    CancelRequested,
    ChildRunStarted,
    EventKind,
    InputRequested,
    PlanAdopted,
    RunCreated,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
)
from aeond_client.records.judgements import Question
from aeond_client.records.runs import Plan, RunState, RunSummary, StepState
from aeond_client.records.tools import RecordedEffect
from tests.page.conftest import Tab
from tests.support.page_acts import armed, badge, breakable, cut_off, show, until
from tests.support.page_runs import LONG, LONG_STEPS, runs
from tests.support.page_states import StatesClient

CHANGE = RecordedEffect("file.changed", "report.md")


@pytest.fixture
def page(pictured: Access, tab: Tab) -> Any:
    """The page on a narrow screen, with the states of the fixture `states`."""
    page = tab(pictured.new_link(), viewport={"width": 360, "height": 640})
    page.get_by_text("aeond 0.1.0").wait_for()
    return page


def in_view(page: Any, words: str) -> bool:
    """Whether these words, once they are there, are inside the window."""
    at = page.get_by_text(words)
    at.wait_for()
    inside = (
        "(one) => { const at = one.getBoundingClientRect(); return at.top >= 0 && at.bottom <= innerHeight; }"
    )
    return bool(at.evaluate(inside))


@pytest.mark.parametrize(
    ("call", "asked", "key"),
    [
        ("answer_run", InputRequested(Question("s1.1", "s1", "Which?", options=("a", "b"))), "Alt+1"),
        ("decide_approval", runs()["approval"][-1], "Control+Enter"),
    ],
)
def test_a_failed_act_is_reported_in_view_and_can_be_repeated(
    page: Any, states: StatesClient, call: str, asked: Any, key: str
) -> None:
    """Below a long plan the reason of a failed answer or approval is visible, and the card accepts the key again."""
    states.kinds = {"root": [*LONG, asked]}
    states.failing = {call}
    show(page, "root")
    armed(page)
    page.keyboard.press(key)
    assert in_view(page, f"{call} failed.")
    page.locator(".card button:focus").wait_for()
    states.failing = set()
    page.keyboard.press(key)
    page.locator(".card").wait_for(state="detached")


def test_failures_of_a_decision_and_of_undo_are_reported(page: Any, states: StatesClient) -> None:
    """The reasons why an interrupted step could not be decided and why changes could not be undone are visible."""
    states.failing = {"decide_run", "undo_run"}
    show(page, "decision")
    armed(page)
    page.get_by_role("button", name="It is done").press("Enter")
    assert in_view(page, "decide_run failed.")
    show(page, "done")
    badge(page, "Done")
    page.get_by_role("button", name="Undo the changes").press("Enter")
    assert in_view(page, "undo_run failed.")


def test_a_history_that_cannot_be_read_is_not_shown_as_empty(page: Any, states: StatesClient) -> None:
    """A failed list says so, keeps the rows that were there, and says nothing more once it was read."""
    states.failing = {"list_runs"}
    page.reload()
    page.get_by_text("aeond 0.1.0").wait_for()
    page.keyboard.press("Control+h")
    page.get_by_text("Not up to date: list_runs failed.").wait_for()
    assert page.get_by_text("Nothing yet").count() == 0
    states.failing = set()
    page.keyboard.press("Control+h")
    page.keyboard.press("Control+h")
    page.locator(".rows button").first.wait_for()
    assert page.get_by_text("Not up to date").count() == 0


def test_the_history_of_many_child_runs_lists_their_roots(page: Any, states: StatesClient) -> None:
    """Runs that were requested are listed, also behind several hundred newer child runs."""
    children = [
        RunSummary(f"child-{n}", RunState.SUCCEEDED, "a part", 1.0, 1.0, 9, parent_run_id="root")
        for n in range(450)
    ]
    root = RunSummary("root", RunState.SUCCEEDED, "a tree of runs", 1.0, 1.0, 9)
    states.listed = lambda _: (*children, root)
    page.keyboard.press("Control+h")
    page.locator(".rows button").get_by_text("a tree of runs").wait_for()
    assert page.locator(".rows button").count() == 1


@pytest.mark.parametrize(("state", "words"), [(RunState.CANCELLED, "Cancelled"), (RunState.FAILED, "Failed")])
def test_changes_of_a_run_that_was_cut_short_can_be_undone(
    page: Any, states: StatesClient, state: RunState, words: str
) -> None:
    """A cancelled or failed run lists what its steps and those of its child runs changed, and offers to undo it."""
    begun: list[EventKind] = [RunCreated("a part"), RunStarted(), PlanAdopted(Plan("", LONG_STEPS[:1]))]
    done = StepEnded("s1", StepState.SUCCEEDED, effects=(CHANGE,))
    cut = (CancelRequested(), RunEnded(RunState.CANCELLED))
    states.kinds = {
        "root": [
            *LONG,
            StepEnded("s1", StepState.SUCCEEDED, effects=(RecordedEffect("file.changed", "own.md"),)),
            StepStarted(LONG_STEPS[1]),
            ChildRunStarted("s2", "child", "work"),
            *[("child", kind) for kind in (*begun, StepStarted(LONG_STEPS[0]), done, *cut)],
            RunEnded(state),
        ]
    }
    show(page, "root")
    badge(page, words)
    listed = page.locator(".changes li").all_text_contents()
    assert [text.split(" · ")[0] for text in listed] == ["changed: own.md", "changed: report.md"]
    page.get_by_role("button", name="Undo the changes").press("Enter")
    page.get_by_text("changes undone").wait_for()


def test_each_run_keeps_its_own_draft(page: Any, states: StatesClient) -> None:
    """What is typed below one run is neither below another nor in a new request, and is there again later, also after
    a reload.
    """
    field = page.locator("#prompt")
    show(page, "done")
    page.get_by_label("Follow-up request").fill("for the first\nin two lines")
    until(page, "() => document.getElementById('prompt').getBoundingClientRect().height > 45")
    show(page, "cancelled")
    badge(page, "Cancelled")
    assert field.input_value() == ""
    field.fill("for the second")
    page.keyboard.press("Alt+n")
    page.get_by_label("Request", exact=True).wait_for()
    assert field.input_value() == ""
    page.reload()
    page.get_by_text("aeond 0.1.0").wait_for()
    show(page, "done")
    page.get_by_label("Follow-up request").wait_for()
    assert field.input_value() == "for the first\nin two lines"


def test_a_request_that_was_not_sent_keeps_its_id_over_a_reload(page: Any, states: StatesClient) -> None:
    """A request that is sent again after a failure and a reload has the same request id; the same text below another
    run has another one.
    """
    for place, words in (("done", "Done"), ("done", "Done"), ("expired", "Stopped at a limit")):
        show(page, place)
        page.reload()
        badge(page, words)
        field = page.get_by_label("Follow-up request")
        if not field.input_value():
            field.fill("again")
        field.press("Enter")
        page.get_by_text("Not sent").wait_for()
    ids = [given["request_id"] for name, given in states.calls if name == "create_run"]
    assert ids[0] == ids[1] != ids[2]


def test_a_request_below_a_run_without_conversation_is_called_new(page: Any, states: StatesClient) -> None:
    """Below a run that belongs to no conversation the page offers a new request, and says that it has no context."""
    states.kinds = {"root": [RunCreated("alone"), RunStarted(), RunEnded(RunState.FAILED)]}
    show(page, "root")
    page.get_by_label("New request").wait_for()
    page.get_by_text("knows nothing of this run").wait_for()
    assert page.get_by_label("Follow-up request").count() == 0


def test_a_run_that_does_not_exist_is_explained(page: Any) -> None:
    """A run that the daemon does not have is named with the reason, and cannot be stopped: the reason stays."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    show(page, "elsewhere")
    badge(page, "Not available")
    page.keyboard.press("Control+.")
    page.get_by_text("Run 'elsewhere' does not exist: list the runs").wait_for()
    assert page.get_by_role("button", name="Stop").count() == 0
    page.get_by_role("heading", name="Run here").wait_for()
    assert "stream" in asked
    assert "cancel_run" not in asked


def test_the_first_event_of_a_run_that_was_not_available_shows_it(
    pictured: Access, tab: Tab, states: StatesClient
) -> None:
    """When the events of a run that was not available arrive after all, the run takes the place of the reason."""
    page = breakable(tab, pictured.new_link())
    page.get_by_text("aeond 0.1.0").wait_for()
    show(page, "late")
    page.get_by_text("Run 'late' does not exist").wait_for()
    states.kinds = {"late": LONG}
    cut_off(page)
    badge(page, "Running")
    page.get_by_role("button", name="Stop").wait_for()
    assert page.get_by_text("does not exist").count() == 0
