"""Lists for people."""

import pytest

from aeon_cli.text.tables import print_table


def test_a_pipe_gets_whole_cells_in_columns(capsys: pytest.CaptureFixture[str]) -> None:
    """No heading, no cut: one item a line, each column where it was."""
    print_table(("A", "B", "C"), [("a", "日本", "x" * 200), ("long", "b", "y\nz")])
    assert capsys.readouterr().out == f"a     日本  {'x' * 200}\nlong  b     y z\n"


def test_an_empty_list_is_said_to_be_one(capsys: pytest.CaptureFixture[str]) -> None:
    """An empty list prints no headings; people see a message, and programs read nothing."""
    print_table(("A", "B"), [])
    assert capsys.readouterr() == ("", "")
    print_table(("A", "B"), [], nothing="There is none.")
    assert capsys.readouterr() == ("", "There is none.\n")


def test_a_cell_cannot_break_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Line ends and control characters in a cell are made harmless."""
    print_table(("A", "B"), [("a\nb", "\x1b[2J")])
    assert capsys.readouterr().out == "a b  \\x1b[2J\n"
