"""Questions of a run: how they look, what an answer that was typed means, and asking at the terminal."""

import select
import sys
import time
from typing import TYPE_CHECKING, Any

from aeon_cli.printable import one_line, printable, shown_value
from aeon_cli.titles import duration_in_words
from aeond_client.errors import InvalidInputError, WrongStateError
from aeond_client.judgements import Question

if TYPE_CHECKING:
    from aeond_client.client import Client

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
    return lines


def lines_to_answer(run_id: str, question: Question) -> list[str]:
    """The same, and the command that answers it."""
    return [*lines_of(question, time.time()), f"  {how_to_answer(run_id, question)}"]


def value_of(question: Question, text: str) -> Any:
    """What a typed answer means: the number or the words of an option, text where text is wanted, JSON where
    it is JSON. The daemon judges whether it fits."""
    from aeon_cli.plans import json_value

    if question.options:
        if text not in question.options and text.isdecimal() and 0 < int(text) <= len(question.options):
            return question.options[int(text) - 1]
        return text
    return text if question.schema.get("type") == "string" else json_value(text)


def how_to_answer(run_id: str, question: Question) -> str:
    """The command that answers it from anywhere."""
    return f"aeonctl answer {run_id} {question.question_id} " + ("CHOICE" if question.options else "ANSWER")


def ask_person(client: "Client", run_id: str, question: Question) -> bool:
    """Asks at the terminal until the question is answered, by whomever. False when the person leaves it
    open (end of input)."""
    _say(*lines_of(question, time.time()))
    shown = f"[{one_line(shown_value(question.default))}] " if question.has_default else ""
    _prompt(shown)
    while _is_open(client, run_id, question):
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
        try:
            client.answer_run(
                run_id, value_of(question, text) if text else question.default, question.question_id
            )
        except InvalidInputError as error:
            _say(f"  {one_line(error.message)}")
            _prompt(shown)
        except WrongStateError:
            break
        else:
            return True
    _say("  (answered meanwhile)")
    return True


def _is_open(client: "Client", run_id: str, question: Question) -> bool:
    return any(q.question_id == question.question_id for q in client.get_run(run_id).questions)


def _say(*lines: str) -> None:
    for line in lines:
        print(line, file=sys.stderr)


def _prompt(shown: str) -> None:
    print(f"{shown}> ", end="", file=sys.stderr, flush=True)
