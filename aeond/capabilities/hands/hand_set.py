"""The set of these tools, as far as this machine can carry them out."""

import shutil
from collections.abc import Collection, Sequence

from aeond.capabilities.hands.commands import run_command_tool, run_python_tool
from aeond.capabilities.hands.desktop import Desktop, desktop_tools
from aeond.capabilities.hands.documents import read_document_tool
from aeond.capabilities.hands.git import git_tools
from aeond.capabilities.hands.workshop import Workshop
from aeond.capabilities.tools.function_tool import FunctionTool
from aeond.domain.tools import ToolCode


def hands(
    workshop: Workshop | None, desktop: Desktop | None, offered: Collection[str]
) -> Sequence[FunctionTool]:
    """The tools; those of `offered` are listed to models. Without a sandbox none runs a program, and without a desktop
    none reaches it."""
    tools: list[FunctionTool] = []
    if workshop is not None:
        tools += [run_command_tool(workshop), run_python_tool(workshop), read_document_tool(workshop)]
        tools += git_tools(workshop) if shutil.which("git") else []
        for tool in tools:
            tool.tool_code = ToolCode(sandbox=workshop.profile)
    if desktop is not None:
        tools += desktop_tools(desktop)
    return [tool.offering(tool.spec.name in offered) for tool in tools]
