"""Cards for questions, approvals and interrupted steps: which of them an act counts for."""

from dataclasses import replace
from typing import Any

import pytest

from aeon_web.access import Access
from aeond_client.events import (
    ApprovalRequested,
    ChildRunStarted,
    InputRequested,
    PlanAdopted,
    PolicyDecided,
    ReferencesResolved,
    RunCreated,
    RunStarted,
    RunSuspended,
    StepEnded,
    StepStarted,
)
from aeond_client.records.judgements import ApprovalRequest, CallPreview, Question
from aeond_client.records.runs import Plan, PlanStep, StepState
from aeond_client.records.tools import ToolCall
from tests.page.conftest import Tab
from tests.support.effect_cases import EFFECT_CASES
from tests.support.page_acts import armed, go_on, held, holdable, show, until
from tests.support.page_runs import LONG, Item
from tests.support.page_states import StatesClient

CHILDREN = ("first", "second")
WORK = PlanStep("s1", "Work", "work")


def below(asked: dict[str, Any]) -> list[Item]:
    """A run with two child runs, each of which asks for something under an id of its own step: the same in both."""
    steps = tuple(PlanStep(name, f"The {name}", "delegate") for name in CHILDREN)
    own: list[Item] = [RunCreated("two at once"), RunStarted(), PlanAdopted(Plan("", steps))]
    own += [StepStarted(step) for step in steps]
    own += [ChildRunStarted(name, name, "work") for name in CHILDREN]
    begun = (PlanAdopted(Plan("", (WORK,))), StepStarted(WORK))
    return own + [
        (name, kind) for name in CHILDREN for kind in (RunCreated(name), RunStarted(), *begun, asked[name])
    ]


def question(name: str) -> InputRequested:
    return InputRequested(Question("s1.1", "s1", f"Which name has the {name}?"))


def approval(name: str) -> ApprovalRequested:
    calls = (ToolCall("send", {"to": name}),)
    return ApprovalRequested(
        ApprovalRequest("s1.1", ("s1",), calls, f"digest of the {name}", "no rule"), "s1"
    )


@pytest.fixture
def page(pictured: Access, tab: Tab) -> Any:
    """The page with the states of the fixture `states`, and with cards that can be held."""
    page = holdable(tab, pictured.new_link())
    page.get_by_text("aeond 0.1.0").wait_for()
    return page


def sent(states: StatesClient) -> list[dict[str, Any]]:
    """What the page sent of the user's answers and decisions."""
    return [given for name, given in states.calls if name in {"answer_run", "decide_approval", "decide_run"}]


def test_an_answer_stays_with_its_question(page: Any, states: StatesClient) -> None:
    """The questions of two child runs have the same id: after the answer to one, the field of the other is empty, and
    keys that come at once answer nothing.
    """
    states.kinds = {"root": below({name: question(name) for name in CHILDREN})}
    show(page, "root")
    armed(page)
    held(page)
    page.get_by_role("textbox", name="Which name has the first?").fill("Ada")
    page.keyboard.press("Enter")
    field = page.get_by_role("textbox", name="Which name has the second?")
    field.wait_for()
    assert field.input_value() == ""
    field.fill("Grace")
    page.keyboard.press("Enter")
    go_on(page)
    page.keyboard.press("Enter")
    page.locator(".card").wait_for(state="detached")
    assert [(given["run_id"], given["answer"]) for given in sent(states)] == [
        ("first", "Ada"),
        ("second", "Grace"),
    ]


def test_a_half_typed_answer_is_kept(page: Any, states: StatesClient) -> None:
    """What is typed into a question is there again after the journal, another run and a reload, with the cursor at its end,
    and belongs to that question alone; once it is sent it is gone.
    """
    field = page.locator("#card-field")
    states.kinds = {**states.kinds, "root": below({name: question(name) for name in CHILDREN})}
    show(page, "root")
    armed(page)
    page.keyboard.type("A")
    for away in ("journal", "run", "reload"):
        if away == "journal":
            page.keyboard.press("Control+j")
            page.locator(".card").wait_for(state="detached")
            page.keyboard.press("Control+j")
        elif away == "run":
            show(page, "question")
            page.get_by_text("Which of the two egress runs counts?").wait_for()
            assert field.input_value() == ""
            show(page, "root")
        else:
            page.reload()
        page.get_by_role("textbox", name="Which name has the first?").wait_for()
        armed(page)
        page.keyboard.type("d")
    assert field.input_value() == "Addd"
    page.keyboard.press("Enter")
    page.get_by_role("textbox", name="Which name has the second?").wait_for()
    assert field.input_value() == ""
    assert [given["answer"] for given in sent(states)] == ["Addd"]
    # The reply, with which the draft goes, may come after the next question.
    until(page, "() => sessionStorage.getItem('aeon-drafts') === '{}'")


