"""The page with the real daemon and a scripted model: everything is done with the keyboard."""

import signal
from typing import Any

import pytest

from aeon_web.access import Access
from aeond_client import Client, RunOptions
from aeond_client.records.runs import Plan, PlanStep, RunState
from tests.page.conftest import Tab, opened
from tests.support.browser import DEADLINE_SECONDS
from tests.support.daemon_process import DaemonProcess
from tests.support.ledgers import Gate, chain, deed
from tests.support.page_acts import (
    AFTER,
    BEFORE,
    REPORT,
    armed,
    ask,
    badge,
    breakable,
    cut_off,
    go_on,
    held,
    holdable,
    numbers,
    overwriting,
    run_of,
    show,
)
from tests.support.popup_script import ANSWER, FOLLOW_UP, GATE, NOTE, NOTED, QUESTION, asking
from tests.support.stages import Stage


def test_a_request_is_followed_to_its_answer(page: Any, gate: Gate) -> None:
    """A typed request shows its step while that runs, and then the answer, without a pointer."""
    ask(page, GATE)
    gate.held()
    page.locator(".step.running").wait_for()
    gate.open()
    page.get_by_text(ANSWER).wait_for()
    badge(page, "Done")


def test_the_plan_is_drawn_and_changes_with_each_event(page: Any, stage: Stage, gate: Gate) -> None:
    """A plan of three steps is a picture of three boxes and two edges, whose marks follow the steps."""
    steps = (deed("s1", "put", gate=gate), deed("s2", "put"), deed("s3", "put", "s1", "s2"))
    with Client(stage.socket) as client:
        run = client.create_run("a picture", RunOptions(plan=Plan("", steps)))
    show(page, run.run_id)
    page.locator('svg.graph .box.running[data-step="s1"]').wait_for()  # the other one may run, too
    assert (page.locator("svg.graph .box").count(), page.locator("svg.graph .edge").count()) == (3, 2)
    gate.open()
    page.locator("svg.graph .box.succeeded").nth(2).wait_for()
    assert page.locator("svg.graph").get_attribute("aria-label") == "The plan: 3 of 3 steps have ended"


def test_stop_cancels_the_run(page: Any, stage: Stage, gate: Gate) -> None:
    """The key for stopping cancels the run that is shown."""
    ask(page, GATE)
    gate.held()
    with page.expect_response("**/cancel_run"):
        page.keyboard.press("Control+.")
        page.get_by_text("Stopping…").first.wait_for()
    gate.open()
    badge(page, "Cancelled")
    with Client(stage.socket) as client:
        assert client.get_run(run_of(page)).state is RunState.CANCELLED


def test_stop_counts_while_the_request_is_being_sent(page: Any, stage: Stage, gate: Gate) -> None:
    """The key for stopping, pressed before the page knows the run, cancels the run once it is there."""

    def stop_first(route: Any) -> None:
        reply = route.fetch()
        gate.held()  # else the run may be cancelled before it has anything to stop
        page.keyboard.press("Control+.")
        route.fulfill(response=reply)

    page.route("**/create_run", stop_first)
    with page.expect_response("**/cancel_run"):
        ask(page, GATE)
        page.get_by_text("Stopping…").first.wait_for()
    gate.open()
    badge(page, "Cancelled")
    with Client(stage.socket) as client:
        assert client.get_run(run_of(page)).state is RunState.CANCELLED


def test_a_cancelled_run_has_no_step_at_work(page: Any, stage: Stage, gate: Gate) -> None:
    """Steps that had not run, or waited for an answer, are skipped, as in the daemon's record."""
    with Client(stage.socket) as client:
        run_id = client.create_run(QUESTION, RunOptions(plan=asking(gate))).run_id
        gate.open()
        show(page, run_id)
        badge(page, "Needs your answer")
        client.cancel_run(run_id)
        badge(page, "Cancelled")
        states = [str(step.state) for step in client.get_run(run_id).steps]
    assert "skipped" in states
    shown = page.locator("ol.steps > li.step").evaluate_all("steps => steps.map((one) => one.className)")
    assert shown == [f"step {state}" for state in states]


def test_a_question_is_answered_by_a_key(page: Any, stage: Stage, gate: Gate) -> None:
    """Alt+2 answers a question with its second option, and the run continues to its end."""
    with Client(stage.socket) as client:
        run_id = client.create_run(QUESTION, RunOptions(plan=asking(gate))).run_id
        gate.open()
        show(page, run_id)
        badge(page, "Needs your answer")
        armed(page)
        page.keyboard.press("Alt+2")
        badge(page, "Done")
        assert client.get_run(run_id).steps[1].output == "blue"


