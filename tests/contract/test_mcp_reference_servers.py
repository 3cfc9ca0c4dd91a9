"""The reference MCP servers, as a user would configure them: everything, filesystem, git and fetch."""

import subprocess
from collections.abc import AsyncIterator, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from aeond.capabilities.mcp.settings import Open
from aeond.daemon.clocks import SystemClock
from aeond.daemon.compose.tooling.mcp import process_wire
from aeond.daemon.config.network_sections import McpNetwork, McpSection
from aeond.domain.runs.live_updates import Progress
from aeond.domain.runs.questions import InputRequest
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.mcp_world import McpWorld, mcp_world
from tests.support.repository import ROOT

SERVERS = ROOT / "tests" / "mcp_servers"
ENVIRONMENT = ROOT / ".venv-mcp"
PAGE = b"<html><body><h1>Opening hours</h1><p>The shop is open on Sundays.</p></body></html>"

pytestmark = needs_bubblewrap


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    """Installs the servers where `make mcp-servers` has not."""
    subprocess.run([SERVERS / "build"], check=True, capture_output=True)


@pytest.fixture
async def world() -> AsyncIterator[McpWorld]:
    async with mcp_world() as made:
        yield made


def node_server(name: str, *arguments: str, **settings: Any) -> Open:
    program = SERVERS / "node_modules" / "@modelcontextprotocol" / f"server-{name}" / "dist" / "index.js"
    section = McpSection(
        command="node", args=(str(program), *arguments), readable=(str(SERVERS),), **settings
    )
    return partial(process_wire, section, (), SystemClock())


def python_server(name: str, *arguments: str, **settings: Any) -> Open:
    section = McpSection(
        command=str(ENVIRONMENT / "bin" / "python"),
        args=("-m", name, *arguments),
        readable=(str(ENVIRONMENT),),
        **settings,
    )
    return partial(process_wire, section, (), SystemClock())


async def test_everything(world: McpWorld) -> None:
    """Echo, arithmetic, structured results, progress and questions of the server that shows every feature."""
    await world.use(node_server("everything", "stdio"))
    assert world.servers.states == {"demo": ""}
    assert (await world.call("echo", message="hi")).data == "Echo: hi"
    assert "5" in str((await world.call("get_sum", a=2, b=3)).data)
    weather = await world.call("get_structured_content", location="Chicago")
    assert isinstance(weather.data, dict)
    assert (await world.call("trigger_long_running_operation", duration=0.2, steps=2)).success
    assert any(isinstance(update, Progress) and update.fraction > 0 for update in world.updates)
    asked = await world.call("trigger_elicitation_request")
    assert isinstance(asked.request, InputRequest)
    declined = await world.call("trigger_elicitation_request", answer="(decline)")
    assert "declined" in str(declined.data)


async def test_filesystem(world: McpWorld, tmp_path: Path) -> None:
    """The server writes into the folder that is declared; the sandbox keeps it from the folders that are not."""
    shared, private = tmp_path / "shared", tmp_path / "private"
    shared.mkdir()
    private.mkdir()
    (private / "secret.txt").write_text("secret", encoding="utf-8")
    await world.use(node_server("filesystem", str(shared), "/", writable=(str(shared),)))
    note = str(shared / "note.txt")
    assert (await world.call("write_file", path=note, content="milk")).success
    assert Path(note).read_text(encoding="utf-8") == "milk"
    read = await world.call("read_text_file", path=note)
    assert (read.data, read.taint) == ({"content": "milk"}, ("mcp:demo",))
    kept = await world.call("read_text_file", path=str(private / "secret.txt"))
    assert kept.reason == "MCP_TOOL_FAILED"
    assert "permission denied" in kept.error


async def test_git(world: McpWorld, tmp_path: Path) -> None:
    """The server commits in the repository that is declared."""
    repository = str(tmp_path / "repository")
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    subprocess.run(["git", "init", "-q", "-b", "main", repository], check=True)
    commit = ["git", "-C", repository, *identity, "commit", "-q", "--allow-empty", "-m", "begin"]
    subprocess.run(commit, check=True)
    Path(repository, "a.txt").write_text("a\n", encoding="utf-8")
    await world.use(python_server("mcp_server_git", "--repository", repository, writable=(repository,)))
    assert world.servers.states == {"demo": ""}
    assert "a.txt" in str((await world.call("git_status", repo_path=repository)).data)
    assert (await world.call("git_add", repo_path=repository, files=["a.txt"])).success
    assert "begin" in str((await world.call("git_log", repo_path=repository)).data)


@pytest.fixture
def site() -> Iterator[str]:
    """A page on a port of the loopback."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Site) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/hours"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("network", list(McpNetwork))
async def test_fetch(world: McpWorld, site: str, network: McpNetwork) -> None:
    """The server reads a page if its network is declared, and nothing otherwise."""
    await world.use(
        python_server("mcp_server_fetch", "--ignore-robots-txt", "--allow-private-ips", network=network)
    )
    fetched = await world.call(
        "fetch", url=site, raw=True
    )  # readable text needs packages that are not pinned
    if network is McpNetwork.HOST:
        assert "The shop is open on Sundays." in str(fetched.data)
    else:
        assert fetched.reason in {"MCP_TOOL_FAILED", "MCP_ERROR"}
