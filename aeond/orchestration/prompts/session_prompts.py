"""The session part of a prompt as text."""

from collections.abc import Sequence
from typing import Final

NO_ANSWER: Final = "(no answer)"


def exchange_text(request: str, asked: Sequence[tuple[str, str]], answer: str) -> str:
    """One exchange; `asked` are the questions in between, each with the user's answer."""
    lines = [f"User: {request}"]
    for question, reply in asked:
        lines += [f"Assistant: {question}", f"User: {reply}"]
    return "\n".join([*lines, f"Assistant: {answer}"])


def session_text(goal: str, kept: str, questions: str, summary: str, recent: str) -> str:
    """A session from the parts that are not empty. `recent` are the exchanges that are quoted whole."""
    earlier = [
        f"The conversation began with this request:\n{goal}" if goal else "",
        f"The user said:\n{kept}" if kept else "",
        f"Still open:\n{questions}" if questions else "",
        f"Then, in short:\n{summary}" if summary else "",
    ]
    parts = [part for part in earlier if part]
    return "\n\n".join([*parts, f"Most recently:\n{recent}" if parts and recent else recent]).strip()


def listed(lines: Sequence[str], left_out: int = 0) -> str:
    """Lines as a list, with a note of how many older ones are left out."""
    note = [f"(older lines left out: {left_out})"] if left_out else []
    return "\n".join([*note, *(f"- {line}" for line in lines)])
