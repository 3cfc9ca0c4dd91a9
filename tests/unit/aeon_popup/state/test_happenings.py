"""The subjects of happenings: two runs below the same one ask at the same time, under the same ids."""

from collections.abc import Sequence

import pytest

from aeon_popup.state.happenings import CallFailed, Happening
from aeon_popup.state.run_view import RunView, Stage
from aeond_client.events import (
    ApprovalDecided,
    ApprovalRequested,
    ChildRunEnded,
    ChildRunStarted,
    EventKind,
    InputAnswered,
    InputRequested,
    StepStarted,
)
from aeond_client.records.judgements import ApprovalRequest, Question
from aeond_client.records.runs import RunState
from aeond_client.records.tools import ToolCall
from tests.support.popup_states import KEY, STEPS, planned, received, sent
from tests.unit.aeon_popup.test_controller import World

FIRST, SECOND = "child-1", "child-2"
BOTH = [*planned(1), StepStarted(STEPS[1]), StepStarted(STEPS[2])]
CHILDREN = [ChildRunStarted("s2", FIRST, "t"), ChildRunStarted("s3", SECOND, "t")]


def question(prompt: str, *options: str) -> InputRequested:
    return InputRequested(Question("s1.1", "s1", prompt, options=options))


def approval(digest: str) -> ApprovalRequested:
    asked = ApprovalRequest("s1.1", ("s1",), (ToolCall("send", {"to": digest}),), digest)
    return ApprovalRequested(asked, "s1")


def of_child(run_id: str, kind: EventKind, seq: int = 1) -> list[Happening]:
    return received(kind, first=seq, run_id=run_id)


def asking(world: World, kinds: Sequence[EventKind]) -> World:
    """A run with two children, each of which asks something."""
    world.has(sent(), received(*BOTH, *CHILDREN))
    for run_id, kind in zip((FIRST, SECOND), kinds, strict=True):
        world.has(of_child(run_id, kind))
    return world


def shown(world: World) -> RunView:
    run = world.view.shown
    assert run is not None
    return run


QUESTIONS = (question("Which colour?", "red", "blue"), question("Delete the backup?", "yes", "no"))
APPROVALS = (approval("first"), approval("second"))


def test_an_answer_goes_to_the_run_that_asked() -> None:
    """After the question of one child was answered, the next answer goes to the other child."""
    world = asking(World(), QUESTIONS)
    world.controller.answer(shown(world).questions[0], "blue")
    world.has(of_child(FIRST, InputAnswered("s1.1", "blue"), 2))
    run = shown(world)
    assert (run.subject, run.subject in run.sent) == (f"{SECOND}/s1.1", False)
    world.controller.answer(run.questions[0], "no")
    assert world.daemon.of("answer") == [(KEY, FIRST, "s1.1", "blue"), (KEY, SECOND, "s1.1", "no")]


def test_a_second_approval_can_be_decided() -> None:
    """A decision that is on its way holds back only the approval that it is about."""
    world = asking(World(), APPROVALS)
    first, second = shown(world).approvals
    world.controller.decide(first, approved=True)
    assert shown(world).sent == {first.subject}
    world.has(of_child(FIRST, ApprovalDecided("s1.1", True), 2))
    run = shown(world)
    assert (run.approvals, run.subject in run.sent) == ((second,), False)
    world.controller.decide(second, approved=False)
    assert world.daemon.of("decide") == [(KEY, first, True, "once"), (KEY, second, False, "once")]


@pytest.mark.parametrize(
    ("kinds", "action", "over"),
    [
        (QUESTIONS, "0", InputAnswered("s1.1", "red")),
        (APPROVALS, "approve", ApprovalDecided("s1.1", True)),
        ((approval("same"), approval("same")), "approve", ApprovalDecided("s1.1", True)),
    ],
)
def test_a_notification_decides_for_the_run_that_it_showed(
    kinds: Sequence[EventKind], action: str, over: EventKind
) -> None:
    """A choice in the notification about one child never counts for another child, whose notification follows."""
    world = asking(World(), kinds)
    (first,) = world.notices
    world.has(of_child(FIRST, over, 2))
    second = world.notices[-1]
    assert len(world.notices) == 2
    chosen = next(name for name, _ in first.actions if name.startswith(action))
    world.controller.reply(KEY, chosen)
    assert world.daemon.of("answer") == world.daemon.of("decide") == []
    world.controller.reply(KEY, next(name for name, _ in second.actions if name.startswith(action)))
    calls = world.daemon.of("answer") or [(key, one.run_id) for key, one, *_ in world.daemon.of("decide")]
    assert [call[:2] for call in calls] == [(KEY, SECOND)]


def test_the_steps_that_started_the_children_wait() -> None:
    """An approval of a child marks the step that started the child, and no step of the run that has the same id."""
    world = asking(World(), APPROVALS)
    assert shown(world).waiting_steps == {"s2", "s3"}


def test_what_a_child_asked_is_closed_with_it() -> None:
    """The end of a child takes its approval away and leaves that of the other."""
    world = asking(World(), APPROVALS)
    world.has(received(ChildRunEnded("s2", FIRST, RunState.CANCELLED), first=len([*BOTH, *CHILDREN]) + 1))
    assert [one.run_id for one in shown(world).approvals] == [SECOND]


def test_a_repeat_of_a_decided_approval_asks_nothing() -> None:
    """A step that joins an approval after the decision does not open it again."""
    world = asking(World(), APPROVALS)
    joined = ApprovalRequested(APPROVALS[0].approval, "s9")
    world.has(of_child(FIRST, joined, 2))
    assert len(shown(world).approvals) == 2
    world.has(of_child(FIRST, ApprovalDecided("s1.1", True), 3), of_child(FIRST, joined, 4))
    assert [one.run_id for one in shown(world).approvals] == [SECOND]
    assert shown(world).stage is Stage.APPROVAL


def test_a_failed_decision_can_be_repeated() -> None:
    """A decision that did not reach the daemon can be sent again, and the card says why it failed, unless it shows the next
    approval by then.
    """
    world = asking(World(), APPROVALS)
    first = shown(world).approvals[0]
    world.controller.decide(first, approved=True)
    failed = CallFailed(KEY, "no reply", first.subject)
    world.has([failed])
    assert (shown(world).sent, shown(world).note) == (frozenset(), "no reply")
    world.has(of_child(FIRST, ApprovalDecided("s1.1", True), 2), [failed])
    assert (shown(world).subject, shown(world).note) == (f"{SECOND}/s1.1/second", "")
