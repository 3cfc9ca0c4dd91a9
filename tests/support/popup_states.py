"""Every state of the popup, as happenings and choices, for its tests and for the pictures in docs/pictures."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from aeon_popup.controller import Controller
from aeon_popup.state import happenings
from aeon_popup.state.happenings import Happening
from aeon_popup.state.session import SessionView, after
from aeond_client.events import (
    AnswerComposed,
    AnswerStarted,
    ApprovalRequested,
    BudgetExhausted,
    CancelRequested,
    Event,
    EventKind,
    InputRequested,
    PassStarted,
    PlanAdopted,
    PlanningStarted,
    Progress,
    Queued,
    RunCreated,
    RunEnded,
    RunStarted,
    RunSuspended,
    StepEnded,
    StepStarted,
    TextDelta,
)
from aeond_client.records.judgements import ApprovalRequest, CallPreview, Question
from aeond_client.records.runs import (
    Amounts,
    Answer,
    Plan,
    PlanStep,
    Problem,
    RunState,
    RunSummary,
    StepState,
    UndoneChange,
    UndoReport,
)
from aeond_client.records.tools import RecordedEffect, ToolCall

KEY, RUN, SESSION = "request-1", "01990000-0000-7000-8000-0000000007f3a", "session-1"
TEXT = "Plan my trip to the Lisbon offsite and draft a mail to Marta"
START = 1_800_000_000.0
NOW = START + 12.0
SOCKET = "/run/user/1000/aeond/aeond.sock"

STEPS = (
    PlanStep("s1", "Read calendar for this week", "calendar.read", {"week": "this"}),
    PlanStep("s2", "Find unread mail about “Lisbon offsite”", "mail.search", {"text": "Lisbon offsite"}),
    PlanStep("s3", "Compare flight options", "flights.search", {"to": "LIS", "dates": "14-17 May"}),
    PlanStep("s4", "Draft itinerary", "write_file", {"path": "lisbon.md"}),
    PlanStep("s5", "Send draft to Marta", "mail.send", {"to": "marta@example.org"}),
)
ANSWER = """**Best fit: TP 1361, Wed 14 May 09:20 → 12:05, €148 return.** It leaves after your Tuesday review and lands \
before the 14:00 kickoff.

| Option | Out | Back | Price |
| --- | --- | --- | --- |
| TAP 1361 | Wed 09:20 | Sat 18:10 | €148 |
| RYR 4502 | Wed 06:05 | Sat 21:40 | €96 |

- Draft itinerary saved to `~/Documents/lisbon.md`
- Nothing was booked or sent.
"""
PARTIAL_ANSWER = """**Two direct flights fit: TP 1361 for €148 and RYR 4502 for €96.** Both leave on Wed 14 May and arrive before \
the kickoff.

- The itinerary is not drafted.
- Nothing was sent to Marta.
"""
LONG_ANSWER = "\n\n".join(
    [
        ANSWER,
        "## The days in detail",
        *(
            f"{day}. **Day {day}.** Sessions from 09:00 to 17:00 with a break at noon; dinner at {18 + day % 3}:30 near the river."
            for day in range(1, 13)
        ),
        "```\ntotal = flights + hotel + 4 * 35\n```",
    ]
)
FLIGHTS = (
    ("TAP 1361", "Wed 14 May 09:20 from Heathrow, back on Sat 18:10, €148, one bag included"),
    ("RYR 4502", "Wed 14 May 06:05 from Stansted, back on Sat 21:40, €96, no bag"),
    (
        "EZY 8711",
        "Tue 13 May 19:50 from Gatwick, with a night in a hotel near the airport, back on Sat 16:30, €120 and the hotel",
    ),
    ("none of them", "ask Marta whether the kickoff can start later"),
)
# The words of the window if its hotkey belongs to another program on X11.
TAKEN = (
    "Another program uses Ctrl+Alt+Space: choose another hotkey, or none, with"
    " `aeon-popup --install --hotkey KEYS` and restart it (`--quit`, `--show`)."
)
# The daemon's words when an approval was decided or expired meanwhile.
REJECTION = f"approval 'a1' of run {RUN} is not open: it may have been decided by another client, or expired; check with `show`"
EFFECTS = (
    RecordedEffect("file.created", "~/Documents/lisbon.md", "2.1 kB"),
    RecordedEffect("fact.remembered", "trip/lisbon/flight"),
)


def received(*kinds: EventKind, first: int = 1, key: str = KEY, run_id: str = RUN) -> list[Happening]:
    """Happenings for the events of these kinds, numbered from `first`; live updates have no number."""
    made: list[Happening] = []
    seq = first - 1
    for kind in kinds:
        live = isinstance(kind, TextDelta | Progress | Queued)
        seq += not live
        at = 0.0 if live else START + seq / 2
        made.append(
            happenings.Received(key, Event(run_id, 0 if live else seq, at, 0.0, kind), START + seq / 2)
        )
    return made


def step_kinds(count: int) -> list[EventKind]:
    """The first steps of the plan, all succeeded."""
    kinds: list[EventKind] = []
    for step in STEPS[:count]:
        used = Amounts(ttl=1, tool_calls=1)
        kinds += [StepStarted(step), StepEnded(step.step_id, StepState.SUCCEEDED, output="ok", used=used)]
    return kinds


def planned(steps: int = 0) -> list[EventKind]:
    """A run with a plan of which so many steps have ended."""
    plan = Plan("the trip", STEPS)
    kinds: list[EventKind] = [RunCreated(TEXT, session_id=SESSION), RunStarted(), PlanningStarted()]
    return [*kinds, PlanAdopted(plan), PassStarted(1), *step_kinds(steps)]


def long_plan(done: int, count: int = 30) -> list[EventKind]:
    """A run with a plan of many steps, of which so many have succeeded and the next one is running."""
    steps = [
        PlanStep(f"s{number}", f"Rename the photos of day {number}", "photos.rename", {"day": number})
        for number in range(1, count + 1)
    ]
    created = RunCreated("Rename the photos of last month by date", session_id=SESSION)
    kinds: list[EventKind] = [created, RunStarted(), PlanningStarted()]
    kinds += [PlanAdopted(Plan("the photos", tuple(steps))), PassStarted(1)]
    for step in steps[:done]:
        kinds += [StepStarted(step), StepEnded(step.step_id, StepState.SUCCEEDED, output="ok")]
    return [*kinds, StepStarted(steps[done])]


Change = Happening | Callable[[SessionView], SessionView]
"""A happening, or a choice of the user."""


def sent() -> list[Change]:
    """The user's request, accepted by the daemon."""
    return [
        happenings.LinkUp(SOCKET),
        lambda view: view.submitted(KEY, TEXT),
        happenings.Accepted(KEY, RUN, SESSION),
    ]


