"""Composes Aider's tools: how it is run, and which model it asks."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aeond.capabilities.aider.environment import BUILT, PACKAGES, is_built, mark
from aeond.daemon.config.paths import Paths, real_names
from aeond.daemon.config.schema import Config
from aeond.ports import Clock, Tool
from aeond.ports.serving import Terminals
from aeond.ports.undo import UndoLog

if TYPE_CHECKING:
    from aeond.capabilities.hands.workshop import Workshop
    from aeond.daemon.compose.models import OpenModels

__all__ = ("BUILT", "PACKAGES", "is_built", "mark", "own_aider")


def own_aider(
    config: Config,
    paths: Paths,
    workshop: "Workshop",
    undo_log: UndoLog,
    clock: Clock,
    models: "Callable[[], OpenModels]",
    terminals: Terminals,
) -> Sequence[Tool]:
    """The tools aider, aider_interactive and apply_changes, where Aider is installed and bubblewrap can run it. `models` is
    called once there are some."""
    from aeond.daemon.compose.tooling.sandbox_layers import bubblewrap

    environment = paths.aider_environment.resolve()
    if not is_built(environment) or not bubblewrap().there:
        return ()
    from aeond.capabilities.aider.tools import Editor
    from aeond.capabilities.aider.workbench import Workbench
    from aeond.capabilities.sandbox.cgroups import find_group_home
    from aeond.capabilities.tools.files.changes import FileChanges
    from aeond.orchestration.budget.metered_model import MeteredModel

    hidden = [Path(name) for name in real_names(paths.own_files)]
    memory_bytes = config.tools.sandbox_memory_mib << 20
    editor = Editor(
        Workbench(environment, hidden, find_group_home(), memory_bytes),
        workshop,
        FileChanges(workshop.files, undo_log, workshop.threads, clock),
        paths.aider.resolve(),
        lambda grant: MeteredModel(models().llm_of(config.aider.model), grant),
        config.aider.seconds,
        terminals,
    )
    return [
        tool.offering(tool.spec.offered and tool.spec.name in config.tools.hands) for tool in editor.tools()
    ]
