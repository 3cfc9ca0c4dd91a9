"""Which tools a run may use: a child run only has those of its Template."""

from aeond.domain.runs import RunSnapshot
from aeond.domain.tools import ToolSpec
from aeond.ports import ToolRegistry


def offered_tools(registry: ToolRegistry, run: RunSnapshot) -> tuple[ToolSpec, ...]:
    """What is registered now and not kept from this run, sorted by name."""
    return tuple(spec for spec in registry.specs() if may_use(run, spec.name))


def may_use(run: RunSnapshot, tool: str) -> bool:
    """Whether the run is not kept from a tool of this name."""
    allowed = run.request.tools
    return allowed is None or tool in allowed