def _other(key: str, text: str, run_id: str, *kinds: EventKind) -> list[Change]:
    """Another run of the user, which was sent before."""
    begun: list[Change] = [
        lambda view: view.submitted(key, text),
        happenings.Accepted(key, run_id, ""),
    ]
    return [*begun, *received(RunCreated(text), RunStarted(), *kinds, key=key, run_id=run_id)]


def folded(made: Sequence[Change], view: SessionView | None = None) -> SessionView:
    """The state after these changes."""
    state = view or SessionView()
    for change in made:
        state = change(state) if callable(change) else after(state, change)
    return state


def happen(controller: Controller, made: Sequence[Change]) -> None:
    """Makes the changes in order, happenings that follow each other as one batch."""
    for chosen, group in groupby(made, callable):
        changes = list(group)
        if chosen:
            controller.view = folded(changes, controller.view)
        else:
            controller.apply([change for change in changes if not callable(change)])


def states() -> Mapping[str, SessionView]:
    """Each state of the window by name, in the order of a run's life."""
    question = Question("s3.1", "s3", "Which airport do you want to leave from?", {"type": "string"})
    choice = Question(
        "s3.1", "s3", "Which airport do you want to leave from?", options=("London City", "Heathrow")
    )
    arguments = {
        "to": "marta@example.org",
        "subject": "Lisbon offsite: draft itinerary",
        "body": "Hi Marta, …",
    }
    sending = ApprovalRequest(
        "a1", ("s5",), (ToolCall("mail.send", arguments),), "digest",
        "no rule allows it",
        previews=(CallPreview(host="mail.example.org:465"),),
        scopes=("once", "run", "host"), hosts=("mail.example.org:465",),
    )  # fmt: skip
    written = {"path": "report.txt", "content": "All is well.\n"}
    change = "--- a/report.txt\n+++ b/report.txt\n@@ -1,2 +1 @@\n-Monday: 12 failures\n-Tuesday: 3 failures\n+All is well.\n"
    overwrite = ApprovalRequest(
        "a2", ("s5",), (ToolCall("write_file", written),), "digest", "no rule allows it",
        previews=(CallPreview(target="/home/ada/desk/report.txt", diff=change),),
        scopes=("once", "run", "folder"), folders=("/home/ada/desk",),
    )  # fmt: skip
    compare, send = STEPS[2], STEPS[4]
    progress = Progress("38 results, ranking…", step_id="s3")
    failure = StepEnded("s3", StepState.FAILED, error="flights.search: 503 from provider after 3 tries")
    answer = Answer(ANSWER, effects=EFFECTS)
    answered: list[EventKind] = [*planned(5), AnswerStarted(), AnswerComposed(answer)]
    stopped = [
        *planned(3),
        BudgetExhausted("tool_calls"),
        AnswerStarted(),
        AnswerComposed(Answer(PARTIAL_ANSWER)),
    ]
    long: list[EventKind] = [*planned(5), AnswerStarted(), AnswerComposed(Answer(LONG_ANSWER))]
    done = folded([*sent(), *received(*answered, RunEnded(RunState.SUCCEEDED))])
    running = folded([*sent(), *received(*planned(2), StepStarted(compare), progress)])
    asked = [*planned(2), StepStarted(compare)]
    report = UndoReport(tuple(UndoneChange(effect.target, "removed") for effect in EFFECTS))
    problem = Problem("TOOL_FAILED", "The flight provider did not answer.")
    down = happenings.LinkDown(SOCKET, "No daemon is listening.")
    held = [*planned(4), StepStarted(send)]
    streaming = [*planned(5), AnswerStarted(), TextDelta(ANSWER[:320])]
    flights = tuple(f"{name}, {words}" for name, words in FLIGHTS)
    flight = Question("s3.1", "s3", "Which flight do you want to take?", options=flights)
    others = [
        *_other("request-2", "Rename the photos of last weekend by date", "…2", InputRequested(choice)),
        *_other("request-3", "Summarise the three newest papers in ~/Papers", "…3"),
    ]
    renaming = ApprovalRequest(
        "a3", ("s18",), (ToolCall("photos.rename", {"day": 18}),), "digest", "no rule allows it"
    )
    approval = folded([*sent(), *received(*held, ApprovalRequested(sending, "s5"))])
    decided = approval.reply_sent(KEY, happenings.Approval(RUN, sending).subject)
    changing = StepEnded("s4", StepState.SUCCEEDED, effects=EFFECTS)
    changed = [*planned(3), StepStarted(STEPS[3]), changing]
    suspended = [
        *planned(3),
        StepStarted(STEPS[3]),
        StepEnded("s4", StepState.UNKNOWN),
        RunSuspended("unknown_step"),
    ]
    return {
        "prompt": folded([happenings.LinkUp(SOCKET)]),
        "starting": folded(
            [happenings.LinkUp(SOCKET), happenings.DaemonSeen("starting", ("The model is loading.",))]
        ),
        "planning": folded(
            [*sent(), *received(RunCreated(TEXT, session_id=SESSION), RunStarted(), PlanningStarted())]
        ),
        "running": running,
        "question": folded([*sent(), *received(*asked, InputRequested(question))]),
        "choice": folded([*sent(), *received(*asked, InputRequested(choice))]),
        "approval": approval,
        "approval-file": folded([*sent(), *received(*held, ApprovalRequested(overwrite, "s5"))]),
        "sending": decided,
        "rejected": after(
            decided, happenings.CallFailed(KEY, REJECTION, happenings.Approval(RUN, sending).subject)
        ),
        "long-plan": folded([*sent(), *received(*long_plan(17, 20), ApprovalRequested(renaming, "s18"))]),
        "long-options": folded([*sent(), *received(*asked, InputRequested(flight))]),
        "several": folded([*others, *sent(), *received(*asked, progress)]),
        "stopping": running.stop_asked(KEY),
        "decision": folded([*sent(), *received(*suspended)]),
        "streaming": folded([*sent(), *received(*streaming)]),
        "done": done,
        "long-answer": folded([*sent(), *received(*long, RunEnded(RunState.SUCCEEDED))]),
        "undone": after(done, happenings.Undone(KEY, report)),
        "follow-up": done.follow_up_started("And the cheapest hotel nearby?"),
        "failed": folded([*sent(), *received(*asked, failure, RunEnded(RunState.FAILED, problem))]),
        "cancelled": folded(
            [*sent(), *received(*planned(2), CancelRequested(), RunEnded(RunState.CANCELLED))]
        ),
        "failed-changes": folded([*sent(), *received(*changed, RunEnded(RunState.FAILED, problem))]),
        "cancelled-changes": folded(
            [*sent(), *received(*changed, CancelRequested(), RunEnded(RunState.CANCELLED))]
        ),
        "expired": folded([*sent(), *received(*stopped, RunEnded(RunState.EXPIRED))]),
        "unavailable": after(SessionView().drafted(TEXT), down),
        "daemon-lost": after(running, down),
    }


def history() -> tuple[RunSummary, ...]:
    """Runs for the history, newest first."""
    rows = (
        (RunState.RUNNING, TEXT),
        (RunState.AWAITING_INPUT, "Rename the photos of last weekend by date"),
        (RunState.SUCCEEDED, "How large is the folder Downloads?"),
        (RunState.FAILED, "Summarise the three newest papers in ~/Papers"),
        (RunState.CANCELLED, "Convert all HEIC pictures to JPEG"),
        (RunState.SUCCEEDED, "What is 17.5% of 2400?"),
    )
    return tuple(
        RunSummary(f"run-{number}", state, text, NOW - 600.0 * number**3, NOW, 9)
        for number, (state, text) in enumerate(rows, start=1)
    )
