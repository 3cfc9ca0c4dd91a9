"""The answer on standard output."""

import io

import pytest

from aeon_cli.runs.answer_writer import AnswerWriter
from aeon_cli.text.terminals import Terminal

TERMINAL = Terminal(live=True, colour=True, unicode=True, columns=20, lines=24)
PIPE = Terminal(live=False, colour=False, unicode=True, columns=80, lines=24)


def printed(terminal: Terminal, *so_far: str, final: str) -> str:
    out = io.StringIO()
    writer = AnswerWriter(out, terminal)
    for text in so_far:
        writer.stream(text)
    writer.finish(final)
    return out.getvalue()


@pytest.mark.parametrize("final", ["It is 420.", "It is 420.\n", "It is 420.\n\n"])
def test_a_pipe_gets_the_answer_whole_and_once(final: str) -> None:
    """However it was written, a pipe reads the final answer with one line end."""
    assert printed(PIPE, "It", "It was", final=final) == "It is 420.\n"


def test_a_terminal_shows_nothing_twice() -> None:
    """Streamed text is not repeated at the end; only the missing rest is added."""
    assert printed(TERMINAL, "It ", "It is ", "It is 420.", final="It is 420.") == "It is 420.\n"
    assert printed(TERMINAL, "It ", final="It is 420.") == "It is 420.\n"
    assert printed(TERMINAL, final="It is 420.") == "It is 420.\n"


def test_another_answer_stands_apart() -> None:
    """An answer that is not what had streamed is printed whole after an empty line."""
    assert printed(TERMINAL, "It was 41", final="It is 420.") == "It was 41\n\nIt is 420.\n"


def test_a_break_in_the_middle_starts_a_line() -> None:
    """Something printed in between does not stand in the middle of a line of the answer."""
    out = io.StringIO()
    writer = AnswerWriter(out, TERMINAL)
    writer.stream("It is")
    writer.break_off()
    out.write("[a note]\n")
    writer.finish("It is 420.")
    assert out.getvalue() == "It is\n[a note]\n 420.\n"


def test_lines_break_between_words_on_a_terminal_only() -> None:
    """A terminal gets lines that fit, a pipe the text as it was written."""
    text = "one two three four five six"
    assert printed(TERMINAL, final=text) == "one two three four\nfive six\n"
    assert printed(PIPE, final=text) == text + "\n"
