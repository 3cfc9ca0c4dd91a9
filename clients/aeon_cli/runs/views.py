"""Displays of a run in progress: plain lines or nothing. The live view has its own file."""

from typing import TextIO

from aeon_cli.runs.checklist import Checklist
from aeon_cli.runs.rows import arrow
from aeon_cli.text import symbols
from aeon_cli.text.printable import one_line
from aeon_cli.text.terminals import Terminal
from aeon_cli.text.titles import counted, duration_in_words, title_of
from aeond_client import events


class View:
    """The base of the views, which shows nothing itself: `show` after each event, `note` for messages that are not events.
    When a note is repeated, `left` alone is new.

    `end` leaves the steps on the screen because other output follows; `pause` does so until the next event.
    """

    def show(self, shown: Checklist, event: events.Event) -> None: ...

    def note(self, words: str, left: str = "") -> None: ...

    def pause(self) -> None: ...

    def end(self) -> None: ...


class PlainView(View):
    """Prints one line per significant event, in order."""

    def __init__(self, stream: TextIO, terminal: Terminal) -> None:
        self._stream = stream
        self._unicode = terminal.unicode
        self._activity = ""
        self._noted = ""

    def show(self, shown: Checklist, event: events.Event) -> None:
        kind = event.kind
        match kind:
            case events.RunCreated():
                self._print(f"run {event.run_id}")
            case events.PlanningStarted():
                self._show_activity(shown.activity)
            case events.PlanAdopted(plan=plan):
                self._print(f"plan: {counted(len(plan.steps), 'step')}")
            case events.StepStarted(step=step):
                self._print(self._step(shown, step.step_id))
            case events.StepEnded(step_id=step_id):
                self._print(self._step(shown, step_id))
            case events.InputRequested(question=question):
                self._print(f"? {one_line(question.prompt)}")
                self._activity = shown.activity
            case events.ApprovalRequested(approval=approval):
                self._print(f"! {counted(len(approval.calls), 'call')} to approve")
                self._activity = shown.activity
            case events.ApprovalDecided():
                self._print(
                    "allowed" if kind.approved else "not approved in time" if kind.expired else "denied"
                )
            case _:
                self._show_activity(shown.activity)

    def _step(self, shown: Checklist, step_id: str) -> str:
        line = shown.line(step_id)
        mark = symbols.OF_STEP[line.state]
        place = f"{shown.place.get(step_id, 0)}/{len(shown.lines)}"
        words = f"{mark.shown(unicode=self._unicode)} {place} {line.title}"
        if line.detail:
            words += arrow(unicode=self._unicode) + line.detail
        if mark in {symbols.DONE, symbols.FAILED}:
            words += f" ({duration_in_words(line.duration_seconds)})"
        return words

    def _show_activity(self, activity: str) -> None:
        if activity and activity != self._activity:
            self._print(one_line(activity))
        self._activity = activity

    def note(self, words: str, left: str = "") -> None:
        """Prints a note once: a repetition that differs only in the time left is not printed."""
        if not (left and words == self._noted):
            self._print(f"{words}{left}")
        self._noted = words

    def _print(self, words: str) -> None:
        print(words, file=self._stream, flush=True)


def in_words(event: events.Event) -> str:
    """One line about an event of a run below the displayed one; "" if the event is not shown."""
    match event.kind:
        case events.RunCreated(text=text):
            return f"started: {one_line(text)[:80]}"
        case events.StepStarted(step=step):
            return title_of(step)
        case events.StepEnded(step_id=step_id, state=state):
            return f"{one_line(step_id)} {state}"
        case events.InputRequested(question=question):
            return f"asks: {one_line(question.prompt)}"
        case events.ApprovalRequested(approval=approval):
            return f"needs approval of {counted(len(approval.calls), 'call')}"
        case events.RunEnded(state=state):
            return f"{state}"
        case _:
            return ""
