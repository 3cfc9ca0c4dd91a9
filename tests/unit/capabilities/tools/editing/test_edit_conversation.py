from dataclasses import replace
from pathlib import Path

import pytest

from aeond.capabilities.tools.editing.edit_conversation import (
    CHANGES,
    MAX_CHANGES,
    MAX_SEEN_BYTES,
    MAX_SHOWN_LINES,
    EditConversation,
    names_of,
)
from aeond.capabilities.tools.editing.writing import EditFileArguments
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.trust import trust_all
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.tools import CompositionView
from aeond.domain.values import JsonValue
from aeond.schemas.checker import SchemaChecker
from tests.support.tools import CONTEXT

LIST = "# To pack\n- rope\n- map\n\n- rope\n"


async def shown_of(
    folder: Path,
    text: str | bytes,
    request: str = "drop the map",
    *,
    name: str = "list.md",
    trusted: bool = True,
) -> CompositionView | None:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    trusts = trust_all if trusted else lambda _path, _workspace: False
    conversation = EditConversation(ContainedFiles(resolve_in_kernel), WorkerThreads(), trusts)
    path = {"path": name.partition(".")[0]}
    return await conversation.view(path, replace(CONTEXT, workspace=str(folder)), request)


def admits(view: CompositionView, value: JsonValue) -> bool:
    return not SchemaChecker().check(value, view.schema, "CHANGES")


async def test_the_file_is_in_view_and_its_lines_are_values(tmp_path: Path) -> None:
    """The view shows the whole file that the path means, and the changes may name its lines and no others, list items without their markers."""
    view = await shown_of(tmp_path, LIST)
    assert view is not None
    assert view.text == f"list.md:\n{LIST.rstrip()}"
    added = {"add": "- tent", "below": "map"}
    assert admits(view, [{"remove": "map"}, {"replace": "rope", "with": "- cord"}, added])
    for wrong in (
        [{"remove": "- map"}],
        [{"remove": "tent"}],
        [{"remove": ""}],
        [],
        [{"add": "a"}] * (MAX_CHANGES + 1),
    ):
        assert not admits(view, wrong)


async def test_a_table_is_declared_and_changed_by_statements(tmp_path: Path) -> None:
    """A csv file with a header is in view as its declaration, and the changes are statements over its rows."""
    view = await shown_of(tmp_path, "what,metres\nrope,30\noar,3\n", "used 4 m of the rope", name="stock.csv")
    assert view is not None
    assert view.text.startswith("CREATE TABLE stock (\n  what TEXT, -- 'rope', 'oar'")
    assert admits(view, [{"sql": "UPDATE stock SET metres = metres - 4 WHERE what = 'rope'"}])
    assert not admits(view, [{"add": "anchor,1"}])


async def test_items_of_a_list_on_one_line_are_values(tmp_path: Path) -> None:
    """An item of a JSON list may be named besides the line that the list stands on, in a JSON file alone."""
    text = '{"tools": ["saw", "file"], "n": 2}\n'
    changes: JsonValue = [{"remove": '"saw"'}, {"add": '"axe"', "below": text.strip()}]
    view = await shown_of(tmp_path, text, "I lost the saw", name="box.json")
    assert view is not None
    assert admits(view, changes)
    other = await shown_of(tmp_path, text, "I lost the saw", name="list.md")
    assert other is not None
    assert not admits(other, changes)


async def test_equal_settings_are_values_with_their_sections(tmp_path: Path) -> None:
    """A line that stands in two sections of settings may be named with one of them, and not without."""
    text = "[left]\non = yes\n\n[right]\non = yes\n"
    view = await shown_of(tmp_path, text, "the right lamp is off", name="lamps.ini")
    assert view is not None
    assert view.text == f"lamps.ini:\n{text.rstrip()}"
    assert admits(view, [{"replace": "[right] on = yes", "with": "on = no"}, {"remove": "[left]"}])
    assert not admits(view, [{"remove": "on = yes"}])


async def test_what_a_model_copies_or_makes_up_is_not_meant(tmp_path: Path) -> None:
    """The view says what changes mean: a note that is copied into a new row is left out, and a change that shares nothing with what was said is none."""
    view = await shown_of(
        tmp_path, "day,litres,note\nMon,40,\nTue,0,algae\n", "40 litres on Wed", name="tank.csv"
    )
    assert view is not None
    added = {"sql": "INSERT INTO tank VALUES ('Wed', 40, 'algae')"}
    assert view.meant([added], "40 litres on Wed") == [{"sql": "INSERT INTO tank VALUES ('Wed', 40, NULL)"}]
    assert view.meant([added], "dim the lights") is None
    assert view.meant("none", "dim the lights") == "none"


