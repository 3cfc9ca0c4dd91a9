"""The tools that come with aeond."""

from collections.abc import Sequence

from aeond.capabilities.tools.asking_people import RequestUserInput
from aeond.capabilities.tools.calculator import calculator_tool
from aeond.capabilities.tools.contained_files import ContainedFiles
from aeond.capabilities.tools.echo import echo_tool
from aeond.capabilities.tools.memory_tools import memory_tools
from aeond.capabilities.tools.now import now_tool
from aeond.capabilities.tools.reading_files import list_dir_tool, read_file_tool
from aeond.capabilities.tools.searching_files import search_files_tool
from aeond.capabilities.tools.threads import WorkerThreads
from aeond.capabilities.tools.writing_files import write_file_tool
from aeond.ports import Clock, Memory, Tool


def builtin_tools(
    clock: Clock, memory: Memory, files: ContainedFiles, threads: WorkerThreads
) -> Sequence[Tool]:
    """Every built-in tool, ready to be registered."""
    return (
        calculator_tool(),
        echo_tool(),
        now_tool(clock),
        read_file_tool(files, threads),
        list_dir_tool(files, threads),
        search_files_tool(files, threads),
        write_file_tool(files, threads),
        *memory_tools(memory),
        RequestUserInput(),
    )
