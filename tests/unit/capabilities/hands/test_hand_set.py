"""Which of the tools exist, and which of them models see."""

from pathlib import Path

import pytest

from aeond.capabilities.hands.desktop import find_desktop
from aeond.capabilities.hands.hand_set import hands
from aeond.capabilities.tools.worker_threads import WorkerThreads
from tests.support.hands import Hands


def names(tools: object) -> list[str]:
    return [tool.spec.name for tool in tools]  # type: ignore[attr-defined]


def test_without_sandbox_and_desktop_there_are_none() -> None:
    """Without a sandbox no tool runs a program, and without a desktop none reaches it."""
    assert hands(None, None, ("run_command",)) == []


def test_without_git_there_are_no_git_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tools of a program that is not installed do not exist."""
    assert {"git_status", "git_diff", "git_commit"} < set(names(Hands(tmp_path).tools))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert names(Hands(tmp_path).tools) == ["run_command", "run_python", "read_document"]


def test_the_desktop_adds_its_tools(tmp_path: Path) -> None:
    """With a desktop the tools whose programs are there exist as well."""
    (tmp_path / "busctl").touch(0o755)
    made = Hands(tmp_path)
    environment = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere", "PATH": str(tmp_path)}
    desktop = find_desktop(environment, made.files, WorkerThreads())
    assert names(hands(None, desktop, ())) == ["notify"]


def test_models_see_only_what_is_offered(tmp_path: Path) -> None:
    """Tools are listed to models only if the configuration names them; all others remain for plans and clients."""
    tools = hands(Hands(tmp_path).workshop, None, ("run_python",))
    assert [tool.spec.name for tool in tools if tool.spec.offered] == ["run_python"]


def test_approvals_cover_the_sandbox(tmp_path: Path) -> None:
    """Each tool that runs programs names the sandbox in which it does, so that an approval ends with a weaker one."""
    made = Hands(tmp_path)
    sandboxes = {tool.tool_code.sandbox for tool in hands(made.workshop, None, ("run_python",))}
    assert sandboxes == {made.workshop.profile}
    assert sandboxes != {""}
