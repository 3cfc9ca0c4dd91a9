"""Guarantees of every tool that acts on the machine, beyond those of the tools that are always there."""

import os
import socket
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from aeond.capabilities.hands.desktop import desktop_tools, find_desktop
from aeond.capabilities.policy.inspecting import ToolInspector
from aeond.capabilities.policy.loading import load_policy
from aeond.capabilities.tools.function_tool import FunctionTool
from aeond.capabilities.tools.registry import Registry
from aeond.capabilities.tools.tool_check import tool_problems
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.policy import Origin, Verdict
from aeond.domain.tools import ToolCall
from tests.contract.test_tool_contract import all_tools, require_argument_checks, require_small_schemas
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.documents import pdf
from tests.support.hands import Hands, repository

NAMES = (
    "git_commit",
    "git_diff",
    "git_status",
    "notify",
    "open_on_desktop",
    "read_document",
    "run_command",
    "run_python",
)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "poem.txt").write_text("first line\n", encoding="utf-8")
    repository(folder)
    (folder / "poem.txt").write_text("first line\nsecond line\n", encoding="utf-8")
    (folder / "lease.pdf").write_bytes(pdf("The rent is 900."))
    (folder / "map.png").touch()
    return folder


@pytest.fixture
def tools(workspace: Path) -> Sequence[FunctionTool]:
    """All of them, over a desktop whose programs do nothing."""
    made, programs = Hands(workspace), workspace.parent / "programs"
    programs.mkdir()
    for name in ("busctl", "xdg-open"):
        (programs / name).symlink_to("/bin/true")
    environment = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere", "PATH": str(programs)}
    desktop = find_desktop(environment, made.files, WorkerThreads())
    assert desktop is not None
    return [*made.tools, *desktop_tools(desktop)]


def test_every_tool_is_under_contract(tools: Sequence[FunctionTool]) -> None:
    """The tools that this suite goes over are all that there are."""
    assert sorted(tool.spec.name for tool in tools) == list(NAMES)


@needs_bubblewrap
@pytest.mark.parametrize("name", NAMES)
async def test_every_tool_keeps_the_rules(tools: Sequence[FunctionTool], name: str, workspace: Path) -> None:
    """The check for authors reports nothing, and the example's result fits the schema."""
    (checked,) = [tool for tool in tools if tool.spec.name == name]
    assert await tool_problems(checked, str(workspace)) == ()


async def test_arguments_are_checked(tools: Sequence[FunctionTool], workspace: Path) -> None:
    """Missing, unknown and wrong arguments are refused by name before anything is run."""
    await require_argument_checks(tools, Hands(workspace).context)


def test_schemas_and_descriptions_suit_small_models(tools: Sequence[FunctionTool]) -> None:
    """Schemas keep to what every engine enforces, what a model writes is bounded, descriptions are short, and examples
    share no long word with those of other tools."""
    require_small_schemas((*all_tools(), *tools))


ESCAPES = {
    "read_outside": "cat {secret}",
    "read_environment": "cat /proc/{pid}/environ",
    "list_home": "ls {home}",
    "write_outside": "touch {secret}2 || cp {secret} .",
    "write_system": "touch /usr/bin/x",
    "follow_link": "cat link",
    "write_link": "echo x > link",
    "socket": 'python3 -c "import socket; socket.socket()"',
    "daemon_socket": "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('d.sock')\"",
    "mount": "unshare --user --mount true || mount -t tmpfs none /mnt",
    "set_id": "cp /bin/true t && chmod u+s t",
    "signal": "kill -0 {pid}",
    "device": "mknod d b 8 0",
}


@needs_bubblewrap
async def test_a_program_cannot_leave_its_sandbox(workspace: Path) -> None:
    """Every attempt of a program to reach files, processes, sockets or devices beyond its folder fails."""
    with tempfile.TemporaryDirectory(dir=Path.home()) as outside, socket.socket(socket.AF_UNIX) as listener:
        secret = Path(outside, "secret")
        secret.write_text("7321", encoding="utf-8")
        (workspace / "link").symlink_to(secret)
        listener.bind(str(workspace / "d.sock"))
        listener.listen()
        places = {"secret": secret, "home": outside, "pid": os.getpid()}
        script = "".join(f"({line.format(**places)}) && echo did-{name}\n" for name, line in ESCAPES.items())
        data = await Hands(workspace).done("run_command", argv=["sh", "-c", script])
        assert "did-" not in data["output"]
        assert "7321" not in data["output"]
        assert secret.read_text(encoding="utf-8") == "7321"
        assert os.listdir(outside) == ["secret"]


VERDICTS = {
    # name: from a model, directly, from a model with taint
    "ask": {
        "run_command": "ask allow ask",
        "run_python": "ask allow ask",
        "git_commit": "ask allow ask",
        "git_status": "allow allow allow",
        "git_diff": "allow allow allow",
        "read_document": "allow allow allow",
        "notify": "ask allow ask",
        "open_on_desktop": "ask ask ask",
    },
    "trusted-folder": {
        "run_command": "allow allow ask",
        "run_python": "allow allow ask",
        "git_commit": "allow allow ask",
        "git_status": "allow allow allow",
        "git_diff": "allow allow allow",
        "read_document": "allow allow allow",
        "notify": "allow allow ask",
        "open_on_desktop": "ask ask ask",
    },
    "observe": {
        "run_command": "deny deny deny",
        "run_python": "deny deny deny",
        "git_commit": "deny deny deny",
        "git_status": "allow allow allow",
        "git_diff": "allow allow allow",
        "read_document": "allow allow allow",
        "notify": "deny deny deny",
        "open_on_desktop": "deny deny deny",
    },
}


@pytest.mark.parametrize("profile", VERDICTS)
async def test_the_shipped_profiles_decide(
    tools: Sequence[FunctionTool], workspace: Path, profile: str
) -> None:
    """The profiles allow, ask about and deny each tool as the documentation of the policy says."""
    registry, policy = Registry(), load_policy(profile, None)
    for tool in tools:
        registry.register(tool)
    usual = Hands(workspace).context
    contexts = (usual, replace(usual, origin=Origin.DIRECT), replace(usual, taint=("host:example.org:443",)))
    decided = {}
    for tool in tools:
        call = ToolCall(tool.spec.name, tool.spec.example or {})
        facts = [await ToolInspector(registry).inspect(call, context) for context in contexts]
        decided[tool.spec.name] = " ".join(policy.decide(one).verdict for one in facts)
    assert decided == VERDICTS[profile]


async def test_a_rule_about_files_concerns_commands(tools: Sequence[FunctionTool], workspace: Path) -> None:
    """A rule that denies some files of the workspace denies programs that could change them."""
    registry = Registry()
    for tool in tools:
        registry.register(tool)
    file = workspace.parent / "policy.toml"
    file.write_text(
        'profile = "trusted-folder"\n[[deny]]\nname = "no"\nreason = "x"\nclasses = ["exec_contained"]\n'
        'paths = ["accounts/**"]\n',
        encoding="utf-8",
    )
    facts = await ToolInspector(registry).inspect(
        ToolCall("run_command", {"argv": ["ls"]}), Hands(workspace).context
    )
    assert load_policy("", file).decide(facts).verdict is Verdict.DENY
