"""How a run is shown while it goes on: as plain lines, or not at all. The live view has its own file."""

from typing import Protocol, TextIO

from aeon_cli import marks
from aeon_cli.checklist import Checklist
from aeon_cli.printable import one_line
from aeon_cli.rows import arrow
from aeon_cli.terminals import Terminal
from aeon_cli.titles import counted, duration_in_words, title_of
from aeond_client.events import (
    Event,
    InputRequested,
    PlanAdopted,
    PlanningStarted,
    RunCreated,
    RunEnded,
    StepEnded,
    StepStarted,
)


class View(Protocol):
    """Shows a run to a person: `show` after each event, `note` for what is no event, with what alone is new in
    it when it is said again, `left`.

    `end` leaves the steps as they are on the screen, because something else is printed from now on; `pause`
    does so for a while, until the next event.
    """

    def show(self, shown: Checklist, event: Event) -> None: ...

    def note(self, words: str, left: str = "") -> None: ...

    def pause(self) -> None: ...

    def end(self) -> None: ...


class NoView:
    """Shows nothing."""

    def show(self, shown: Checklist, event: Event) -> None:
        """Nothing."""

    def note(self, words: str, left: str = "") -> None:
        """Nothing."""

    def pause(self) -> None:
        """Nothing is on the screen."""

    def end(self) -> None:
        """Nothing is on the screen."""


class PlainView:
    """One line for each thing worth knowing, in the order in which it happened."""

    def __init__(self, stream: TextIO, terminal: Terminal) -> None:
        self._stream = stream
        self._unicode = terminal.unicode
        self._activity = ""
        self._noted = ""

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
            case InputRequested(question=question):
                self._print(f"? {one_line(question.prompt)}")
                self._activity = shown.activity
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

    def note(self, words: str, left: str = "") -> None:
        """What is said again with less time left is not printed again: that would be many lines about one thing."""
        if not (left and words == self._noted):
            self._print(f"{words}{left}")
        self._noted = words

    def pause(self) -> None:
        """Nothing is redrawn here."""

    def end(self) -> None:
        """Nothing is redrawn here."""

    def _print(self, words: str) -> None:
        print(words, file=self._stream, flush=True)


def in_words(event: Event) -> str:
    """What happened to a run below the one that is shown, in a line; "" for what is not worth one."""
    match event.kind:
        case RunCreated(text=text):
            return f"begins: {one_line(text)[:80]}"
        case StepStarted(step=step):
            return title_of(step)
        case StepEnded(step_id=step_id, state=state):
            return f"{one_line(step_id)} {state}"
        case InputRequested(question=question):
            return f"asks: {one_line(question.prompt)}"
        case RunEnded(state=state):
            return f"{state}"
        case _:
            return ""
