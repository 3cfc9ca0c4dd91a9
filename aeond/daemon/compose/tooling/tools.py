"""Composes the tools that are not built in: user-supplied ones, sandboxed or not, and subtasks; and the agents."""

import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from aeond.capabilities.agents.loading import AnyAgent, load_agents
from aeond.capabilities.templates.loading import check_agents, check_names, check_tools, load_templates
from aeond.capabilities.templates.subtask_tools import DELEGATE, subtask_tools
from aeond.capabilities.tool_files import FOLDERS, load_tool_files, read_source
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.registry import Registry
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.daemon.compose.models import OpenModels
from aeond.daemon.compose.tooling.web import OwnWeb
from aeond.daemon.config.paths import Paths, real_names
from aeond.daemon.config.schema import AgentsSection, Config, SandboxKind, ToolsSection
from aeond.domain.tools import Effect
from aeond.orchestration.matching.template_choice import TemplateLibrary
from aeond.ports import Clock, TextSink, Tool
from aeond.ports.serving import Terminals
from aeond.ports.undo import UndoLog

if TYPE_CHECKING:
    from aeond.capabilities.sandbox.conversing import Sandbox

log = logging.getLogger(__name__)


def open_templates(tools: ToolsSection, registry: Registry, agents: Iterable[str]) -> TemplateLibrary:
    """The library of templates, each registered as a tool; `agents` are the names that templates may use."""
    files = load_templates([Path(name).expanduser() for name in tools.templates])
    check_names(files, [*registry.list_names(), DELEGATE])
    for subtask in subtask_tools(files, offered_subtasks(tools)):
        registry.register(subtask)
    check_tools(files, registry.list_names())
    check_agents(files, agents)
    return TemplateLibrary([file.template for file in files])


def open_agents(agents: AgentsSection) -> Mapping[str, AnyAgent]:
    """The agents besides the built-in `llm`, by name."""
    return load_agents([Path(name).expanduser() for name in agents.files], agents.packaged)


def offered_subtasks(tools: ToolsSection) -> Sequence[str]:
    """The subtasks that models see; `delegate` only if the user has templates, since a model step does the work of
    those included."""
    return [name for name in tools.subtasks if name != DELEGATE or tools.templates]


def check_files(tools: ToolsSection) -> str:
    """A finding about templates and tool files; nothing is executed. InvalidInputError as at a start."""
    from aeond.capabilities.sandbox.sandboxed_tool import python_files

    files = [Path(name).expanduser() for name in tools.files]
    for file in files:
        read_source(file)
    for file in python_files([Path(name).expanduser() for name in tools.folders]):
        read_source(file, FOLDERS)
    templates = load_templates([Path(name).expanduser() for name in tools.templates])
    subtask_tools(templates, offered_subtasks(tools))
    return f"{len(files)} tool files and {len(templates)} templates can be read"


async def own_tools(tools: ToolsSection, paths: Paths) -> tuple[Sequence[Tool], frozenset[str]]:
    """The tools of user-supplied files, each in the daemon or in a sandbox, as configured; and the names of those that
    reach files with the daemon's rights.
    """
    if not tools.files and not tools.folders:
        return (), frozenset()
    from aeond.capabilities.sandbox.foreign_tool import ForeignTool
    from aeond.capabilities.sandbox.sandboxed_tool import (
        python_files,
        replaced,
        sandboxed_tools,
    )

    files = [Path(name).expanduser() for name in tools.files]
    foreign = python_files([Path(name).expanduser() for name in tools.folders])
    if tools.sandbox is SandboxKind.NONE:
        inside = [
            *load_tool_files(files),
            *(ForeignTool(tool, Effect.EXEC_HOST) for tool in load_tool_files(foreign, FOLDERS)),
        ]
        return inside, _reaching_files(inside)
    hidden = [Path(name) for name in real_names(paths.own_files)]
    sandbox = sandbox_for(tools.sandbox, paths.tool_unit, hidden)
    bound = partial(sandboxed_tools, sandbox=sandbox, memory_bytes=tools.sandbox_memory_mib << 20)
    own = load_tool_files(files)
    apart = await bound(files) if tools.sandboxed else ()
    contained = [ForeignTool(tool, Effect.EXEC_CONTAINED) for tool in await bound(foreign, field=FOLDERS)]
    unconfined = _reaching_files(own) - frozenset(tools.sandboxed)
    return [*replaced(own, apart, tools.sandboxed), *contained], unconfined


def _reaching_files(tools: Sequence[Tool]) -> frozenset[str]:
    return frozenset(tool.spec.name for tool in tools if tool.spec.effect is not Effect.PURE)


def own_hands(
    config: Config,
    paths: Paths,
    files: ContainedFiles,
    threads: WorkerThreads,
    undo_log: UndoLog,
    clock: Clock,
    show_text: Callable[[str, str], TextSink],
    models: Callable[[], OpenModels],
    terminals: Terminals,
) -> tuple[Sequence[Tool], OwnWeb]:
    """The tools that act on the machine, as far as it has a sandbox and the daemon is in the session of a user, and those
    of the web, which a reload can replace. InvalidInputError (reason CONFIG_INVALID)."""
    from aeond.capabilities.hands.desktop import find_desktop
    from aeond.capabilities.hands.hand_set import hands
    from aeond.capabilities.hands.workshop import Workshop
    from aeond.daemon.compose.tooling.aider import own_aider
    from aeond.daemon.compose.tooling.sandbox_layers import why_no_programs

    tools, workshop, aider = config.tools, None, tuple[Tool, ...]()
    if why := why_no_programs(tools.sandbox, paths.tool_unit):
        log.info("no tool runs programs: %s", why)
    else:
        sandbox = sandbox_for(
            tools.sandbox, paths.tool_unit, [Path(name) for name in real_names(paths.own_files)]
        )
        memory_bytes = tools.sandbox_memory_mib << 20
        workshop = Workshop(sandbox, files, threads, undo_log, clock, memory_bytes, show_text)
        aider = tuple(own_aider(config, paths, workshop, undo_log, clock, models, terminals))
    desktop = find_desktop(os.environ, files, threads)
    return [*hands(workshop, desktop, tools.hands), *aider], OwnWeb(workshop)


def sandbox_for(kind: SandboxKind, unit_socket: Path, hidden: Sequence[Path]) -> "Sandbox":
    """The sandbox of this kind on this machine: with `auto` the unit if its socket is accessible, else bubblewrap,
    and never a weaker one. `hidden` are files and folders that no tool may see.
    """
    from aeond.capabilities.sandbox.bubblewrap import Bubblewrap
    from aeond.capabilities.sandbox.cgroups import find_group_home
    from aeond.capabilities.sandbox.tool_unit import ToolUnit

    if kind is SandboxKind.UNIT or (kind is SandboxKind.AUTO and os.access(unit_socket, os.W_OK)):
        return ToolUnit(unit_socket, hidden)
    return Bubblewrap(hidden=hidden, groups=find_group_home())
