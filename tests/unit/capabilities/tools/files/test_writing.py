"""The write_file tool."""

from pathlib import Path
from typing import Any

import pytest

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.files.writing import MAX_CONTENT_CHARS, write_file_tool
from aeond.capabilities.tools.invoker import GuardedInvoker
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.tools import Effect, Recovery, ToolCall
from tests.support.tools import CONTEXT, invoker_of, within


@pytest.fixture
def invoker() -> GuardedInvoker:
    return invoker_of(write_file_tool(ContainedFiles(resolve_in_kernel), WorkerThreads()))


def call(**arguments: Any) -> ToolCall:
    return ToolCall("write_file", arguments, "call1")


def test_a_restart_asks_the_tool() -> None:
    """Writing a whole file is an effect that a restart reconciles instead of asking a person."""
    spec = write_file_tool(ContainedFiles(resolve_in_kernel), WorkerThreads()).spec
    assert (spec.effect, spec.recovery) == (Effect.WRITE_CONTAINED, Recovery.RECONCILE)


async def test_text_is_written_as_it_is(invoker: GuardedInvoker, tmp_path: Path) -> None:
    """The file holds exactly the text, in UTF-8, and the result tells its size."""
    text = "one\r\ntwo\n\u00fc\U0001f600\0"
    result = await invoker.invoke(call(path="sub/a.txt", content=text), within(CONTEXT, tmp_path))
    assert result.data == {"path": "sub/a.txt", "size_bytes": len(text.encode())}
    assert (tmp_path / "sub" / "a.txt").read_bytes() == text.encode()


async def test_largest_text_is_written(invoker: GuardedInvoker, tmp_path: Path) -> None:
    """The longest text that is allowed is written, and one letter more is refused with nothing written."""
    context = within(CONTEXT, tmp_path)
    result = await invoker.invoke(call(path="a.txt", content="\u20ac" * MAX_CONTENT_CHARS), context)
    assert result.success
    result = await invoker.invoke(call(path="b.txt", content="x" * (MAX_CONTENT_CHARS + 1)), context)
    assert result.reason == "ARGUMENTS_INVALID"
    assert not (tmp_path / "b.txt").exists()


@pytest.mark.parametrize("path", ["../out.txt", "/etc/aeond-test", "sub/../../out.txt"])
async def test_nothing_is_written_outside(invoker: GuardedInvoker, tmp_path: Path, path: str) -> None:
    """A path that leads out of the workspace is refused."""
    workspace = tmp_path / "workspace"
    (workspace / "sub").mkdir(parents=True)
    result = await invoker.invoke(call(path=path, content="x"), within(CONTEXT, workspace))
    assert result.reason == "PATH_OUTSIDE"
    assert [path.name for path in tmp_path.iterdir()] == ["workspace"]


async def test_write_is_recognised_after_a_crash(invoker: GuardedInvoker, tmp_path: Path) -> None:
    """A file that holds the whole text counts as written; a part of it, more or something else does not."""
    context = within(CONTEXT, tmp_path)
    write = call(path="a.txt", content="whole")
    assert await invoker.reconcile(write, context) is None
    done = await invoker.invoke(write, context)
    recalled = await invoker.reconcile(write, context)
    assert recalled is not None
    assert recalled.data == done.data
    for other in ("whol", "whole and more", "other"):
        (tmp_path / "a.txt").write_text(other)
        assert await invoker.reconcile(write, context) is None


async def test_same_write_twice_is_the_same(invoker: GuardedInvoker, tmp_path: Path) -> None:
    """Writing the same text again leaves the same file and gives the same result."""
    context = within(CONTEXT, tmp_path)
    first = await invoker.invoke(call(path="a.txt", content="text"), context)
    second = await invoker.invoke(call(path="a.txt", content="text"), context)
    assert first.data == second.data
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
