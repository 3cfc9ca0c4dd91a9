"""The tools that a run may use, and those shown to its model."""

from collections.abc import Sequence
from typing import Final

from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import ToolSpec, allows
from aeond.orchestration.matching.text_ranking import Described
from aeond.orchestration.matching.word_ranking import word_scores
from aeond.ports import ToolRegistry

MAX_WHOLE: Final = 32
"""Up to so many tools are all shown, in a fixed order, so that the engine's prefix cache serves every run."""
MAX_SHOWN: Final = 12
"""Of more than MAX_WHOLE tools a run is shown the informed ones, so many of the others, and those that it has called."""


def offered_tools(registry: ToolRegistry, run: RunSnapshot) -> tuple[ToolSpec, ...]:
    """The tools shown to a model: registered now, allowed for this run, and of many those chosen for it.

    The choice is part of the run's events. A run without one, such as a client's plan that needs a repair, gets those
    that share most words with its request.
    """
    specs = allowed_tools(registry, run)
    if fits(specs):
        return specs
    called = {step.tool for step in run.steps.values()}
    shown = called.union(run.shown or _nearest_by_words(run.text, uninformed(specs)))
    return tuple(spec for spec in specs if spec.is_informed or spec.name in shown)


def uninformed(specs: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """Those of which only their authors know what they are about, and of which those near to a request are shown. Beside many of them the
    daemon's own tools for files and memory would be left out: a request names what it is about, and not what is done for it."""
    return tuple(spec for spec in specs if not spec.is_informed)


def allowed_tools(registry: ToolRegistry, run: RunSnapshot) -> tuple[ToolSpec, ...]:
    """The tools that may be shown. One that is not offered by default is included where the run names it."""
    named = run.request.tools or ()
    return tuple(
        spec for spec in registry.specs() if may_use(run, spec.name) and (spec.offered or spec.name in named)
    )


def usual_tools(registry: ToolRegistry) -> tuple[ToolSpec, ...]:
    """The tools shown to a model in a run without restrictions; none if they depend on the request."""
    specs = tuple(spec for spec in registry.specs() if spec.offered)
    return specs if fits(specs) else ()


def fits(specs: Sequence[ToolSpec]) -> bool:
    """Whether all of them are shown."""
    return len(specs) <= MAX_WHOLE


def may_use(run: RunSnapshot, tool: str) -> bool:
    """Whether the run is not kept from a tool of this name."""
    return allows(run.request.tools, tool)


def described(spec: ToolSpec) -> Described:
    """What a tool is compared by."""
    return Described(spec.name, (f"{spec.name.replace('_', ' ')}: {spec.description}",))


def _nearest_by_words(text: str, specs: Sequence[ToolSpec]) -> frozenset[str]:
    scores = word_scores(text, [described(spec).texts for spec in specs])
    ranked = sorted(zip(specs, scores, strict=True), key=lambda pair: -pair[1])
    return frozenset(spec.name for spec, _ in ranked[:MAX_SHOWN])
