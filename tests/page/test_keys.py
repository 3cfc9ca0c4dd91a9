"""Every key of the page's help, each in a use that shows what it does."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from aeond_client import Client, RunOptions
from aeond_client.events import ApprovalDecided
from aeond_client.records.runs import Plan, PlanStep, RunState
from tests.support.ledgers import Gate
from tests.support.page_acts import AFTER, BEFORE, REPORT, armed, ask, badge, overwriting, run_of, show
from tests.support.popup_script import GATE
from tests.support.repository import ROOT
from tests.support.stages import Stage

# Longer than the page lets pass between two requests for its history.
HISTORY_MS = 11_000
NAMES = {"Ctrl": "Control", "↑": "ArrowUp", "↓": "ArrowDown"}


@dataclass
class User:
    """A user at the page. `pressed` are the keys of the help that were pressed, as the help writes them."""

    page: Any
    stage: Stage
    gate: Gate
    pressed: set[str] = field(default_factory=set)

    def press(self, keys: str) -> None:
        self.pressed.add(keys)
        self.page.keyboard.press("+".join(NAMES.get(key, key) for key in keys.split("+")))

    def is_asked(self, options: RunOptions) -> str:
        """Shows a new run that waits for this user, and returns its id when keys count."""
        with Client(self.stage.socket) as client:
            run_id = client.create_run("a run that asks", options).run_id
        show(self.page, run_id)
        armed(self.page)
        return run_id


def _send(user: User) -> None:
    user.page.keyboard.type("one")
    user.press("Shift+Enter")
    user.page.keyboard.type("two")
    assert user.page.get_by_label("Request", exact=True).input_value() == "one\ntwo"
    user.press("Enter")
    user.page.get_by_text("All done.").wait_for()
    with Client(user.stage.socket) as client:
        assert client.get_run(run_of(user.page)).text == "one\ntwo"


def _new_conversation(user: User) -> None:
    ask(user.page, "the first of its conversation")
    user.page.get_by_text("All done.").wait_for()
    user.press("Alt+N")
    user.page.get_by_label("Request", exact=True).and_(user.page.locator(":focus")).wait_for()
    assert user.page.evaluate("location.hash") == ""


def _history(user: User) -> None:
    history = user.page.get_by_role("complementary", name="History")
    history.wait_for()  # open on a wide screen
    user.press("Ctrl+H")
    history.wait_for(state="detached")
    user.press("Ctrl+H")
    user.page.locator("#filter:focus").wait_for()


def _journal(user: User) -> None:
    ask(user.page, "keep a journal")
    user.page.get_by_text("All done.").wait_for()
    user.press("Ctrl+J")
    user.page.locator(".events").wait_for()
    user.press("Ctrl+J")
    user.page.locator(".events").wait_for(state="detached")


def _stop(user: User) -> None:
    ask(user.page, GATE)
    user.gate.held()
    with user.page.expect_response("**/cancel_run"):
        user.press("Ctrl+.")
        user.page.get_by_text("Stopping…").first.wait_for()
    user.gate.open()
    badge(user.page, "Cancelled")


def _options(user: User) -> None:
    question = {"prompt": "Which number?", "options": [str(number) for number in range(1, 10)]}
    steps = (
        PlanStep("s1", "", "request_user_input", question),
        PlanStep("s2", "", "request_user_input", question, depends_on=("s1",)),
    )
    run_id = user.is_asked(RunOptions(plan=Plan("", steps)))
    first = user.page.locator("[data-armed]").get_attribute("data-armed")
    user.press("Alt+1")
    user.page.locator(f"[data-armed]:not([data-armed='{first}'])").wait_for()
    user.press("Alt+9")
    badge(user.page, "Done")
    with Client(user.stage.socket) as client:
        assert [step.output for step in client.get_run(run_id).steps] == ["1", "9"]


def _allow(user: User, keys: str, scope: str) -> None:
    run_id = user.is_asked(overwriting(user.stage.workspace))
    user.press(keys)
    badge(user.page, "Done")
    assert (user.stage.workspace / REPORT).read_text() == AFTER
    with Client(user.stage.socket) as client, client.watch(run_id) as events:
        decided = [event.kind for event in events if isinstance(event.kind, ApprovalDecided)]
    assert [(one.approved, one.scope) for one in decided] == [(True, scope)]


def _allow_once(user: User) -> None:
    _allow(user, "Ctrl+Enter", "once")


def _allow_for_this_run(user: User) -> None:
    _allow(user, "Ctrl+Shift+Enter", "run")


def _deny(user: User) -> None:
    user.is_asked(overwriting(user.stage.workspace))
    user.press("Ctrl+Backspace")
    badge(user.page, "Failed")
    assert (user.stage.workspace / REPORT).read_text() == BEFORE


def _try_again(user: User) -> None:
    _deny(user)
    failed = run_of(user.page)
    user.press("Ctrl+Alt+R")
    user.page.get_by_text("All done.").wait_for()
    badge(user.page, "Done")  # the answer is shown while it is written, before the run has ended
    with Client(user.stage.socket) as client:
        first, second = client.get_run(failed), client.get_run(run_of(user.page))
    assert (first.state, second.state) == (RunState.FAILED, RunState.SUCCEEDED)
    assert (first.text, first.run_id) == (second.text, failed) != (second.text, second.run_id)


def _move(user: User) -> None:
    user.page.clock.install()
    user.page.reload()
    user.page.get_by_text("aeond ").wait_for()
    with Client(user.stage.socket) as client:
        for number in (1, 2):
            client.run(f"number {number} to move to")
    user.page.clock.fast_forward(HISTORY_MS)  # the page asks for runs of other clients at intervals
    focused = user.page.locator(".rows button:focus")
    user.page.locator("#filter").fill("to move to")
    user.page.locator(".rows button").nth(1).get_by_text("number 1 to move to").wait_for()
    user.page.locator(".rows button").nth(2).wait_for(state="detached")  # the list is the filtered one
    user.page.locator(".rows button").first.focus()
    user.press("↓")
    focused.get_by_text("number 1 to move to").wait_for()
    user.press("↑")
    focused.get_by_text("number 2 to move to").wait_for()


def _these_keys(user: User) -> None:
    user.press("F1")
    user.page.get_by_role("dialog", name="Keys").wait_for()
    user.press("F1")
    user.page.get_by_role("dialog", name="Keys").wait_for(state="hidden")


# An entry of the help, and a use of each of its keys.
USES: dict[str, Callable[[User], None]] = {
    "Enter, Shift+Enter": _send,
    "Alt+N": _new_conversation,
    "Ctrl+H": _history,
    "Ctrl+J": _journal,
    "Ctrl+.": _stop,
    "Alt+1 to Alt+9": _options,
    "Ctrl+Enter": _allow_once,
    "Ctrl+Shift+Enter": _allow_for_this_run,
    "Ctrl+Backspace": _deny,
    "Ctrl+Alt+R": _try_again,
    "↑ ↓": _move,
    "F1": _these_keys,
}


@pytest.fixture
def user(page: Any, stage: Stage, gate: Gate) -> User:
    return User(page, stage, gate)


def keys_of(entries: list[str]) -> set[str]:
    return {key for entry in entries for key in re.split(r", | to | ", entry)}


@pytest.mark.parametrize("entry", USES)
def test_a_key_does_what_the_help_says(entry: str, user: User) -> None:
    """Each key of the help does what the help says of it."""
    USES[entry](user)
    assert keys_of([entry]) <= user.pressed


def test_help_and_documentation_list_these_keys(user: User) -> None:
    """F1 shows the keys that docs/web-page.md lists, and no others."""
    user.press("F1")
    listed = user.page.locator("dialog dt").all_text_contents()
    assert listed == list(USES)
    table = (ROOT / "docs" / "web-page.md").read_text(encoding="utf-8").split("## Keys")[1].split("\n## ")[0]
    rows = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")][2:]
    assert keys_of(rows) == keys_of(listed)


def test_keys_of_an_approval_are_those_of_the_text_while_writing(user: User) -> None:
    """In a field with text Ctrl+Backspace deletes a word and Ctrl+Enter does nothing: neither decides an approval."""
    run_id = user.is_asked(overwriting(user.stage.workspace))
    user.page.get_by_label("Filter the history").fill("two words")
    user.press("Ctrl+Enter")
    user.press("Ctrl+Backspace")
    assert user.page.get_by_label("Filter the history").input_value() == "two "
    user.page.locator("[data-act=deny]:enabled").focus()
    with Client(user.stage.socket) as client:
        assert len(client.get_run(run_id).approvals) == 1
    user.press("Ctrl+Backspace")
    badge(user.page, "Failed")
