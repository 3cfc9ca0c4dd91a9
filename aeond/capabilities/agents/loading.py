"""Loads the agents of users: from Python files with a list named AGENTS, and from installed packages."""

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

from aeond.capabilities.agents.reader import Reader
from aeond.capabilities.python_files import PythonFiles
from aeond.domain.plans.plan import LLM_AGENT
from aeond.errors import InvalidInputError
from aeond.ports import Agent
from aeond.ports.agents import ModelAgent

GROUP: Final = "aeond.agents"
"""The entry points of a package in this group are its agents, each an object as in a list AGENTS."""

AnyAgent = Agent | ModelAgent

_FILES: Final = PythonFiles("agent", "agents.files")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_RAISED_BY_PACKAGES: Final = (ImportError, AttributeError)


def load_agents(paths: Sequence[Path] = (), packaged: Sequence[str] = ()) -> Mapping[str, AnyAgent]:
    """The agents that come with aeond, those of the files, and the `packaged` ones, by name.

    Raises InvalidInputError with `field` "agents.files" and reason AGENT_FILE_MISSING, AGENT_FILE_UNSAFE (other users
    can modify it), AGENT_FILE_BROKEN (with the line, or the object that is no agent), AGENT_FILE_EMPTY (no list AGENTS)
    or AGENT_DUPLICATE; with `field` "agents.packaged" and reason AGENT_UNKNOWN or AGENT_BROKEN.
    """
    agents: dict[str, AnyAgent] = {Reader.name: Reader()}
    for path in paths:
        for position, item in enumerate(_FILES.items(path, _FILES.read(path))):
            if (agent := _as_agent(item)) is None:
                why = f"AGENTS[{position}] is not an agent with a name and `process` or `using`, but {item!r:.80}"
                raise _FILES.refused(path, why, "FILE_BROKEN")
            if agent.name in {*agents, LLM_AGENT}:
                raise _FILES.refused(path, f"agent {agent.name!r} exists already: rename it", "DUPLICATE")
            agents[agent.name] = agent
    for agent in _packaged(packaged):
        if agent.name in {*agents, LLM_AGENT}:
            raise _refused(f"agent {agent.name!r} exists already", "AGENT_DUPLICATE")
        agents[agent.name] = agent
    return agents


def _packaged(names: Sequence[str]) -> Iterable[AnyAgent]:
    installed = {point.name: point for point in entry_points(group=GROUP)} if names else {}
    for name in names:
        if name not in installed:
            known = ", ".join(sorted(installed)) or "none"
            raise _refused(
                f"no installed package has the agent {name!r}; there are: {known}", "AGENT_UNKNOWN"
            )
        try:
            item = installed[name].load()
        except _RAISED_BY_PACKAGES as error:
            raise _refused(f"the agent {name!r} cannot be loaded: {error}", "AGENT_BROKEN") from error
        if (agent := _as_agent(item)) is None:
            raise _refused(f"the entry point {name!r} is not an agent but {item!r:.80}", "AGENT_BROKEN")
        yield agent


def _as_agent(item: object) -> AnyAgent | None:
    name = getattr(item, "name", None)
    if isinstance(item, type) or not isinstance(name, str) or not _NAME.fullmatch(name):
        return None
    if isinstance(item, ModelAgent):
        return item
    complete = all(hasattr(item, part) for part in ("capabilities", "process", "stream"))
    return item if complete else None  # type: ignore[return-value]  # an Agent by its parts


def _refused(message: str, reason: str) -> InvalidInputError:
    return InvalidInputError(message, reason=reason, field="agents.packaged")
