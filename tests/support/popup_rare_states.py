"""The rarer states of the popup, which the pictures show beside those of popup_states."""

from collections.abc import Mapping, Sequence

from aeon_popup.state import happenings
from aeon_popup.state.happenings import Happening
from aeon_popup.state.session import SessionView, after
from aeond_client.events import (
    ApprovalRequested,
    ChildRunStarted,
    Event,
    EventKind,
    InputRequested,
    Queued,
    RunCreated,
    RunEnded,
    RunStarted,
    RunSuspended,
    StepEnded,
    StepStarted,
)
from aeond_client.records.judgements import ApprovalRequest, CallPreview, Question
from aeond_client.records.runs import (
    PlanStep,
    Problem,
    RefusedUndo,
    RunState,
    StepState,
    UndoneChange,
    UndoReport,
)
from aeond_client.records.tools import ToolCall
from tests.support.popup_states import (
    EFFECTS,
    KEY,
    RUN,
    SESSION,
    SOCKET,
    START,
    STEPS,
    TEXT,
    folded,
    history,
    planned,
    received,
    sent,
    states,
)

CHILD = "01990000-0000-7000-8000-0000000007f3b"
OVERLOADED = "The daemon is overloaded: 100 runs are waiting; send the request again later."
# What the user types into the list of recent runs, which no run has.
UNMATCHED = "zebra"


def rare_states() -> Mapping[str, SessionView]:
    """Each of these states by name."""
    usual = states()
    return {
        **_daemons(usual),
        **_requests(usual),
        **_waiting(),
        **_ended(usual),
        **_histories(usual["prompt"]),
    }


def _daemons(usual: Mapping[str, SessionView]) -> dict[str, SessionView]:
    """States of the daemon."""
    down = after(SessionView().drafted(TEXT), happenings.LinkDown(SOCKET)).start_asked()
    failed = happenings.StartFailed("systemd has no unit aeond.service; start the daemon with `aeond serve`.")
    ill = ("the engine is not running: it ended with status 1; run `aeond doctor`",)
    return {
        "degraded": after(usual["prompt"], happenings.DaemonSeen("degraded", ill)),
        "draining": after(usual["prompt"], happenings.DaemonSeen("draining")),
        "daemon-starting": down,
        "start-failed": after(down, failed),
    }


def _requests(usual: Mapping[str, SessionView]) -> dict[str, SessionView]:
    """Requests that are written, rejected, on their way and waiting for their turn."""
    created = RunCreated(TEXT, session_id=SESSION)
    answered = received(RunCreated(TEXT), RunEnded(RunState.SUCCEEDED))
    forked = received(
        RunCreated(TEXT, session_id=SESSION, forked_run_id="first"), RunEnded(RunState.SUCCEEDED)
    )
    more = "And the cheapest hotel nearby?"
    opened = SessionView().opened(KEY, RUN, TEXT)
    again = usual["done"].follow_up_started(more).submitted("request-2", more, SESSION)
    return {
        "refused": folded([*sent()[:2], happenings.Refused(KEY, OVERLOADED)]),
        "follow-up-refused": after(again, happenings.Refused("request-2", OVERLOADED)),
        "new-session": folded(answered, opened).follow_up_started(more),
        "follow-up-continued": folded(forked, opened).follow_up_started(more),
        "request-sent": folded(sent()[:2]),
        "queued": folded([*sent(), *received(created, Queued(2))]),
    }


def _waiting() -> dict[str, SessionView]:
    """Runs that wait for a person."""
    mail = {"to": "marta@example.org", "subject": "Lisbon offsite: draft itinerary"}
    calls = (
        ToolCall("write_file", {"path": "lisbon.md", "content": "# Lisbon\n"}),
        ToolCall("mail.send", mail),
    )
    several = ApprovalRequest(
        "a1", ("s4", "s5"), calls, "digest", "no rule allows it",
        previews=(
            CallPreview(target="/home/ada/desk/lisbon.md", diff="--- /dev/null\n+++ b/lisbon.md\n@@ -0,0 +1 @@\n+# Lisbon\n"),
            CallPreview(host="mail.example.org:465"),
        ),
        scopes=("once", "run"),
    )  # fmt: skip
    asked = Question(
        "h1.1", "h1", "Which dates does the hotel have to cover?", options=("14-17 May", "13-17 May")
    )
    below: list[EventKind] = [
        RunStarted(),
        StepStarted(PlanStep("h1", "Ask for the dates", "request_user_input")),
        InputRequested(asked),
    ]
    child: Sequence[Happening] = [
        happenings.Received(KEY, Event(CHILD, seq, START + 3.0, 0.0, kind), START + 3.0)
        for seq, kind in enumerate(below, start=2)
    ]
    held = [*planned(3), StepStarted(STEPS[3]), StepStarted(STEPS[4])]
    crashed = RunSuspended("repeated_crashes", "the daemon crashed 3 times during this run")
    page = "host:flights.example.org:443"
    read = StepEnded(
        "s3", StepState.SUCCEEDED, output="ok", taint=("file:/home/ada/desk/Downloads/visa.pdf", page)
    )
    started = ChildRunStarted("s3", CHILD, "research", "Find a hotel")
    return {
        "approval-several": folded([*sent(), *received(*held, read, ApprovalRequested(several, "s4"))]),
        "suspended": folded([*sent(), *received(*planned(2), StepStarted(STEPS[2]), crashed)]),
        "child-asks": folded([*sent(), *received(*planned(2), StepStarted(STEPS[2]), started), *child]),
    }


def _ended(usual: Mapping[str, SessionView]) -> dict[str, SessionView]:
    """Failed runs that can be continued, one without a reason, and changes that were not undone."""
    failure = StepEnded("s3", StepState.FAILED, error="flights.search: 503 from provider after 3 tries")
    steps_failed = RunEnded(RunState.FAILED, Problem("STEPS_FAILED", "s3"))
    failed = {
        "retry-one": _failed([0], failure, steps_failed),
        "retry-some": _failed([0, 3], failure, steps_failed),
    }
    changed = RefusedUndo(EFFECTS[0].target, "CHANGED_SINCE", "the file was changed since")
    gone = RefusedUndo(EFFECTS[1].target, "CHANGED_SINCE", "the fact was changed since")
    partly = UndoReport((UndoneChange(EFFECTS[1].target, "removed"),), (changed,))
    return {
        **failed,
        "retried": usual["failed"].continued("again", KEY, 9).selected(KEY),
        "failed-early": folded(
            [*sent(), *received(RunCreated(TEXT), RunStarted(), RunEnded(RunState.FAILED))]
        ),
        "undo-partly": after(usual["done"], happenings.Undone(KEY, partly)),
        "undo-refused": after(usual["done"], happenings.Undone(KEY, UndoReport((), (changed, gone)))),
    }


def _failed(finished: list[int], *ends: EventKind) -> SessionView:
    """A run whose third step failed after these steps were finished."""
    kinds = [
        kind
        for step in (STEPS[place] for place in finished)
        for kind in (StepStarted(step), StepEnded(step.step_id, StepState.SUCCEEDED, output="ok"))
    ]
    return folded([*sent(), *received(*planned(), *kinds, StepStarted(STEPS[2]), *ends)])


def _histories(prompt: SessionView) -> dict[str, SessionView]:
    """Lists of recent runs that show none. The picture of the unmatched one has UNMATCHED as its filter."""
    return {
        "history-loading": prompt,
        "history-empty": after(prompt, happenings.HistoryListed(())),
        "history-unmatched": after(prompt, happenings.HistoryListed(history())),
    }
