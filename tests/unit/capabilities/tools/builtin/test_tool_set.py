"""The set of built-in tools."""

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.tools.builtin.tool_set import builtin_tools
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.registry import Registry
from aeond.capabilities.tools.worker_threads import WorkerThreads
from tests.support.doubles import ManualClock
from tests.support.memory import InMemoryMemory
from tests.support.undo import InMemoryUndoLog


def test_all_register_together() -> None:
    """All built-in tools pass the registry's checks side by side."""
    registry = Registry()
    tools = builtin_tools(
        ManualClock(),
        InMemoryMemory(),
        ContainedFiles(resolve_in_kernel),
        WorkerThreads(),
        NoEmbedder(),
        InMemoryUndoLog(),
    )
    for tool in tools:
        registry.register(tool)
    assert len(registry.list_names()) == len(tools)


def test_descriptions_of_tools_are_small() -> None:
    """Names, descriptions, input schemas and examples of the tools that are offered fit a prompt of a small model."""
    tools = builtin_tools(
        ManualClock(),
        InMemoryMemory(),
        ContainedFiles(resolve_in_kernel),
        WorkerThreads(),
        NoEmbedder(),
        InMemoryUndoLog(),
    )
    said = sum(
        len(str((tool.spec.name, tool.spec.description, tool.spec.input_schema, tool.spec.example)))
        for tool in tools
        if tool.spec.offered
    )
    assert said < 6_500
