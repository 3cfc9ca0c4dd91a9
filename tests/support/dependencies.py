"""The requirements of pyproject.toml and the pinned versions."""

import re
import tomllib

from tests.support.repository import ROOT

PINS = ROOT / ".ci" / "constraints.txt"
BENCH_PINS = ROOT / ".ci" / "constraints-bench.txt"
MCP_PINS = ROOT / ".ci" / "constraints-mcp.txt"

_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def canonical_name(requirement: str) -> str:
    """The name that a requirement starts with, as registries compare names."""
    name = re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
    return re.sub(r"[-_.]+", "-", name).lower()


# Extra -> the names it asks for; "" is what is installed with no extra.
EXTRAS = {
    "": [canonical_name(line) for line in _PROJECT["project"]["dependencies"]],
    **{
        extra: [canonical_name(line) for line in lines]
        for extra, lines in _PROJECT["project"]["optional-dependencies"].items()
    },
}
BUILD = [canonical_name(line) for line in _PROJECT["build-system"]["requires"]]
DIRECT = {name for names in EXTRAS.values() for name in names} | set(BUILD)


def pinned(text: str) -> dict[str, str]:
    """Name -> version of a file of pins."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {canonical_name(name): version for name, _, version in (line.partition("==") for line in lines)}
