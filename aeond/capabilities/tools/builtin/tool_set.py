"""The tools that come with aeond."""

from collections.abc import Sequence

from aeond.capabilities.tools.builtin.echo import echo_tool
from aeond.capabilities.tools.builtin.now import now_tool
from aeond.capabilities.tools.builtin.user_input import RequestUserInput
from aeond.capabilities.tools.calculator.calculator import calculator_tool
from aeond.capabilities.tools.editing.writing import writing_tools
from aeond.capabilities.tools.facts.memory_tools import memory_tools
from aeond.capabilities.tools.files.changes import FileChanges
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.moving import moving_tools
from aeond.capabilities.tools.files.reading import list_dir_tool, read_file_tool
from aeond.capabilities.tools.files.searching import search_files_tool
from aeond.capabilities.tools.tables.query_table import query_table_tool
from aeond.capabilities.tools.trust import Trusts, trust_all
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.ports import Clock, Memories, Tool
from aeond.ports.embedding import Embedder
from aeond.ports.undo import UndoLog


def builtin_tools(
    clock: Clock,
    memories: Memories,
    files: ContainedFiles,
    threads: WorkerThreads,
    embedder: Embedder,
    undo_log: UndoLog,
    trusts: Trusts = trust_all,
) -> Sequence[Tool]:
    """Every built-in tool, ready to be registered."""
    changes = FileChanges(files, undo_log, threads, clock)
    return (
        calculator_tool(clock),
        echo_tool(),
        now_tool(clock),
        read_file_tool(files, threads),
        list_dir_tool(files, threads),
        search_files_tool(files, threads),
        query_table_tool(files, threads, trusts),
        *writing_tools(changes, trusts),
        *moving_tools(changes),
        *memory_tools(memories, clock, embedder, undo_log),
        RequestUserInput(),
    )
