"""Following a run to its end, or to where it needs a person: what is shown, what is printed, what is said."""

import sys
import time
from typing import TYPE_CHECKING

from aeon_cli.answers import AnswerWriter
from aeon_cli.checklist import Checklist
from aeon_cli.encoding import plain
from aeon_cli.exits import Exit
from aeon_cli.flowing import print_flowing
from aeon_cli.printable import json_line, one_line
from aeon_cli.terminals import look_at
from aeon_cli.titles import counted, duration_in_words
from aeon_cli.views import NoView, PlainView, View
from aeond_client.runs import RunState
from aeond_client.waiting import may_need_a_person, waits

if TYPE_CHECKING:
    from aeond_client.client import Client
    from aeond_client.following import Outage

_EXITS = {
    RunState.SUCCEEDED: Exit.ANSWERED,
    RunState.FAILED: Exit.FAILED,
    RunState.EXPIRED: Exit.EXPIRED,
    RunState.CANCELLED: Exit.CANCELLED,
    RunState.SUSPENDED: Exit.WAITING,
    RunState.AWAITING_INPUT: Exit.WAITING,
}


def follow(
    client: "Client",
    run_id: str,
    *,
    after_seq: int = 0,
    as_json: bool = False,
    quiet: bool = False,
    stay: bool = False,
    patience_seconds: float,
) -> Exit:
    """Shows a run until its end. With `stay` also while it waits for a person; else that ends it too."""
    view = choose_view(silent=as_json or quiet)
    writer = AnswerWriter(sys.stdout, look_at(sys.stdout))
    shown = Checklist()

    def tell(outage: "Outage | None") -> None:
        writer.break_off()
        view.note(_outage_in_words(outage) if outage else "The daemon is back.")

    watch = client.watch(run_id, after_seq, patience_seconds=patience_seconds, on_outage=tell)
    try:
        for event in watch:
            shown = shown.after(event, time.time())
            if as_json:
                print(json_line(plain(event)), flush=True)
            else:
                view.show(shown, event)
                if shown.answer_text and writer.streams:
                    view.end()
                    writer.stream(shown.answer_text)
            if may_need_a_person(event) and not stay and waits(client.get_run(run_id)):
                break
    finally:
        watch.close()
        view.end()
    if not as_json:
        if shown.answer is not None:
            writer.finish(shown.answer.text)
        _say_how_it_ended(run_id, shown, quiet=quiet)
    return _EXITS.get(shown.state, Exit.FAILED)


def choose_view(*, silent: bool) -> View:
    """What standard error can show."""
    if silent:
        return NoView()
    terminal = look_at(sys.stderr)
    if not terminal.live:
        return PlainView(sys.stderr, terminal)
    from aeon_cli.live import LiveView

    return LiveView(sys.stderr, terminal)


def _outage_in_words(outage: "Outage") -> str:
    left = duration_in_words(max(outage.patience_seconds - outage.waited_seconds, 0.0))
    if outage.error.reason == "DRAINING":
        return f"The daemon is stopping; waiting for its successor (at most {left})"
    return f"The daemon went away; waiting for it to come back (at most {left})"


def _say_how_it_ended(run_id: str, shown: Checklist, *, quiet: bool) -> None:
    """What is not in the answer: why there is none, what is missing, what it took."""
    words: list[str] = []
    match shown.state:
        case RunState.FAILED:
            why = f": {shown.problem.message} ({shown.problem.reason})" if shown.problem else "."
            words.append(f"The run failed{why}")
        case RunState.EXPIRED:
            bound = shown.exhausted.replace("_", " ") or "a bound"
            words.append(f"The budget ran out: {bound}. The answer is what could be done.")
        case RunState.CANCELLED:
            words.append("The run was cancelled.")
        case RunState.SUSPENDED | RunState.AWAITING_INPUT:
            words.append(f"The run waits for you: {shown.suspended}.")
            words.append(f"  look at it:  aeonctl show {run_id}")
            words.append(f"  decide:      aeonctl decide {run_id} retry|done|abort")
        case _:
            pass
    if shown.answer is not None and not quiet:
        words += [f"note: {note}" for note in shown.answer.notes]
    for line in words:
        print_flowing(line, sys.stderr)
    if look_at(sys.stderr).live and not quiet and shown.state.ended:
        _say_what_it_took(run_id, shown)


def _say_what_it_took(run_id: str, shown: Checklist) -> None:
    terminal = look_at(sys.stderr)
    took = [duration_in_words(shown.ended_time - shown.created_time)] if shown.created_time else []
    steps = [counted(len(shown.lines), "step")] if shown.lines else []
    words = ", ".join([*steps, *took, f"run {one_line(run_id)}"])
    if len(words) > terminal.columns:
        words = f"run {one_line(run_id)}"
    if shown.answer is not None:
        print(file=sys.stderr)
    dim, plain_again = ("\x1b[2m", "\x1b[0m") if terminal.colour else ("", "")
    print(f"{dim}{words}{plain_again}", file=sys.stderr)
