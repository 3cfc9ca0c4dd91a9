from aeond.domain.tools import ToolCall
from aeond.domain.values import JsonObject
from aeond.orchestration.context.readable_outputs import readable, report


def test_a_text_is_shown_as_it_stands() -> None:
    """A file's text keeps its lines; a repeated argument and the marks of wholeness are left out."""
    output: JsonObject = {"path": "a.txt", "text": "one\ntwo\n", "truncated": False, "next_offset": 8}
    assert readable(output, ToolCall("read", {"path": "a.txt"})) == "one\ntwo"


def test_more_than_one_part_has_names() -> None:
    """The text comes first, and short parts with their names follow."""
    assert readable({"text": "one\ntwo", "lines": 2}) == "one\ntwo\n(lines: 2)"


def test_alike_entries_are_a_table() -> None:
    """The first line names the columns."""
    assert readable({"found": [{"n": 1, "m": "a"}, {"n": 2, "m": "b"}]}) == "n, m\n1, a\n2, b"


def test_an_empty_output_says_done() -> None:
    """A call without output has a result that a model can go on from."""
    assert readable({}) == "done"


def test_a_report_is_one_text_with_what_it_is_about() -> None:
    """What was done stands behind the name of the thing, without the names of the parts."""
    assert report({"path": "a.txt", "change": "added: oats\n"}) == "a.txt: added: oats"
    assert report("done") == "done"
