"""Follows a run until it ends or needs a person, and prints progress, answer and outcome."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from aeon_cli.exits import Exit
from aeon_cli.runs import approvals
from aeon_cli.runs.answer_writer import AnswerWriter
from aeon_cli.runs.checklist import Checklist
from aeon_cli.runs.outages import BACK, outlasting
from aeon_cli.runs.outages import in_words as outage_in_words
from aeon_cli.runs.questions import ask_person, can_ask, how_to_answer, lines_of
from aeon_cli.runs.views import PlainView, View, in_words
from aeon_cli.text.encoding import plain
from aeon_cli.text.printable import json_line, one_line
from aeon_cli.text.terminals import look_at
from aeon_cli.text.titles import counted, duration_in_words, effect_in_words
from aeon_cli.text.wrapping import print_flowing
from aeond_client.connection.waiting import may_need_a_person, waits
from aeond_client.events import ApprovalRequested, Event, InputRequested
from aeond_client.records.judgements import ApprovalRequest, Question
from aeond_client.records.runs import Run, RunState, StepState

if TYPE_CHECKING:
    from aeond_client.client import Client
    from aeond_client.watching.following import Outage

_EXITS = {
    RunState.SUCCEEDED: Exit.ANSWERED,
    RunState.FAILED: Exit.FAILED,
    RunState.EXPIRED: Exit.EXPIRED,
    RunState.CANCELLED: Exit.CANCELLED,
    RunState.SUSPENDED: Exit.WAITING,
    RunState.AWAITING_INPUT: Exit.WAITING,
}


@dataclass(frozen=True, slots=True)
class Showing:
    """Options for following a run: start after event `after_seq`; with `children`, include runs below it.

    Following ends when the run waits for a person and no terminal is available, unless `stay` is set. An
    unavailable daemon is waited for up to `patience_seconds`. `lend` is called with each of the run's
    events, and returns whether the terminal is handed over: then no progress is shown.
    """

    patience_seconds: float
    after_seq: int = 0
    as_json: bool = False
    quiet: bool = False
    stay: bool = False
    children: bool = False
    cancel_on_interrupt: bool = False
    lend: Callable[[Event], bool] | None = None


def follow(client: "Client", run_id: str, how: Showing) -> Exit:
    """Shows a run until its end. Questions of the run or of one below it are asked at the terminal. An
    interrupt detaches from the run, which continues unless it is to be cancelled on interrupt.
    """
    try:
        return _shown_to_its_end(client, run_id, how)
    except KeyboardInterrupt:
        if how.cancel_on_interrupt:
            client.cancel_run(run_id, "interrupted")
            print("\nCancelled.", file=sys.stderr)
            return Exit.CANCELLED
        print(
            f"\nThe run continues.\n  watch it again:  aeonctl watch {run_id}\n  cancel it:      "
            f" aeonctl cancel {run_id}",
            file=sys.stderr,
        )
        return Exit.INTERRUPTED


def _shown_to_its_end(client: "Client", run_id: str, how: Showing) -> Exit:
    silent = how.as_json or how.quiet
    view = choose_view(silent=silent)
    writer = AnswerWriter(sys.stdout, look_at(sys.stdout))
    shown = Checklist() if silent or not how.after_seq else _steps_before(client, run_id, how.after_seq)

    def report_outage(outage: "Outage | None") -> None:
        writer.break_off()
        if outage is None:
            view.note(BACK)
        else:
            view.note(*outage_in_words(outage))

    def look(run_id: str) -> Run:
        return outlasting(partial(client.get_run, run_id), run_id, how.patience_seconds, report_outage)

    def ask(run: Run, asked: Question | ApprovalRequest) -> bool:
        if isinstance(asked, ApprovalRequest):
            return approvals.ask_approval(client, run, asked, how.patience_seconds)
        return ask_person(client, run.run_id, asked, how.patience_seconds)

    asks = can_ask() and not silent
    held_up: Run | None = None
    watch = client.watch(
        run_id, how.after_seq, children=True, patience_seconds=how.patience_seconds, on_outage=report_outage
    )
    try:
        for event in watch:
            own = event.run_id == run_id
            shown = shown.after(event, time.time()) if own else shown
            lent = own and how.lend is not None and how.lend(event)
            if how.as_json:
                if own or how.children:
                    print(json_line(plain(event)), flush=True)
            elif lent:
                view.pause()
            elif own:
                view.show(shown, event)
                if shown.answer_text and writer.streams:
                    view.end()
                    writer.stream(shown.answer_text)
            elif how.children and (words := in_words(event)):
                view.note(f"  {event.run_id}: {words}")
            if may_need_a_person(event) and not how.stay:
                held_up = _held_up(look, event, view, ask if asks else None)
                if held_up is not None:
                    break
    finally:
        watch.close()
        view.end()
    if not how.as_json:
        if shown.answer is not None:
            writer.finish(shown.answer.text)
        _say_how_it_ended(run_id, shown, held_up, quiet=how.quiet)
    if held_up:
        return Exit.WAITING
    # A watch that starts after the last event receives no events.
    ended = shown.state if shown.state.ended else look(run_id).state
    return _EXITS.get(ended, Exit.FAILED)


def _steps_before(client: "Client", run_id: str, after_seq: int) -> Checklist:
    """The steps as of this event, so that later steps are numbered correctly; no other state is kept."""
    from aeon_cli.runs.details import events_so_far

    shown = Checklist()
    for event in events_so_far(client, client.get_run(run_id)):
        if event.seq <= after_seq:
            shown = shown.after(event, time.time())
    return Checklist(lines=shown.lines)


def _held_up(
    look: Callable[[str], Run],
    event: Event,
    view: View,
    ask: Callable[[Run, Question | ApprovalRequest], bool] | None,
) -> Run | None:
    """The run that started to wait at this event, if it still waits after a person at the terminal was
    asked.
    """
    run = look(event.run_id)
    if not waits(run):
        return None
    asked: Question | ApprovalRequest
    match event.kind:
        case InputRequested(question=question):
            asked = question
        case ApprovalRequested(approval=approval):
            asked = approval
        case _:
            return run
    if ask is None:
        return run
    view.pause()
    if asked not in (*run.questions, *run.approvals) or ask(run, asked):
        return None
    return look(event.run_id)


def choose_view(*, silent: bool) -> View:
    """The best view that standard error supports."""
    if silent:
        return View()
    terminal = look_at(sys.stderr)
    if not terminal.live:
        return PlainView(sys.stderr, terminal)
    from aeon_cli.runs.live import LiveView

    return LiveView(sys.stderr, terminal)


def _say_what_it_waits_for(run: Run) -> list[str]:
    """Prints the question or pending decision with the command that resolves it."""
    words = []
    for question in run.questions:
        words += [*lines_of(question, time.time()), f"  answer:      {how_to_answer(run.run_id, question)}"]
    for approval in run.approvals:
        words += approvals.lines_to_decide(run, approval)
    if not run.questions and not run.approvals:
        why = run.suspend_reason.replace("_", " ")
        words.append(f"  decide:      aeonctl decide {run.run_id} retry|done|abort ({why})")
    return words


def _say_how_it_ended(run_id: str, shown: Checklist, held_up: Run | None, *, quiet: bool) -> None:
    """Prints what the answer does not show: why it is missing, incomplete parts, resources used."""
    words: list[str] = []
    match shown.state:
        case RunState.FAILED:
            why = f": {shown.problem.message} ({shown.problem.reason})" if shown.problem else "."
            words.append(f"The run failed{why}")
        case RunState.EXPIRED:
            bound = shown.exhausted.replace("_", " ") or "a bound"
            words.append(f"The budget is exhausted: {bound}. The answer covers what was done.")
        case RunState.CANCELLED:
            words.append("The run was cancelled.")
        case _:
            pass
    if held_up is not None:
        why = f": {shown.suspended}" if shown.suspended else ""
        words.append(f"The run waits for you{why}.")
        words.append(f"  show it:     aeonctl show {held_up.run_id}")
        words += _say_what_it_waits_for(held_up)
    if shown.answer is not None and not quiet:
        words += map(effect_in_words, shown.answer.effects)
        words += [f"note: {note}" for note in shown.answer.notes]
    for line in words:
        print_flowing(line, sys.stderr)
    if look_at(sys.stderr).live and not quiet and shown.state.ended:
        _say_what_it_took(run_id, shown)


def _say_what_it_took(run_id: str, shown: Checklist) -> None:
    terminal = look_at(sys.stderr)
    took = [duration_in_words(shown.ended_time - shown.created_time)] if shown.created_time else []
    steps = [counted(len(shown.lines), "step")] if shown.lines else []
    unchanged = ["nothing was changed"] if _nothing_was_changed(shown) else []
    words = ", ".join([*steps, *unchanged, *took, f"run {one_line(run_id)}"])
    if len(words) > terminal.columns:
        words = f"run {one_line(run_id)}"
    if shown.answer is not None:
        print(file=sys.stderr)
    dim, plain_again = ("\x1b[2m", "\x1b[0m") if terminal.colour else ("", "")
    print(f"{dim}{words}{plain_again}", file=sys.stderr)


def _nothing_was_changed(shown: Checklist) -> bool:
    """Whether the record shows it: no effect, and no step of which the effects may be unknown."""
    succeeded = all(line.state is StepState.SUCCEEDED for line in shown.lines)
    return succeeded and shown.answer is not None and not shown.answer.effects
