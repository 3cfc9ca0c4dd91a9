"""The middle between window and daemon."""

from collections.abc import Sequence
from typing import Any

import pytest

from aeon_popup.controller import Controller
from aeon_popup.state import happenings
from aeon_popup.state.happenings import HotkeySet
from aeon_popup.state.notices import HOTKEY, Notice
from aeon_popup.state.run_view import Stage
from aeon_popup.state.session import SessionView
from aeon_popup.state.wording import explanation
from aeon_popup.trace import Trace
from aeond_client.events import (
    EventKind,
    InputAnswered,
    InputRequested,
    RunEnded,
    RunParked,
    RunResumed,
    StepEnded,
    StepStarted,
)
from aeond_client.records.judgements import Question
from aeond_client.records.runs import Problem, Resolution, RunState, StepState
from tests.support.popup_states import (
    KEY,
    RUN,
    SESSION,
    STEPS,
    TEXT,
    Change,
    happen,
    planned,
    received,
    sent,
    states,
)


class Noted:
    """Replaces daemon and window: notes each call."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *given, **more: self.calls.append((name, *given, *more.values()))

    def of(self, name: str) -> list[tuple[Any, ...]]:
        return [call[1:] for call in self.calls if call[0] == name]


class World:
    """A controller between two doubles, and the notifications."""

    def __init__(self) -> None:
        self.daemon, self.screen = Noted(), Noted()
        daemon: Any = self.daemon
        screen: Any = self.screen
        self.notices: list[Notice] = []
        self.closed: list[str] = []
        self.controller = Controller(
            daemon, Trace(), notify=self.notices.append, close_notice=self.closed.append
        )
        self.controller.screen = screen

    def has(self, *batches: Sequence[Change]) -> "World":
        for batch in batches:
            happen(self.controller, batch)
        return self

    @property
    def view(self) -> SessionView:
        return self.controller.view


@pytest.fixture
def world() -> World:
    return World()


CHOICE = Question("s1.1", "s1", "Which?", options=("red", "blue"))
ASKED = received(*planned(), StepStarted(STEPS[0]), InputRequested(CHOICE))
FAILED_STEP = received(
    *planned(1), StepStarted(STEPS[1]), StepEnded("s2", StepState.FAILED), RunEnded(RunState.FAILED)
)
FAILED = received(*planned(1), RunEnded(RunState.FAILED, Problem("TOOL_FAILED", "It broke.")))


def test_a_request_that_is_sent_again_has_its_key(world: World) -> None:
    """The repeat of a request that may have reached the daemon carries the same request id, so that one run exists."""
    world.controller.submit(TEXT)
    ((key, text, session_id),) = world.daemon.of("submit")
    world.has([happenings.Refused(key, "no reply")])
    world.controller.retry()
    assert world.daemon.of("submit") == [(key, text, session_id)] * 2


def test_retry_starts_the_daemon_or_sends_the_failed_request_again(world: World) -> None:
    """Without a daemon Retry starts it; after a failure it sends the request again in the same session."""
    world.has(sent(), FAILED)
    world.controller.retry()
    ((_, text, session_id),) = world.daemon.of("submit")
    assert (text, session_id) == (TEXT, "session-1")
    world.has([happenings.LinkDown("socket")])
    for _ in range(2):
        world.controller.retry()
    assert len(world.daemon.of("start_daemon")) == 1
    world.has([happenings.StartFailed("no such unit")])
    world.controller.retry()
    assert len(world.daemon.of("start_daemon")) == 2


def test_retry_continues_a_failed_run_from_its_failed_step(world: World) -> None:
    """After a failure with finished steps Retry forks the run before the failed step, in its session, once: pressed again there
    and on the failed run it shows the same run.
    """
    world.has(sent(), FAILED_STEP)
    world.controller.retry()
    ((key, run_id, after_seq, session_id),) = world.daemon.of("fork")
    assert (run_id, after_seq, session_id) == (RUN, 7, SESSION)
    world.controller.retry()
    world.controller.open_run(RUN)
    world.controller.retry()
    assert (world.view.shown_key, len(world.daemon.of("fork")), world.daemon.of("submit")) == (key, 1, [])


def test_what_a_continued_run_copies_is_not_notified(world: World) -> None:
    """A question of the failed run that a continued one copies was answered before, so that it becomes no notification; what the
    continued run asks does.
    """
    asked: list[EventKind] = [StepStarted(STEPS[0]), InputRequested(CHOICE), InputAnswered("s1.1", "red")]
    failed: list[EventKind] = [
        StepStarted(STEPS[1]),
        StepEnded("s2", StepState.FAILED),
        RunEnded(RunState.FAILED),
    ]
    world.controller.visible()
    world.has(sent(), received(*planned(), *asked, *failed))
    world.controller.retry()
    world.controller.hidden()
    key = world.view.shown_key
    again = Question("s2.1", "s2", "And which now?")
    events = [*planned(), *asked, RunParked(), RunResumed(), StepStarted(STEPS[1]), InputRequested(again)]
    for happening in received(*events, key=key, run_id="continued"):
        world.has([happening])
    assert [notice.summary for notice in world.notices] == ["And which now?"]


def test_a_run_that_was_continued_without_a_reply_is_continued_under_the_same_id(world: World) -> None:
    """The repeat of a fork that may have reached the daemon has the same request id, so that one run exists; after a lasting refusal
    the request is sent again.
    """
    world.has(sent(), FAILED_STEP)
    world.controller.retry()
    (first,) = world.daemon.of("fork")
    world.has([happenings.Refused(first[0], "no reply")])
    world.controller.retry()
    assert world.daemon.of("fork") == [first, first]
    world.has([happenings.Refused(first[0], "it does not fit", lasting=True)])
    world.controller.retry()
    ((key, text, session_id),) = world.daemon.of("submit")
    assert (key != first[0], text, session_id) == (True, TEXT, SESSION)


def test_two_popups_continue_a_run_under_the_same_id() -> None:
    """A program that was started again asks for the same fork of the same run, so that one run exists."""
    forks = []
    for world in (World(), World()):
        world.has(sent(), FAILED_STEP)
        world.controller.retry()
        forks += world.daemon.of("fork")
    assert forks[0] == forks[1]


def test_without_a_daemon_retry_starts_it_before_a_run_is_continued(world: World) -> None:
    """A failed run that cannot be continued because no daemon runs is continued after its start, and no longer says that."""
    world.has(sent(), FAILED_STEP)
    world.controller.retry()
    ((key, *_),) = world.daemon.of("fork")
    world.has([happenings.LinkDown("socket"), happenings.Refused(key, "no daemon")])
    world.controller.retry()
    assert (len(world.daemon.of("fork")), len(world.daemon.of("start_daemon"))) == (1, 1)
    world.has([happenings.LinkUp("socket")])
    assert world.view.shown
    assert world.view.shown.note == ""
    world.controller.retry()
    assert len(world.daemon.of("fork")) == 2


def test_a_reply_that_was_begun_is_kept_until_the_question_is_answered(world: World) -> None:
    """Text typed for a question stays while the run waits for it, and goes with the answer."""
    world.has(sent(), ASKED)
    run = world.view.shown
    assert run is not None
    asked = run.questions[0]
    world.controller.draft_reply(asked, "gre")
    world.has([happenings.LinkDown("socket"), happenings.LinkUp("socket")])
    assert world.view.runs[0].reply_to(asked) == "gre"
    world.has(received(InputAnswered("s1.1", "green"), first=len(ASKED) + 1))
    assert world.view.runs[0].replies == {}


def test_only_a_run_that_is_going_on_is_cancelled(world: World) -> None:
    """Stop cancels a run once, when the daemon has it, and does nothing to one that has ended."""
    world.controller.submit(TEXT)
    world.controller.stop()
    assert world.daemon.of("cancel") == []
    key = world.view.shown_key
    world.has([happenings.Accepted(key, RUN, "")])
    assert world.daemon.of("cancel") == [(key, RUN)]
    world = World().has(sent(), received(*planned(1)))
    world.controller.stop()
    assert world.daemon.of("cancel") == [(KEY, RUN)]
    ended = World().has(sent(), FAILED)
    ended.controller.stop()
    assert ended.daemon.of("cancel") == []


def test_a_hidden_run_is_notified_and_answered_from_there(world: World) -> None:
    """A question of a hidden run is a notification, whose option answers it; opening the window closes it."""
    world.has(sent(), ASKED)
    (notice,) = world.notices
    assert notice.actions == ((f"0:{RUN}/s1.1", "red"), (f"1:{RUN}/s1.1", "blue"))
    world.controller.reply(KEY, f"1:{RUN}/s1.1")
    assert world.daemon.of("answer") == [(KEY, RUN, "s1.1", "blue")]
    world.controller.reply(KEY, "default")
    assert len(world.screen.of("appear")) == 1
    world.controller.visible()
    assert world.closed == [KEY]


def test_answer_in_a_notification_opens_the_window(world: World) -> None:
    """The action Answer of a question with a field opens the window with that question, and answers nothing."""
    world.has(sent(), received(*planned(), InputRequested(Question("s1.1", "s1", "What?"))))
    world.controller.start_new()
    ((action, label),) = world.notices[0].actions
    world.controller.reply(KEY, action)
    assert (label, world.daemon.of("answer")) == ("Answer", [])
    assert (world.view.stage, len(world.screen.of("appear"))) == (Stage.QUESTION, 1)


def test_only_the_present_of_a_found_run_is_notified(world: World) -> None:
    """Of a run from before the start of the popup, an open question is notified once, and one that was answered is not."""
    answered = [*ASKED, *received(InputAnswered("s1.1", "red"), first=len(ASKED) + 1)]
    last = (InputRequested(Question("s1.2", "s1", "And then?")), StepStarted(STEPS[1]))
    open_now = received(*last, first=len(answered) + 1)
    world.has([happenings.Found(KEY, RUN, TEXT, len(answered) + len(last))])
    for happening in [*answered, *open_now]:
        world.has([happening])
    assert [notice.summary for notice in world.notices] == ["And then?"]
    world.has([happenings.LinkUp("socket")])
    assert len(world.notices) == 1


def test_a_visible_run_is_not_notified(world: World) -> None:
    """The run that the visible window shows is not notified; another one that needs a person is."""
    world.controller.visible()
    world.has(sent(), ASKED)
    assert world.notices == []
    world.controller.start_new()
    more = (InputAnswered("s1.1", "red"), InputRequested(Question("s1.2", "s1", "And then?")))
    world.has(received(*more, first=len(ASKED) + 1))
    assert [notice.summary for notice in world.notices] == ["And then?"]


def test_a_question_that_was_seen_is_notified_when_the_window_is_hidden(world: World) -> None:
    """Hiding the window while it shows a question leaves a notification of it; an answered run leaves none."""
    world.controller.visible()
    world.has(sent(), ASKED)
    world.controller.hidden()
    assert [notice.summary for notice in world.notices] == ["Which?"]
    world.controller.visible()
    world.has(received(InputAnswered("s1.1", "red"), first=len(ASKED) + 1))
    world.controller.hidden()
    assert len(world.notices) == 1


def test_the_notification_of_another_run_stays_until_that_run_is_shown(world: World) -> None:
    """Opening the window closes the notification of the run that it shows, and no other."""
    world.has(sent(), ASKED)
    world.controller.start_new()
    world.controller.visible()
    assert world.closed == []
    world.controller.reply(KEY, "default")
    assert world.closed == [KEY]


def test_an_approval_is_decided_from_its_notification(world: World) -> None:
    """Deny in a notification denies exactly the approval that it showed."""
    world.controller.view = states()["approval"]
    run = world.view.shown
    assert run is not None
    world.controller.reply(KEY, f"deny:{RUN}/a1/digest")
    assert world.daemon.of("decide") == [(KEY, run.approvals[0], False, "once")]


def test_an_interrupted_step_is_resolved(world: World) -> None:
    """The decision about an interrupted step names the step."""
    world.controller.view = states()["decision"]
    world.controller.resolve(Resolution.RETRY)
    assert world.daemon.of("resolve") == [(KEY, RUN, Resolution.RETRY, "s4")]


def test_changes_are_undone_once(world: World) -> None:
    """A second Undo before the first is over is not sent, so its empty report does not replace that of the first; after a failure
    it is.
    """
    world.controller.view = states()["done"]
    for _ in range(2):
        world.controller.undo()
    assert world.daemon.of("undo") == [(KEY, RUN)]
    world.has([happenings.CallFailed(KEY, "no reply")])
    world.controller.undo()
    assert len(world.daemon.of("undo")) == 2


def test_a_link_that_nothing_could_open_is_named(world: World) -> None:
    """The window says that a link was not opened, and an Undo that is on its way stays so."""
    world.controller.view = states()["done"]
    world.controller.undo()
    world.controller.note_unopened("https://example.org")
    run = world.view.shown
    assert run is not None
    assert run.undoing
    assert explanation(world.view, run)[1].startswith("The link https://example.org was not opened: ")


def test_a_run_of_the_history_is_followed_once(world: World) -> None:
    """Opening a run that is not kept follows it from its first event; opening it again only shows it."""
    for _ in range(2):
        world.controller.open_run("run-9")
    assert world.daemon.of("follow") == [("opened-run-9", "run-9")]
    assert world.view.stage is Stage.PLANNING


def test_a_failed_run_of_the_history_is_retried_in_its_session(world: World) -> None:
    """Retry of a run that was opened from the history sends its request in the session to which it belongs."""
    world.controller.open_run(RUN)
    world.has(received(*planned(1), RunEnded(RunState.FAILED), key=world.view.shown_key))
    world.controller.retry()
    ((_, text, session_id),) = world.daemon.of("submit")
    assert (text, session_id) == (TEXT, SESSION)


def test_actions_of_the_desktop_move_the_window(world: World) -> None:
    """Toggle, show, hide and new reach the window; an unknown action does nothing."""
    for action in ("toggle", "show", "hide", "new", "dance"):
        world.controller.act(action)
    assert [call[0] for call in world.screen.calls if call[0] != "show_view"] == [
        "toggle",
        "appear",
        "hide",
        "appear",
    ]


def test_a_hotkey_that_does_not_work_is_notified_once(world: World) -> None:
    """Each reason why the hotkey does not work becomes one notification, which goes away when the hotkey was bound."""
    for problem in ("The key is taken.", "The key is taken.", "It was declined."):
        world.controller.set_hotkey(HotkeySet(problem=problem))
    assert [notice.body for notice in world.notices] == ["The key is taken.", "It was declined."]
    assert world.view.hotkey.problem == "It was declined."
    assert world.closed == []
    world.controller.set_hotkey(HotkeySet("Super+A"))
    assert (world.view.hotkey.shortcut, world.closed) == ("Super+A", [HOTKEY])
    world.controller.set_hotkey(HotkeySet("Super+A"))
    assert (len(world.notices), len(world.closed)) == (2, 1)


@pytest.mark.parametrize(("absent", "visible"), [(True, False), (False, True)])
def test_a_hotkey_that_the_user_sees_or_binds_is_not_notified(
    world: World, *, absent: bool, visible: bool
) -> None:
    """There is no notification while the window is visible, which says it, and none on a desktop that binds no keys for programs."""
    if visible:
        world.controller.visible()
    world.controller.set_hotkey(HotkeySet(problem="It does not work.", absent=absent))
    assert world.notices == []


def test_the_notification_about_the_hotkey_opens_the_window(world: World) -> None:
    """The action of the notification about the hotkey opens the window and changes nothing else."""
    world.controller.set_hotkey(HotkeySet(problem="The key is taken."))
    before = world.view
    world.controller.reply(HOTKEY, "default")
    assert world.screen.of("appear") == [()]
    assert world.view == before