def test_a_decision_stays_with_its_approval(page: Any, states: StatesClient) -> None:
    """The approvals of two child runs have the same id: after one is allowed, Deny of the other has the focus, and keys
    that come at once allow nothing.
    """
    states.kinds = {"root": below({name: approval(name) for name in CHILDREN})}
    show(page, "root")
    armed(page)
    held(page)
    page.locator("[data-act=allow]").focus()
    page.keyboard.press("Control+Enter")
    page.locator(".card dd").get_by_text("second").wait_for()
    page.locator("[data-act=deny]:focus").wait_for()
    page.keyboard.press("Control+Enter")
    go_on(page)
    page.keyboard.press("Control+Backspace")
    page.locator(".card").wait_for(state="detached")
    assert [(given["digest"], given["approved"]) for given in sent(states)] == [
        ("digest of the first", True),
        ("digest of the second", False),
    ]


def test_an_interrupted_step_is_not_decided_by_accident(page: Any, states: StatesClient) -> None:
    """The card of an interrupted step focuses none of its buttons, and they do nothing in its first half second."""
    held(page)
    show(page, "decision")
    page.locator(".card:focus").wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="It failed").click()
    page.get_by_role("button", name="Run it again").press("Enter")
    go_on(page)
    page.get_by_role("button", name="It is done").press("Enter")
    page.locator(".card").wait_for(state="detached")
    assert [given["resolution"] for given in sent(states)] == ["done"]


def test_a_full_disk_asks_for_no_decision(page: Any, states: StatesClient) -> None:
    """A run that a full disk suspended continues by itself: the page says so, and shows no card."""
    suspended = RunSuspended("disk_full", "the disk is full: free some space")
    states.kinds = {"root": [RunCreated("two at once"), RunStarted(), suspended]}
    show(page, "root")
    page.get_by_text("the disk is full").first.wait_for()
    assert page.locator(".card").count() == 0


def test_a_later_card_does_not_replace_the_one_in_use(page: Any, states: StatesClient) -> None:
    """An approval that another child run needs while the user types an answer waits until that is given."""
    states.kinds = {"root": below({"first": StepStarted(WORK), "second": question("second")})}
    show(page, "root")
    armed(page)
    page.get_by_role("textbox", name="Which name has the second?").fill("Gra")
    states.happen(("first", approval("first")))
    page.locator(".step.person").nth(1).wait_for()
    page.keyboard.type("ce")
    page.keyboard.press("Enter")
    page.locator(".card dd").get_by_text("first").wait_for()
    assert [given["answer"] for given in sent(states)] == ["Grace"]


@pytest.mark.parametrize(("preview", "sentence"), EFFECT_CASES)
def test_an_approval_says_what_would_happen(
    page: Any, states: StatesClient, preview: CallPreview, sentence: str
) -> None:
    """The heading of an approval is the effect of its call in plain words; the policy's reason for asking is below it."""
    one = replace(approval("first").approval, previews=(preview,))
    states.kinds = {"root": [*LONG, ApprovalRequested(one, "s1")]}
    show(page, "root")
    page.get_by_role("heading", name=f"{sentence}?", exact=True).wait_for()
    page.get_by_text("Why this is asked: no rule").wait_for()


def test_an_approval_of_several_calls_says_what_each_would_do(page: Any, states: StatesClient) -> None:
    """Each call of an approval has its own sentence above its arguments."""
    calls = (ToolCall("delete_file", {"path": "x.md"}), ToolCall("send", {"to": "Ada"}))
    previews = (CallPreview(source="/home/ada/x.md"), CallPreview())
    one = replace(approval("first").approval, calls=calls, previews=previews, step_ids=("s1", "s2"))
    states.kinds = {"root": [*LONG, ApprovalRequested(one, "s1")]}
    show(page, "root")
    page.get_by_role("heading", name="Allow 2 calls?").wait_for()
    assert page.locator(".call h4").all_text_contents() == ["Delete /home/ada/x.md", "Use the tool send"]