def test_an_approval_shows_the_diff_and_enter_does_not_allow(served: Access, tab: Tab, stage: Stage) -> None:
    """The change of a file is shown before it is made; keys that come at once and a plain Enter on Allow do nothing."""
    page = holdable(tab, served.new_link())
    page.get_by_text("aeond ").wait_for()
    held(page)
    with Client(stage.socket) as client:
        run_id = client.create_run("overwrite", overwriting(stage.workspace)).run_id
        show(page, run_id)
        page.locator("[data-act=deny]:focus").wait_for()
        assert page.locator(".card h3").text_content() == f"Change {stage.workspace / REPORT}?"
        assert page.locator(".card .reason").text_content() == "Why this is asked: the test asks"
        page.keyboard.press("Control+Enter")  # too early
        assert page.locator(".diff .removed").last.text_content() == f"-{BEFORE}"
        assert page.locator(".diff .added").last.text_content() == f"+{AFTER}"
        go_on(page)
        page.locator("[data-act=allow][data-scope=once]").focus()
        page.keyboard.press("Enter")
        assert len(client.get_run(run_id).approvals) == 1
        page.keyboard.press("Control+Enter")
        badge(page, "Done")
    assert (stage.workspace / REPORT).read_text() == AFTER


def test_a_refused_call_does_not_happen(page: Any, stage: Stage) -> None:
    """Enter on Deny, which has the focus, refuses the call, and the file stays as it was."""
    with Client(stage.socket) as client:
        show(page, client.create_run("overwrite", overwriting(stage.workspace)).run_id)
    page.locator("[data-act=deny]:focus").wait_for()
    armed(page)
    page.keyboard.press("Enter")
    badge(page, "Failed")
    assert (stage.workspace / REPORT).read_text() == BEFORE


def test_an_approval_does_not_take_the_focus_from_writing(page: Any, stage: Stage, gate: Gate) -> None:
    """An approval that appears while the user writes in a field leaves the focus there."""
    write = PlanStep("s2", "", "write_file", {"path": "b.txt", "content": "b"}, depends_on=("s1",))
    with Client(stage.socket) as client:
        plan = Plan("", (deed("s1", "put", gate=gate), write))
        show(page, client.create_run("writing", RunOptions(plan=plan)).run_id)
        gate.held()
        page.get_by_label("Filter the history").fill("some words")
        gate.open()
        badge(page, "Needs approval")
        page.locator("[data-act=deny]").wait_for()
        assert page.evaluate("document.activeElement.id") == "filter"


@pytest.mark.parametrize(
    ("button", "end", "begun"),
    [
        ("Run it again", "Done", {"s1": 2, "s2": 1}),
        ("It is done", "Done", {"s1": 1, "s2": 1}),
        ("It failed", "Failed", {"s1": 1}),
    ],
)
def test_an_interrupted_step_is_decided_by_the_user(
    page: Any, stage: Stage, gate: Gate, button: str, end: str, begun: dict[str, int]
) -> None:
    """A step that was interrupted after it may have acted is shown as interrupted, and goes on as the user decides: it runs
    a second time only on request.
    """
    with Client(stage.socket) as client:
        plan = chain(deed("s1", "change", gate=gate), deed("s2", "pure"))
        run_id = client.create_run("a step that is cut", RunOptions(plan=plan)).run_id
    show(page, run_id)
    gate.held()
    stage.daemon.restart()
    badge(page, "Needs your decision")
    page.get_by_text("“change as s1” was interrupted when its effect may have happened.").wait_for()
    assert page.locator("ol.steps > li.step").first.get_attribute("class") == "step unknown"
    assert page.locator("ol.steps .row").first.text_content().startswith("change as s1: interrupted")
    assert page.locator("svg.graph .box").first.get_attribute("class") == "box unknown"
    armed(page)
    page.get_by_role("button", name=button).press("Enter")
    if begun["s1"] == 2:
        gate.open()
    badge(page, end)
    assert stage.ledger.begun(run_id) == begun


def test_changes_are_listed_and_undone(page: Any, stage: Stage) -> None:
    """The changes of a run are listed; Undo takes them back and says so."""
    ask(page, NOTE)
    page.get_by_text(NOTED).wait_for()
    page.get_by_text("remembered: colour").wait_for()
    with Client(stage.socket) as client:
        assert client.read_memory("colour") == "blue"
        page.get_by_role("button", name="Undo the changes").press("Enter")
        page.get_by_text("1 change undone").wait_for()
        assert client.search_memory("colour") == ()


