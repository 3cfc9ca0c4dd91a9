"""Tools from people's own files."""

import os
import sys
from pathlib import Path

import pytest

from aeond.capabilities.tool_files import load_tool_files, load_tools
from aeond.errors import InvalidInputError
from aeond.ports.policy import StatesCode
from tests.support.repository import ROOT
from tests.support.tools import CONTEXT, call, invoker_of

TOOL_FILE = '''
from pydantic import BaseModel
from aeond.capabilities.tools.function_tool import tool
from aeond.domain.tools import Effect, ToolContext

class Arguments(BaseModel):
    text: str

class Result(BaseModel):
    text: str

@tool(effect=Effect.PURE)
def NAME(arguments: Arguments, context: ToolContext) -> Result:
    """Gives a text back."""
    return Result(text=arguments.text)

TOOLS = [NAME]
'''


def written(path: Path, source: str) -> Path:
    path.write_text(source, encoding="utf-8")
    path.chmod(0o644)
    return path


def shown_tool(page: str) -> str:
    """The tool file that a page shows in full."""
    blocks = (ROOT / page).read_text(encoding="utf-8").split("```python\n")[1:]
    (source,) = [block.split("```")[0] for block in blocks if "TOOLS = [" in block]
    return source


def refusal(path: Path) -> InvalidInputError:
    """The error, which names the file, and the key of the configuration that names it."""
    for field in ("tools.folders", "tools.files"):
        with pytest.raises(InvalidInputError) as refused:
            load_tool_files([path], field)
        assert str(path) in refused.value.message
        assert refused.value.field == field
    return refused.value


@pytest.mark.parametrize("page", ["README.md", "docs/adding-a-tool.md"])
async def test_text_of_the_page_is_a_tool(tmp_path: Path, page: str) -> None:
    """The file that a page shows for adding a tool loads, registers and counts words."""
    source = shown_tool(page)
    assert len([line for line in source.splitlines() if line.strip()]) <= 20
    (tool,) = load_tools(written(tmp_path / "count_words.py", source))
    result = await invoker_of(tool).invoke(call("count_words", text="to be or not to be"), CONTEXT)
    assert (result.success, result.data) == (True, {"words": 6})


def test_pages_show_the_same_tool() -> None:
    """The front page and the page on adding a tool show one and the same file."""
    assert shown_tool("README.md") == shown_tool("docs/adding-a-tool.md")


async def test_tools_of_several_files_are_loaded(tmp_path: Path) -> None:
    """The tools of all files come in order and work, also when annotations are written as text."""
    later = "from __future__ import annotations\n" + TOOL_FILE
    paths = [
        written(tmp_path / "one.py", TOOL_FILE.replace("NAME", "one")),
        written(tmp_path / "two.py", later.replace("NAME", "two")),
    ]
    tools = load_tool_files(paths)
    assert [tool.spec.name for tool in tools] == ["one", "two"]
    for tool in tools:
        assert await tool.execute({"text": "hi"}, CONTEXT) == {"text": "hi"}


def test_tools_have_the_digest_of_their_file(tmp_path: Path) -> None:
    """A changed file gives its tools another digest, also those that are objects of a class."""
    source = (
        "from aeond.domain.tools import ToolSpec\n"
        "class Own:\n"
        "    spec = ToolSpec('own', 'Own.', {'type': 'object'}, {})\n"
        "    async def execute(self, arguments, context): return 1\n"
        "TOOLS = [Own()]\n"
    )
    path = tmp_path / "tools.py"
    digests = set()
    for text in (source, source + "# other\n", TOOL_FILE.replace("NAME", "one")):
        (tool,) = load_tools(written(path, text))
        assert isinstance(tool, StatesCode)
        digests.add(tool.tool_code.digest)
    assert len(digests) == 3


def test_missing_file_is_reported(tmp_path: Path) -> None:
    """A file that is not there is refused by its path."""
    assert refusal(tmp_path / "none.py").reason == "TOOL_FILE_MISSING"


def test_folder_is_no_tool_file(tmp_path: Path) -> None:
    """A folder in place of a file is refused."""
    assert refusal(tmp_path).reason == "TOOL_FILE_MISSING"


@pytest.mark.parametrize(
    "source", ["", "TOOLS = []", "TOOLS = None", "TOOLS = 3"], ids=["nothing", "empty", "none", "number"]
)
def test_file_without_tools_is_reported(tmp_path: Path, source: str) -> None:
    """A file without a list of tools is refused with the line to add."""
    refused = refusal(written(tmp_path / "tools.py", source))
    assert refused.reason == "TOOL_FILE_EMPTY"
    assert "TOOLS = [" in refused.message