INSIDE = (
    "(card) => { const at = card.getBoundingClientRect(); return at.top >= 0 && at.bottom <= innerHeight; }"
)


@pytest.mark.parametrize("size", [(360, 640), (1280, 720)])
def test_a_card_below_a_long_plan_is_seen_before_keys_count(
    page: Any, states: StatesClient, size: tuple[int, int]
) -> None:
    """Below 30 steps a new card comes into view; scrolled out of it no key counts, and the first one shows it again."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    states.kinds = {"root": LONG}
    show(page, "root")
    page.locator(".step").nth(29).wait_for()
    states.happen(ApprovalRequested(approval("first").approval, "s1"))
    armed(page)
    card = page.locator(".card")
    assert card.evaluate(INSIDE) is True
    page.evaluate("scrollTo(0, 0)")
    page.locator("[data-armed]").wait_for(state="detached")
    held(page)
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Enter")
    assert card.evaluate(INSIDE) is True
    page.keyboard.press("Control+Enter")
    assert sent(states) == []
    go_on(page)
    page.keyboard.press("Control+Enter")
    card.wait_for(state="detached")
    assert [given["approved"] for given in sent(states)] == [True]


def test_keys_do_not_act_on_a_card_behind_the_journal(page: Any, states: StatesClient) -> None:
    """While the journal is shown a key of an approval decides nothing: it goes back to the card."""
    show(page, "approval")
    armed(page)
    page.keyboard.press("Control+j")
    page.locator(".card").wait_for(state="detached")
    held(page)
    page.keyboard.press("Control+Enter")
    page.locator(".card").wait_for()
    page.keyboard.press("Control+Enter")
    assert sent(states) == []
    go_on(page)
    page.keyboard.press("Control+Enter")
    page.locator(".card").wait_for(state="detached")
    assert [given["approved"] for given in sent(states)] == [True]


def test_many_long_options_can_be_read_and_chosen(page: Any, states: StatesClient) -> None:
    """Options of a question that are long or many are a list as wide as the card, through which arrow keys move."""
    page.set_viewport_size({"width": 360, "height": 640})
    options = tuple(f"Number {number}: {'a_long_name_without_a_space' * 3}" for number in range(1, 13))
    states.kinds = {"root": [*LONG, InputRequested(Question("s1.1", "s1", "Which one?", options=options))]}
    show(page, "root")
    armed(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    lefts = page.locator("[data-act=option]").evaluate_all(
        "all => new Set(all.map((one) => one.getBoundingClientRect().left)).size"
    )
    assert lefts == 1
    page.locator("[data-act=option]:focus").wait_for()
    for _ in range(11):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator(".card").wait_for(state="detached")
    assert [given["answer"] for given in sent(states)] == [options[-1]]


def test_an_approval_names_what_its_run_has_read(page: Any, states: StatesClient) -> None:
    """The card names the untrusted sources of the request, of the session, of an output and of a decision of the policy; those of the
    run whose approval it is, and of no other.
    """
    decided = PolicyDecided("s1", "ask", adds=("file:/b",))
    read: list[Item] = [
        ReferencesResolved("x", "x", taint=("mail",)),
        StepEnded("s0", StepState.SUCCEEDED, taint=("file:/a",)),
        decided,
    ]
    asked: list[Item] = [
        RunStarted(),
        *read,
        PlanAdopted(Plan("", (WORK,))),
        StepStarted(WORK),
        approval("first"),
    ]
    states.kinds = {
        "root": [RunCreated("untrusted", taint=("host:a.example:443",)), *asked],
        "other": below({"first": approval("first"), "second": decided}),
    }
    show(page, "root")
    page.get_by_text("Untrusted sources of this run: host:a.example:443, mail, file:/a, file:/b.").wait_for()
    show(page, "other")
    page.get_by_role("heading", name="Use the tool send?").wait_for()
    assert page.get_by_text("Untrusted sources of this run").count() == 0
