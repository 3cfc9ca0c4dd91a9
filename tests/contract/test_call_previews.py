"""Previews of calls by the invoker."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from pydantic import BaseModel

from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.capabilities.tools.invoker import GuardedInvoker
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.tools import Effect, ToolCall
from aeond.errors import ToolError
from aeond.ports.approvals import MAX_DIFF_CHARS
from tests.support.doubles import ScriptedTool
from tests.support.file_tools import FileTools
from tests.support.tools import CONTEXT, invoker_of

Show = Callable[[object, object], Awaitable[CallPreview]]


class Nothing(BaseModel):
    """No arguments and no data."""


def previews_of(show: Show | None) -> GuardedInvoker:
    @tool(effect=Effect.WRITE_CONTAINED, preview=show)
    def change(arguments: Nothing, context: object) -> Nothing:
        """Changes something."""
        raise AssertionError("a preview carries nothing out")

    made: FunctionTool = change
    return invoker_of(made)


async def test_a_preview_is_what_the_tool_shows() -> None:
    """It comes from the tool's own function, and the tool is not called."""

    async def show(_arguments: object, _context: object) -> CallPreview:
        return CallPreview(target="/a")

    assert await previews_of(show).preview(ToolCall("change"), CONTEXT) == CallPreview(target="/a")


async def test_a_tool_without_a_preview_has_an_empty_one() -> None:
    """A tool that shows nothing and one of another author; of one that does not exist it says so."""
    plain = invoker_of(ScriptedTool("plain"))
    for previews, name in ((previews_of(None), "change"), (plain, "plain")):
        assert await previews.preview(ToolCall(name), CONTEXT) == CallPreview()
    assert "no tool" in (await plain.preview(ToolCall("missing"), CONTEXT)).problem


@pytest.mark.parametrize(
    ("error", "problem"), [(ToolError("it is gone"), "it is gone"), (ValueError("odd"), "ValueError: odd")]
)
async def test_a_preview_that_fails_says_why(error: Exception, problem: str) -> None:
    """The call is shown with its arguments and the reason."""

    async def show(_arguments: object, _context: object) -> CallPreview:
        raise error

    assert await previews_of(show).preview(ToolCall("change"), CONTEXT) == CallPreview(problem=problem)


async def test_a_long_diff_is_cut_and_says_so() -> None:
    """A diff never fills the journal."""

    async def show(_arguments: object, _context: object) -> CallPreview:
        return CallPreview(diff="+" * (MAX_DIFF_CHARS + 1))

    shown = await previews_of(show).preview(ToolCall("change"), CONTEXT)
    assert (len(shown.diff), shown.problem) == (MAX_DIFF_CHARS, "the diff is cut off")


@pytest.fixture
def files(tmp_path: Path) -> FileTools:
    (tmp_path / "list.txt").write_text("milk\nbread\n")
    return FileTools(tmp_path)


async def shown(files: FileTools, name: str, **arguments: str) -> CallPreview:
    before = {path: path.read_bytes() for path in files.folder.iterdir()}
    preview = await files.invoker.preview(ToolCall(name, arguments), files.context("c1"))
    assert {path: path.read_bytes() for path in files.folder.iterdir()} == before
    return preview


@pytest.mark.parametrize(
    ("name", "arguments", "lines"),
    [
        ("write_file", {"content": "milk\neggs\n"}, [" milk", "-bread", "+eggs"]),
        ("edit_file", {"changes": [{"replace": "bread", "with": "rolls"}]}, [" milk", "-bread", "+rolls"]),
        ("append_file", {"text": "eggs"}, [" milk", " bread", "+eggs"]),
    ],
)
async def test_a_changed_file_is_shown_as_a_diff(
    files: FileTools, name: str, arguments: dict[str, str], lines: list[str]
) -> None:
    """The diff has the lines as they are and as they will be, and the file is not touched."""
    preview = await shown(files, name, path="list.txt", **arguments)
    assert preview.diff.splitlines()[:2] == ["--- a/list.txt", "+++ b/list.txt"]
    assert preview.diff.splitlines()[3:] == lines
    assert (preview.target, preview.problem) == (str(files.folder / "list.txt"), "")


async def test_a_new_file_is_shown_against_none(files: FileTools) -> None:
    """A file that does not exist yet comes from /dev/null; a missing last line end is said."""
    preview = await shown(files, "write_file", path="new.txt", content="x")
    assert preview.diff == "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"


async def test_a_move_shows_both_places(files: FileTools) -> None:
    """Source and target are the absolute paths; a deletion has only a source."""
    moved = await shown(files, "move_file", path="list.txt", to="old.txt")
    assert (moved.source, moved.target) == (str(files.folder / "list.txt"), str(files.folder / "old.txt"))
    deleted = await shown(files, "delete_file", path="list.txt")
    assert (deleted.source, deleted.target) == (str(files.folder / "list.txt"), "")


async def test_binary_content_is_not_shown_as_text(files: FileTools) -> None:
    """There is no diff of it, and the preview says so."""
    (files.folder / "list.txt").write_bytes(b"\0\1\2")
    preview = await shown(files, "write_file", path="list.txt", content="x")
    assert preview.diff == ""
    assert "binary" in preview.problem