async def test_a_list_of_records_is_declared_as_a_table(tmp_path: Path) -> None:
    """A JSON file with a list of flat objects is in view as the declaration of a table, in which true and false are texts."""
    view = await shown_of(
        tmp_path, '[{"no": 7, "paid": false},\n {"no": 8, "paid": true}]\n', "7 is paid", name="orders.json"
    )
    assert view is not None
    assert view.text.startswith("CREATE TABLE orders (\n  no REAL, -- 7, 8\n  paid TEXT -- 'false', 'true'")
    assert admits(view, [{"sql": "UPDATE orders SET paid = 'true' WHERE no = 7"}])
    assert not admits(view, [{"add": '{"no": 9, "paid": true}'}])


@pytest.mark.parametrize(
    ("request_", "is_table"),
    [
        ("Riga is paid, note it in parts.json", True),
        ("it comes on 16 June", False),
        ("expected from Riga on 16 June", False),
    ],
)
async def test_rows_that_are_named_are_changed_by_statements(
    tmp_path: Path, request_: str, *, is_table: bool
) -> None:
    """A JSON file that says something besides its list is in view as a table where the request names one of its rows and nothing besides; otherwise
    with its lines, which statements could not change."""
    begin, rows = (
        '{"expected": "2026-06-09", "of": "parts",',
        '"parts": [{"no": 7, "city": "Lund"}, {"no": 8, "city": "Riga"}]}\n',
    )
    view = await shown_of(tmp_path, f"{begin}\n {rows}", request_, name="parts.json")
    assert view is not None
    assert view.text.startswith("CREATE TABLE parts (") is is_table
    change = {"replace": begin, "with": '{"expected": "2026-06-16", "of": "parts",'}
    assert admits(view, [change]) is not is_table
    view = await shown_of(tmp_path, f"{begin} {rows}", request_, name="parts.json")
    assert view is not None
    assert "CREATE TABLE" not in view.text


def test_equal_list_items_keep_their_markers() -> None:
    """A list item whose text is that of another line is named with its marker."""
    assert names_of(["# Week", "- [ ] swim", "- [x] read", "* swim"]) == [
        "# Week",
        "- [ ] swim",
        "read",
        "* swim",
    ]


def test_the_examples_are_valid_changes() -> None:
    """Each worked example has the form of the changes that the tool takes."""
    for view, _request, value in CHANGES.examples:
        EditFileArguments.model_validate({"path": view.partition(":")[0], "changes": value})


async def test_a_long_file_is_shown_by_the_lines_near_the_request(tmp_path: Path) -> None:
    """Of a long file the first line, the last ones and those near the request are shown, with the gaps marked."""
    lines = [f"line {number}" for number in range(MAX_SHOWN_LINES * 3)]
    lines[70] = "the lighthouse keeper"
    view = await shown_of(tmp_path, "\n".join(lines), "who keeps the lighthouse")
    assert view is not None
    shown = view.text.splitlines()
    assert shown[:4] == ["list.md:", "line 0", "...", "the lighthouse keeper"]
    assert shown[-3:] == lines[-3:]
    assert not admits(view, [{"remove": "..."}])


async def test_long_lines_are_shown_as_far_as_they_are_near_the_request(tmp_path: Path) -> None:
    """A file whose few lines are too long together is shown like one of many lines."""
    lines = [f"{number} {'word ' * 30}" for number in range(50)]
    lines[20] = "the lighthouse keeper"
    view = await shown_of(tmp_path, "\n".join(lines), "who keeps the lighthouse")
    assert view is not None
    assert "...\nthe lighthouse keeper\n..." in view.text
    assert len(view.text) < 1_000


@pytest.mark.parametrize(
    "text", [b"caf\xe9", b"a\0b", b"", b"--\n", b"x" * (MAX_SEEN_BYTES + 1), b"x" * 5_000]
)
async def test_what_cannot_be_shown_begins_no_conversation(tmp_path: Path, text: bytes) -> None:
    """No conversation begins about a file that is no text, has no line to name, or is too large to show."""
    assert await shown_of(tmp_path, text) is None


async def test_an_untrusted_file_begins_no_conversation(tmp_path: Path) -> None:
    """The content of an untrusted file does not reach a conversation before a run has read it."""
    assert await shown_of(tmp_path, LIST, trusted=False) is None
