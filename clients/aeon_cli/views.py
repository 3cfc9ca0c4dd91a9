"""How a run is shown while it goes on: as plain lines, or not at all. The live view has its own file."""

from typing import Protocol, TextIO

from aeon_cli import marks
from aeon_cli.checklist import Checklist
from aeon_cli.printable import one_line
from aeon_cli.rows import arrow
from aeon_cli.terminals import Terminal
from aeon_cli.titles import counted, duration_in_words
from aeond_client.events import Event, PlanAdopted, PlanningStarted, RunCreated, StepEnded, StepStarted


class View(Protocol):
    """Shows a run to a person: `show` after each event, `note` for what is no event.

    `end` leaves the steps as they are on the screen, because something else is printed from now on.
    """

    def show(self, shown: Checklist, event: Event) -> None: ...

    def note(self, words: str) -> None: ...

    def end(self) -> None: ...


class NoView:
    """Shows nothing."""

    def show(self, shown: Checklist, event: Event) -> None:
        """Nothing."""

    def note(self, words: str) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing is on the screen."""


class PlainView:
    """One line for each thing worth knowing, in the order in which it happened."""

    def __init__(self, stream: TextIO, terminal: Terminal) -> None:
        self._stream = stream
        self._unicode = terminal.unicode
        self._activity = ""

    def show(self, shown: Checklist, event: Event) -> None:
        kind = event.kind
        match kind:
            case RunCreated():
                self._print(f"run {event.run_id}")
            case PlanningStarted():
                self._tell_activity(shown.activity)
            case PlanAdopted(plan=plan):
                self._print(f"plan: {counted(len(plan.steps), 'step')}")
            case StepStarted(step=step):
                self._print(self._step(shown, step.step_id))
            case StepEnded(step_id=step_id):
                self._print(self._step(shown, step_id))
            case _:
                self._tell_activity(shown.activity)

    def _step(self, shown: Checklist, step_id: str) -> str:
        line = shown.line(step_id)
        mark = marks.OF_STEP[line.state]
        place = f"{shown.place.get(step_id, 0)}/{len(shown.lines)}"
        words = f"{mark.shown(unicode=self._unicode)} {place} {line.title}"
        if line.detail:
            words += arrow(unicode=self._unicode) + line.detail
        if mark in {marks.DONE, marks.FAILED}:
            words += f" ({duration_in_words(line.duration_seconds)})"
        return words

    def _tell_activity(self, activity: str) -> None:
        if activity and activity != self._activity:
            self._print(one_line(activity))
        self._activity = activity

    def note(self, words: str) -> None:
        self._print(words)

    def end(self) -> None:
        """Nothing is redrawn here."""

    def _print(self, words: str) -> None:
        print(words, file=self._stream, flush=True)
