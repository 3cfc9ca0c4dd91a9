"""The parts of a daemon that a caller of the composition may replace: evaluations and benchmarks measure through them."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from aeond.daemon.compose.models import OpenModels, opened_models
from aeond.daemon.config.paths import Paths
from aeond.daemon.config.schema import Config
from aeond.frozen import frozen
from aeond.ports import Clock, Tool

OpenModelsOf = Callable[[Config, Paths, Clock], AbstractAsyncContextManager[OpenModels]]


def as_they_are(tools: Sequence[Tool]) -> Sequence[Tool]:
    """The tools unchanged."""
    return tools


@frozen
class Parts:
    """`open_models` opens the engine; `tools` gets all configured tools and returns those to register."""

    open_models: OpenModelsOf = opened_models
    tools: Callable[[Sequence[Tool]], Sequence[Tool]] = as_they_are


PRODUCT = Parts()
