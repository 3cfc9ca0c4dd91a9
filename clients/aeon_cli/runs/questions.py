"""Questions of a run: display, parsing of typed answers, and prompting at the terminal."""

import select
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from aeon_cli.runs.outages import BACK, in_words, outlasting
from aeon_cli.text.printable import one_line, printable, shown_value
from aeon_cli.text.titles import duration_in_words
from aeond_client.errors import InvalidInputError, WrongStateError
from aeond_client.records.judgements import Question

if TYPE_CHECKING:
    from aeond_client.client import Client
    from aeond_client.records.runs import Run
    from aeond_client.watching.following import Outage

# Another client may answer first: the interval at which the question is checked.
_LOOK_SECONDS = 1.0


def can_ask() -> bool:
    """Whether standard input and standard error are both terminals."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def lines_of(question: Question, now: float) -> list[str]:
    """The question with its options and its default or deadline."""
    lines = [f"? {printable(question.prompt)}"]
    lines += [f"  {number}) {one_line(option)}" for number, option in enumerate(question.options, start=1)]
    if not question.options and question.schema.get("type", "string") != "string":
        lines.append(f"  (JSON: {one_line(shown_value(question.schema))})")
    if question.deadline_time:
        left = duration_in_words(max(question.deadline_time - now, 0.0))
        then = one_line(shown_value(question.default)) if question.has_default else "the step fails"
        lines.append(f"  (within {left}, else: {then})")
    elif question.has_default:
        lines.append(f"  (default: {one_line(shown_value(question.default))})")
    return lines


def lines_to_answer(run_id: str, question: Question) -> list[str]:
    """The same, with the command that answers it."""
    return [*lines_of(question, time.time()), f"  {how_to_answer(run_id, question)}"]


def value_of(question: Question, text: str) -> Any:
    """Converts a typed answer: empty text for the default, number or text of an option, text where text is
    expected, otherwise JSON. The daemon validates the result.
    """
    from aeon_cli.plans import json_value

    if question.has_default and not text.strip() and text not in question.options:
        return question.default
    if question.options:
        if text not in question.options and text.isdecimal() and 0 < int(text) <= len(question.options):
            return question.options[int(text) - 1]
        return text
    return text if question.schema.get("type") == "string" else json_value(text)


def how_to_answer(run_id: str, question: Question) -> str:
    """The command that answers the question."""
    return f"aeonctl answer {run_id} {question.question_id} " + ("CHOICE" if question.options else "ANSWER")


def ask_person(client: "Client", run_id: str, question: Question, patience_seconds: float) -> bool:
    """Prompts until the question is answered, here or by another client. Returns False if the user leaves it
    open (end of input). Waits up to `patience_seconds` for an unavailable daemon: the question survives.
    """
    _say(*lines_of(question, time.time()))

    def take(text: str) -> Callable[[], object] | None:
        if not text and not question.has_default:
            return None
        return partial(client.answer_run, run_id, value_of(question, text), question.question_id)

    return converse(
        client,
        run_id,
        shown=f"[{one_line(shown_value(question.default))}] " if question.has_default else "",
        is_open=lambda run: any(one.question_id == question.question_id for one in run.questions),
        take=take,
        deadline_time=question.deadline_time,
        expired="closed: the time to answer is over",
        settled="already answered",
        patience_seconds=patience_seconds,
    )


def converse(
    client: "Client",
    run_id: str,
    *,
    shown: str,
    is_open: "Callable[[Run], bool]",
    take: "Callable[[str], Callable[[], object] | None]",
    deadline_time: float,
    expired: str,
    settled: str,
    patience_seconds: float,
) -> bool:
    """Prompts until a typed line has been sent to the daemon. `take` makes a line into the call that sends it, or None
    to prompt again. Returns False at the end of input, otherwise True. If nothing is open any more without a typed line,
    says why: the run is cancelled, `expired` after `deadline_time` (0: no limit), else `settled`, by another client. Waits
    up to `patience_seconds` for an unavailable daemon.
    """
    _prompt(shown)
    report = _OutageReporter(shown)
    while is_open(run := outlasting(partial(client.get_run, run_id), run_id, patience_seconds, report)):
        ready, _, _ = select.select([sys.stdin], [], [], _LOOK_SECONDS)
        if not ready:
            continue
        line = sys.stdin.readline()
        if not line:
            _say("")
            return False
        send = take(line.strip())
        if send is None:
            _prompt(shown)
            continue
        try:
            outlasting(send, run_id, patience_seconds, report)
        except InvalidInputError as error:
            _say(f"  {one_line(error.message)}")
            _prompt(shown)
        except WrongStateError:
            continue  # another client was faster, or our answer arrived although its reply was lost
        else:
            return True
    why = expired if deadline_time and time.time() >= deadline_time else settled
    _say(f"  ({'closed: the run is cancelled' if run.cancel_requested else why})")
    return True


class _OutageReporter:
    """Reports an outage between the prompt and the answer, once, and prints the prompt again afterwards."""

    def __init__(self, prompt: str) -> None:
        self._prompt = prompt
        self._told = ""

    def __call__(self, outage: "Outage | None") -> None:
        if outage is None:
            self._told = ""
            _say(f"  {BACK}")
            _prompt(self._prompt)
            return
        words, left = in_words(outage)
        if words != self._told:
            if not self._told:
                _say("")  # end the line of the prompt
            _say(f"  {words}{left}")
            self._told = words


def _say(*lines: str) -> None:
    for line in lines:
        print(line, file=sys.stderr)


def _prompt(shown: str) -> None:
    print(f"{shown}> ", end="", file=sys.stderr, flush=True)