def test_a_follow_up_belongs_to_the_conversation(page: Any, stage: Stage) -> None:
    """A follow-up is a run of the same session, and the conversation lists both requests."""
    ask(page, "the first request")
    page.get_by_text("All done.").wait_for()
    first = run_of(page)
    page.get_by_label("Follow-up request").focus()
    ask(page, FOLLOW_UP)
    page.get_by_role("navigation", name="Conversation").get_by_role("button").nth(1).wait_for()
    with Client(stage.socket) as client:
        assert client.get_run(first).session_id == client.get_run(run_of(page)).session_id != ""


def test_the_history_opens_an_earlier_run(page: Any, stage: Stage) -> None:
    """Ctrl+H lists the runs of all clients; the filter and the arrow keys lead to one, and Enter shows it."""
    with Client(stage.socket) as client:
        client.run("a run of another program")
    page.get_by_label("History").first.wait_for()  # open on a wide screen
    page.keyboard.press("Control+h")
    page.keyboard.press("Control+h")
    page.keyboard.type("another program")
    row = page.locator(".rows button")
    row.get_by_text("a run of another program").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="a run of another program").wait_for()


def test_the_journal_replays_and_forks(page: Any, stage: Stage) -> None:
    """The journal shows the state after any event, replays the record, and forks the run after the chosen event."""
    ask(page, "explore this")
    page.get_by_text("All done.").wait_for()
    badge(page, "Done")  # the answer is shown while it is written, before the last events
    first = run_of(page)
    with Client(stage.socket) as client:
        assert numbers(page) == list(range(1, client.get_run(first).last_seq + 1))
        page.locator("#position").press("Home")
        page.get_by_text("State after event 1 of").wait_for()
        page.get_by_role("button", name="Replay the record").press("Enter")
        page.get_by_text("identical to the record").wait_for()
        page.get_by_role("button", name="Fork after event 1").press("Enter")
        page.get_by_text(f"fork of {first[-4:]}").wait_for()
        badge(page, "Done")
        assert client.get_run(run_of(page)).text == "explore this"


def test_a_run_that_does_not_exist_is_reported(page: Any) -> None:
    """The address of a run that is not there shows the reason, and the page stays usable."""
    show(page, "01a20b65-0000-7000-8000-000000000000")
    badge(page, "Not available")
    page.keyboard.press("Alt+n")
    page.get_by_label("Request", exact=True).wait_for()


def test_no_event_is_lost_or_doubled_when_the_daemon_is_killed(
    page: Any, daemon: DaemonProcess, gate: Gate
) -> None:
    """After SIGKILL in the middle of a run the page says so, and then has each event exactly once."""
    ask(page, GATE)
    gate.held()
    daemon.kill()
    badge(page, "Daemon not running")
    daemon.start()
    gate.open()
    badge(page, "Done")
    with Client(str(daemon.socket)) as client:
        assert numbers(page) == list(range(1, client.get_run(run_of(page)).last_seq + 1))


def test_no_event_is_lost_or_doubled_when_the_page_is_cut_off(
    served: Access, tab: Tab, stage: Stage, gate: Gate
) -> None:
    """A page whose stream broke in the middle of a run, twice, resumes after the last event."""
    page = breakable(tab, served.new_link())
    page.get_by_text("aeond ").wait_for()
    ask(page, GATE)
    gate.held()
    page.locator(".step.running").wait_for()
    for _ in range(2):
        cut_off(page)
    gate.open()
    badge(page, "Done")
    with Client(stage.socket) as client:
        assert numbers(page) == list(range(1, client.get_run(run_of(page)).last_seq + 1))


def test_a_draft_is_kept_without_a_daemon_and_sent_once(page: Any, daemon: DaemonProcess) -> None:
    """A request sent without a daemon stays in the field, over a reload too; after a start, one run exists of it."""
    daemon.stop()
    badge(page, "Daemon not running")
    ask(page, "one and only")
    page.get_by_text("Not sent").wait_for()
    page.reload()
    badge(page, "Daemon not running")
    daemon.start()
    page.get_by_text("aeond ").wait_for()
    page.get_by_label("Request", exact=True).press("Enter")
    page.get_by_text("All done.").wait_for()
    with Client(str(daemon.socket)) as client:
        assert [run.text for run in client.list_runs()].count("one and only") == 1


def test_aeonctl_serves_the_page_until_ctrl_c(tab: Tab, stage: Stage) -> None:
    """`aeonctl open --json` prints the link, serves the page and ends with 0 on Ctrl-C; the page says that it ended."""
    with opened(stage.socket) as (program, link):
        page = tab(link)
        page.get_by_text("aeond ").wait_for()
        assert page.evaluate("location.href").endswith("/")
        program.send_signal(signal.SIGINT)
        assert program.wait(DEADLINE_SECONDS) == 0
        page.get_by_text("Run aeonctl open again").wait_for()
