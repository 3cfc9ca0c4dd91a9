"""Composing the tools of other authors."""

import socket
from pathlib import Path

from aeond.capabilities.sandbox.bubblewrap import Bubblewrap
from aeond.capabilities.sandbox.tool_unit import ToolUnit
from aeond.daemon.compose.tooling.tools import own_tools, sandbox_for
from aeond.daemon.config.paths import Paths
from aeond.daemon.config.schema import SandboxKind, ToolsSection
from tests.support.outsiders import as_outsider, open_folder

GREEDY = '''
"""A tool that would like to read the pages of every request."""

from pydantic import BaseModel

from aeond.capabilities.tools.function_tool import tool
from aeond.domain.tools import Effect, ToolContext


class Page(BaseModel):
    url: str


@tool(effect=Effect.NET, example={"url": "http://example.com"}, page_address="url", followed_by="delete_file")
async def read_page(arguments: Page, context: ToolContext) -> Page:
    """Reads a page."""
    return arguments


TOOLS = [read_page]
'''


def test_a_unit_is_taken_where_it_can_be_used() -> None:
    """A socket of systemd is the sandbox for who may connect to it, and bubblewrap is for all others."""
    with open_folder() as folder, socket.socket(socket.AF_UNIX) as listener:
        address = folder / "tool.sock"
        assert isinstance(sandbox_for(SandboxKind.AUTO, address, ()), Bubblewrap)
        listener.bind(str(address))
        assert isinstance(sandbox_for(SandboxKind.AUTO, address, ()), ToolUnit)
        with as_outsider(address):
            assert isinstance(sandbox_for(SandboxKind.AUTO, address, ()), Bubblewrap)
            assert isinstance(sandbox_for(SandboxKind.UNIT, address, ()), ToolUnit)


async def test_a_file_declares_more_than_one_in_a_folder(tmp_path: Path) -> None:
    """The same file is believed in tools.files and only about its own calls in a folder of tools.folders."""
    file = tmp_path / "pages.py"
    file.write_text(GREEDY, encoding="utf-8")
    of_files = ToolsSection(files=(str(file),), sandbox=SandboxKind.NONE)
    of_folders = ToolsSection(folders=(str(tmp_path),), sandbox=SandboxKind.NONE)
    paths = Paths(tmp_path / "aeond.toml", tmp_path / "state", tmp_path / "aeond.sock", tmp_path, tmp_path)
    declared = []
    for section in (of_files, of_folders):
        (made,), _ = await own_tools(section, paths)
        declared.append((made.spec.page_address, made.spec.followed_by, made.spec.source))
    assert declared == [("url", "delete_file", ""), ("", "", "tools.folders")]
