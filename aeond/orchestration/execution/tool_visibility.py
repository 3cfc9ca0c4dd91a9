"""The tools that a run may use, and those shown to its model: a child run has those of its Template."""

from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import ToolSpec
from aeond.ports import ToolRegistry


def offered_tools(registry: ToolRegistry, run: RunSnapshot) -> tuple[ToolSpec, ...]:
    """The tools shown to a model: registered now and not kept from this run, sorted by name. A tool that is not
    offered by default is included where the run's Template names it."""
    if run.request.tools is None:
        return usual_tools(registry)
    return tuple(spec for spec in registry.specs() if may_use(run, spec.name))


def usual_tools(registry: ToolRegistry) -> tuple[ToolSpec, ...]:
    """The tools shown to a model in a run without restrictions."""
    return tuple(spec for spec in registry.specs() if spec.offered)


def may_use(run: RunSnapshot, tool: str) -> bool:
    """Whether the run is not kept from a tool of this name."""
    allowed = run.request.tools
    return allowed is None or tool in allowed