def test_an_object_that_is_no_tool_is_rejected(tmp_path: Path) -> None:
    """Something else in the list is refused by its position."""
    refused = refusal(written(tmp_path / "tools.py", "TOOLS = [print]"))
    assert refused.reason == "TOOL_FILE_BROKEN"
    assert "TOOLS[0]" in refused.message


@pytest.mark.parametrize(
    ("source", "reported"),
    [
        ("x = 1\n\ndef broken(:\n", "line 3: SyntaxError"),
        ("x = 1\ny = 1 / 0\n", "line 2: ZeroDivisionError"),
        ("import no_such_module_at_all", "line 1: ModuleNotFoundError"),
        ("\n\nraise SystemExit(1)", "line 3: SystemExit"),
        ("x = 1\0", "null bytes"),
        ("# coding: klingon\n", "SyntaxError"),
        (TOOL_FILE.replace("context: ToolContext", "context: Nothing"), "NameError"),
        (TOOL_FILE.replace(", context: ToolContext", ""), "line 12: TypeError"),
    ],
)
def test_broken_file_is_reported_with_its_line(tmp_path: Path, source: str, reported: str) -> None:
    """A file that does not compile or run is refused with the line and the error."""
    refused = refusal(written(tmp_path / "tools.py", source))
    assert refused.reason == "TOOL_FILE_BROKEN"
    assert reported in refused.message


def test_broken_file_leaves_no_module(tmp_path: Path) -> None:
    """A file that failed to run leaves nothing behind among the loaded modules."""
    before = set(sys.modules)
    refusal(written(tmp_path / "tools.py", "1 / 0"))
    assert {name for name in set(sys.modules) - before if name.startswith("aeond_tools_")} == set()


@pytest.mark.parametrize("within_one", [True, False], ids=["in one file", "in two files"])
def test_duplicate_names_are_reported(tmp_path: Path, within_one: bool) -> None:
    """Two tools of one name are refused with the file that had it first."""
    source = TOOL_FILE.replace("NAME", "one")
    first = written(tmp_path / "first.py", source + ("TOOLS = [one, one]" if within_one else ""))
    second = written(tmp_path / "second.py", source)
    with pytest.raises(InvalidInputError, match="'one' is defined in") as refused:
        load_tool_files([first] if within_one else [first, second])
    assert refused.value.reason == "TOOL_DUPLICATE"
    assert str(first) in refused.value.message


def test_file_that_everybody_may_write_is_refused(tmp_path: Path) -> None:
    """A file that any user could change is not run."""
    ran = tmp_path / "ran"
    path = written(tmp_path / "tools.py", f"open({str(ran)!r}, 'w').close()")
    path.chmod(0o646)
    assert refusal(path).reason == "TOOL_FILE_UNSAFE"
    assert not ran.exists()


def test_file_that_everybody_may_replace_is_refused(tmp_path: Path) -> None:
    """A file in a folder that any user could put another file into is not run, unless the folder is sticky."""
    folder = tmp_path / "open"
    folder.mkdir()
    path = written(folder / "tools.py", TOOL_FILE.replace("NAME", "one"))
    folder.chmod(0o777)
    assert refusal(path).reason == "TOOL_FILE_UNSAFE"
    folder.chmod(0o1777)
    assert [tool.spec.name for tool in load_tools(path)] == ["one"]


def test_link_is_judged_by_where_it_leads(tmp_path: Path) -> None:
    """A link to a file in a folder that any user may write to is refused like the file itself."""
    folder = tmp_path / "open"
    folder.mkdir()
    path = written(folder / "tools.py", TOOL_FILE.replace("NAME", "one"))
    folder.chmod(0o777)
    link = tmp_path / "link.py"
    link.symlink_to(path)
    assert refusal(link).reason == "TOOL_FILE_UNSAFE"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_file_of_another_user_is_refused(tmp_path: Path) -> None:
    """A file that belongs to neither root nor the daemon's own user is not run."""
    path = written(tmp_path / "tools.py", TOOL_FILE.replace("NAME", "one"))
    os.chown(path, 12345, 12345)
    assert refusal(path).reason == "TOOL_FILE_UNSAFE"


def test_huge_file_is_refused(tmp_path: Path) -> None:
    """A file of megabytes is refused before it is compiled."""
    assert refusal(written(tmp_path / "tools.py", "#" * 2_000_000)).reason == "TOOL_FILE_BROKEN"
