"""Facts of calls as their tools report them."""

from dataclasses import replace
from pathlib import Path

import pytest

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.policy.inspecting import ToolInspector
from aeond.capabilities.sandbox.foreign_tool import ForeignTool
from aeond.capabilities.tools.builtin.tool_set import builtin_tools
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import best_resolver
from aeond.capabilities.tools.registry import Registry
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.policy import Access, CallFacts, Effect, Origin, Target, TargetKind, call_digest
from aeond.domain.tools import ToolCall, ToolCode, ToolContext, ToolSpec
from aeond.domain.values import JsonObject
from aeond.errors import NotFoundError, ToolError
from aeond.ports.policy import reports_targets
from tests.support.doubles import ManualClock
from tests.support.memory import InMemoryMemory
from tests.support.tools import FreeTool
from tests.support.undo import InMemoryUndoLog


@pytest.fixture
def inspector() -> ToolInspector:
    registry, memory = Registry(), InMemoryMemory()
    files = ContainedFiles(best_resolver())
    for tool in builtin_tools(ManualClock(), memory, files, WorkerThreads(), NoEmbedder(), InMemoryUndoLog()):
        registry.register(tool)
    registry.register(ForeignTool(FreeTool(), Effect.EXEC_CONTAINED))
    return ToolInspector(registry)


async def inspected(inspector: ToolInspector, folder: Path, tool: str, **arguments: object) -> CallFacts:
    context = ToolContext("r", "s1", "c", str(folder), None, 1000, Origin.CLIENT, ("host:a:1",))
    return await inspector.inspect(ToolCall(tool, arguments), context)  # type: ignore[arg-type]


async def test_the_run_is_part_of_the_facts(inspector: ToolInspector, tmp_path: Path) -> None:
    """Taint, origin, owner and workspace are those of the run."""
    facts = await inspected(inspector, tmp_path, "now")
    assert (facts.taint, facts.origin, facts.uid, facts.workspace) == (
        ("host:a:1",),
        Origin.CLIENT,
        1000,
        str(tmp_path),
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "targets"),
    [
        ("write_file", {"path": "new.txt", "content": "x"}, [("new.txt", Access.WRITE, False)]),
        ("write_file", {"path": "A.TXT", "content": "x"}, [("a.txt", Access.WRITE, True)]),
        ("write_file", {"path": "./x/../x/y", "content": "x"}, [("x/y", Access.WRITE, False)]),
        ("write_file", {"path": "link/new", "content": "x"}, [(".git/hooks/new", Access.WRITE, False)]),
        ("append_file", {"path": "a", "text": "x"}, [("a.txt", Access.WRITE, True)]),
        (
            "edit_file",
            {"path": "a.txt", "changes": [{"replace": "1", "with": "2"}]},
            [("a.txt", Access.WRITE, True)],
        ),
        ("delete_file", {"path": "a.txt"}, [("a.txt", Access.DELETE, True)]),
        (
            "move_file",
            {"path": "a.txt", "to": "b"},
            [("a.txt", Access.DELETE, True), ("b", Access.WRITE, False)],
        ),
        ("read_file", {"path": "a.txt"}, [("a.txt", Access.READ, True)]),
        ("search_files", {"text": "x"}, [("", Access.READ, True)]),
        ("query_table", {"path": "t.csv"}, [("t.csv", Access.READ, True)]),
    ],
)
async def test_files_by_their_real_names(
    inspector: ToolInspector,
    tmp_path: Path,
    tool: str,
    arguments: dict[str, object],
    targets: list[tuple[str, Access, bool]],
) -> None:
    """A target is the file that the call will touch, with links resolved, however its path is written."""
    (tmp_path / ".git/hooks").mkdir(parents=True)
    (tmp_path / "x").mkdir()
    (tmp_path / "link").symlink_to(".git/hooks")
    (tmp_path / "a.txt").write_text("1")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    facts = await inspected(inspector, tmp_path, tool, **arguments)
    assert facts.targets_known
    assert list(facts.targets) == [
        Target(TargetKind.FILE, f"{tmp_path}/{name}", access, exists) for name, access, exists in targets
    ]


async def test_a_fact_by_the_key_that_it_has(inspector: ToolInspector, tmp_path: Path) -> None:
    """The key of a new fact is the one that will be stored."""
    facts = await inspected(inspector, tmp_path, "remember", key="door_code", value="1")
    assert facts.effect is Effect.MEMORY
    assert facts.targets == (Target(TargetKind.MEMORY, "door code", Access.WRITE, exists=False),)


async def test_a_tool_of_another_author_is_not_believed(inspector: ToolInspector, tmp_path: Path) -> None:
    """A hostile tool file declared PURE and wrote the workspace; it counts as a sandboxed program now."""
    facts = await inspected(inspector, tmp_path, "give_back", text="x")
    assert (facts.effect, facts.foreign, facts.targets_known) == (Effect.EXEC_CONTAINED, True, False)


class SilentTool(FreeTool):
    """Reads, and does not say what."""

    @property
    def spec(self) -> ToolSpec:
        return replace(super().spec, effect=Effect.READ)


class ReportingTool(SilentTool):
    """Says that it touches the host whose name is its text."""

    async def targets(self, arguments: JsonObject, _context: ToolContext) -> tuple[Target, ...]:
        return (Target(TargetKind.HOST, str(arguments["text"]), Access.USE),)


@pytest.mark.parametrize("tool", [SilentTool(), ReportingTool()])
async def test_targets_are_known_of_a_tool_that_reports_them(tool: FreeTool, tmp_path: Path) -> None:
    """Of a tool with effects that does not say what a call touches, the targets are not known; of one that does, they are what it says."""
    registry = Registry()
    registry.register(tool)
    facts = await inspected(ToolInspector(registry), tmp_path, "give_back", text="a:1")
    reports = reports_targets(tool)
    assert reports is isinstance(tool, ReportingTool)
    expected = (Target(TargetKind.HOST, "a:1", Access.USE),) if reports else ()
    assert (facts.targets_known, facts.targets) == (reports, expected)


async def test_another_code_or_sandbox_is_another_call(tmp_path: Path) -> None:
    """The facts have the sandbox of the tool, and differ once its declarations or its code differ."""
    seen = []
    for code, description in (("1", "x"), ("2", "x"), ("1", "y")):
        tool = FreeTool(description=description)
        tool.tool_code = ToolCode(code, f"sandbox {code}")  # type: ignore[attr-defined]
        registry = Registry()
        registry.register(tool)
        seen.append(await inspected(ToolInspector(registry), tmp_path, "give_back", text="x"))
    assert [facts.sandbox for facts in seen] == ["sandbox 1", "sandbox 2", "sandbox 1"]
    assert len({facts.code for facts in seen}) == 3
    assert len({call_digest(facts, "v1") for facts in seen}) == 3


async def test_a_call_that_cannot_be_carried_out_has_no_facts(
    inspector: ToolInspector, tmp_path: Path
) -> None:
    """A tool that does not exist and a file that is not there are reported as the call would report them."""
    with pytest.raises(NotFoundError):
        await inspected(inspector, tmp_path, "none")
    with pytest.raises(ToolError, match="does not exist"):
        await inspected(inspector, tmp_path, "delete_file", path="none")
    with pytest.raises(ToolError, match="leads out"):
        await inspected(inspector, tmp_path, "write_file", path="/etc/x", content="")
