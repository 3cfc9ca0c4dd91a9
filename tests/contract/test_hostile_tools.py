"""A hostile tool in every sandbox: each of its attempts is refused by the Linux kernel, and its use is bounded.

`bwrap` is the whole sandbox. `runner` is the process alone, without what a systemd unit adds to it: its limits hold in
every sandbox. tests/system/test_isolation.py makes the same attempts in the real unit.
"""

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from aeond.capabilities.sandbox.bubblewrap import Bubblewrap
from aeond.capabilities.sandbox.cgroups import find_group_home
from aeond.capabilities.sandbox.confinement.landlock import version
from aeond.capabilities.sandbox.conversing import Sandbox
from aeond.capabilities.sandbox.sandboxed_tool import SandboxedTool, sandboxed_tools
from aeond.capabilities.sandbox.tool_unit import ToolUnit
from aeond.errors import ToolError
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.hostile_tools import ATTEMPTS, is_refused
from tests.support.repository import ROOT
from tests.support.tool_sockets import tool_socket
from tests.support.tools import CONTEXT, called, within

TOOL_FILES = [ROOT / "tests" / "support" / name for name in ("hostile_tools.py", "hostile_limits.py")]
MEMORY_BYTES = 1 << 30
OF_THE_UNIT = {"file_capability", "locked_memory"}
"""Refused by a unit's missing capabilities, which the runner alone has if root starts it."""
OF_LANDLOCK = ("read_", "write_", "signal_", "device", "environment_")
"""How attempts are called that Landlock refuses the runner alone; a unit's namespaces refuse them too."""


def runner_must_refuse(name: str) -> bool:
    """Whether the runner alone, on this machine, must refuse the attempt."""
    return not (name in OF_THE_UNIT and os.geteuid() == 0) and (
        version() > 0 or not name.startswith(OF_LANDLOCK)
    )


BWRAP = pytest.param("bwrap", marks=needs_bubblewrap)
KINDS = [BWRAP, "runner"]
OF_ALL = [name for name in ATTEMPTS if runner_must_refuse(name)]
OF_BWRAP = [name for name in ATTEMPTS if not runner_must_refuse(name)]


@dataclass
class Attacked:
    """A sandbox, the hostile tools in it, and how each attempt ended."""

    kind: str
    tools: dict[str, SandboxedTool]
    outcomes: dict[str, str]


@pytest.fixture(scope="module")
def attacked(request: pytest.FixtureRequest) -> Iterator[Attacked]:
    with ExitStack() as stack:
        # Every sandbox may use /tmp.
        outside = next(home for home in (Path.home(), ROOT, Path("/srv")) if not home.is_relative_to("/tmp"))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=outside)))
        if request.param == "bwrap":
            sandbox: Sandbox = Bubblewrap(groups=find_group_home())
        else:
            sandbox = ToolUnit(stack.enter_context(tool_socket(folder / "tool.sock")))
        workspace, secret = folder / "workspace", folder / "secret"
        workspace.mkdir()
        secret.write_text("7321", encoding="utf-8")
        for address in (str(workspace / "daemon.sock"), "\0aeond-hostile"):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(address)
            listener.listen()

        async def outcomes() -> Attacked:
            tools = {
                tool.spec.name: tool for tool in await sandboxed_tools(TOOL_FILES, sandbox, MEMORY_BYTES)
            }
            aims: dict[str, Any] = {"secret": str(secret), "pid": os.getpid()}
            answer: Any = await tools["attack"].execute(aims, within(CONTEXT, workspace))
            return Attacked(request.param, tools, answer["value"])

        yield anyio.run(outcomes)


@pytest.mark.parametrize("name", OF_ALL)
@pytest.mark.parametrize("attacked", KINDS, indirect=True)
def test_an_attempt_is_refused(attacked: Attacked, name: str) -> None:
    """An attempt of a hostile tool to leave its sandbox, or to use more than its share, is refused."""
    assert is_refused(name, attacked.outcomes[name]), attacked.outcomes[name]


@pytest.mark.parametrize("name", OF_BWRAP)
@pytest.mark.parametrize("attacked", [BWRAP], indirect=True)
def test_an_attempt_with_privileges_is_refused(attacked: Attacked, name: str) -> None:
    """An attempt that the rights of root, or a kernel without Landlock, would allow a process is refused in bubblewrap."""
    assert is_refused(name, attacked.outcomes[name]), attacked.outcomes[name]


@pytest.mark.parametrize("attacked", [BWRAP], indirect=True)
async def test_processes_are_bounded(attacked: Attacked) -> None:
    """A tool that multiplies reaches at most 64 processes."""
    if os.geteuid() == 0 and find_group_home() is None:
        pytest.skip("nothing counts the processes of root alone here: no control group, no user namespace")
    assert await called(attacked.tools["multiply"]) <= 64


@pytest.mark.parametrize("attacked", [BWRAP], indirect=True)
async def test_memory_is_bounded_in_all(attacked: Attacked) -> None:
    """The processes of a call cannot use more memory together than the call may use."""
    if find_group_home() is None:
        pytest.skip("there is no control group that this user may use: only each process has a bound")
    assert 0 < await called(attacked.tools["swell"]) <= MEMORY_BYTES // (200 << 20)


@pytest.mark.parametrize("attacked", [BWRAP], indirect=True)
async def test_files_in_memory_are_bounded(attacked: Attacked) -> None:
    """The file systems of a sandbox that are in memory hold a few hundred MiB."""
    written = await called(attacked.tools["fill_memory_disk"])
    assert sum(written.values()) <= 320


@pytest.mark.parametrize("attacked", KINDS, indirect=True)
async def test_time_is_bounded(attacked: Attacked) -> None:
    """A tool that takes off its clock and ignores every signal is ended all the same."""
    if attacked.kind == "bwrap":
        with anyio.move_on_after(2.0) as scope:
            await called(attacked.tools["outlast"])
        assert scope.cancelled_caught
        return
    quick = attacked.tools["outlast"]
    quick = replace(quick, spec=replace(quick.spec, timeout_seconds=0.1))
    with anyio.fail_after(60), pytest.raises(ToolError) as caught:
        await called(quick)
    assert caught.value.reason == "SANDBOX_ENDED"
