"""Questions of a run: how they look, what an answer that was typed means, and asking at the terminal."""

import select
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from aeon_cli.outages import BACK, in_words, outlasting
from aeon_cli.printable import one_line, printable, shown_value
from aeon_cli.titles import duration_in_words
from aeond_client.errors import InvalidInputError, WrongStateError
from aeond_client.judgements import Question

if TYPE_CHECKING:
    from aeond_client.client import Client
    from aeond_client.following import Outage
    from aeond_client.runs import Run

# Somebody else may answer meanwhile: so often it is looked whether the question is still open.
_LOOK_SECONDS = 1.0


def can_ask() -> bool:
    """Whether there is a person at both ends of this terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def lines_of(question: Question, now: float) -> list[str]:
    """The question with its options, and what happens if nobody answers."""
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
    """The same, and the command that answers it."""
    return [*lines_of(question, time.time()), f"  {how_to_answer(run_id, question)}"]


def value_of(question: Question, text: str) -> Any:
    """What a typed answer means: nothing for the default, the number or the words of an option, text where text is
    wanted, JSON where it is JSON. The daemon judges whether it fits."""
    from aeon_cli.plans import json_value

    if question.has_default and not text.strip() and text not in question.options:
        return question.default
    if question.options:
        if text not in question.options and text.isdecimal() and 0 < int(text) <= len(question.options):
            return question.options[int(text) - 1]
        return text
    return text if question.schema.get("type") == "string" else json_value(text)


def how_to_answer(run_id: str, question: Question) -> str:
    """The command that answers it from anywhere."""
    return f"aeonctl answer {run_id} {question.question_id} " + ("CHOICE" if question.options else "ANSWER")


def ask_person(client: "Client", run_id: str, question: Question, patience_seconds: float) -> bool:
    """Asks at the terminal until the question is answered, by whomever. False when the person leaves it
    open (end of input). A daemon that is away is waited for so long: the question survives it."""
    _say(*lines_of(question, time.time()))
    shown = f"[{one_line(shown_value(question.default))}] " if question.has_default else ""
    _prompt(shown)
    tell = _OutageTeller(shown)
    while _asks(run := outlasting(partial(client.get_run, run_id), run_id, patience_seconds, tell), question):
        ready, _, _ = select.select([sys.stdin], [], [], _LOOK_SECONDS)
        if not ready:
            continue
        line = sys.stdin.readline()
        if not line:
            _say("")
            return False
        text = line.strip()
        if not text and not question.has_default:
            _prompt(shown)
            continue
        answer = partial(client.answer_run, run_id, value_of(question, text), question.question_id)
        try:
            outlasting(answer, run_id, patience_seconds, tell)
        except InvalidInputError as error:
            _say(f"  {one_line(error.message)}")
            _prompt(shown)
        except WrongStateError:
            continue  # somebody was faster, or our own answer arrived although its reply did not
        else:
            return True
    _say(f"  ({_why_closed(run, question)})")
    return True


def _asks(run: "Run", question: Question) -> bool:
    return any(q.question_id == question.question_id for q in run.questions)


def _why_closed(run: "Run", question: Question) -> str:
    """Why a question that was open is not any more."""
    if run.cancel_requested:
        return "not asked any more: the run is cancelled"
    lapsed = question.deadline_time and time.time() >= question.deadline_time
    return "the time to answer is over" if lapsed else "answered meanwhile"


class _OutageTeller:
    """Tells of an outage between the prompt and the answer, once, and prompts again after it."""

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
                _say("")  # the end of the line with the prompt
            _say(f"  {words}{left}")
            self._told = words


def _say(*lines: str) -> None:
    for line in lines:
        print(line, file=sys.stderr)


def _prompt(shown: str) -> None:
    print(f"{shown}> ", end="", file=sys.stderr, flush=True)
