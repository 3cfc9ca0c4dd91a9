"""Dependencies are pinned, explained and exactly the installed ones."""

import re
import sys
from importlib.metadata import distribution

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tests.support.dependencies import (
    BENCH_PINS,
    BUILD,
    DIRECT,
    EXTRAS,
    MCP_PINS,
    PINS,
    canonical_name,
    pinned,
)
from tests.support.repository import ROOT, markdown_rows


def installed_closure() -> dict[str, str]:
    """Name -> version of everything that the direct dependencies bring into this environment."""
    waiting = [Requirement(name) for name in DIRECT]
    found: dict[str, str] = {}
    seen: set[str] = set()
    while waiting:
        wanted = waiting.pop()
        if str(wanted) in seen:
            continue
        seen.add(str(wanted))
        installed = distribution(wanted.name)
        found[canonical_name(wanted.name)] = str(Version(installed.version))
        extras = wanted.extras or {""}
        for line in installed.requires or []:
            needed = Requirement(line)
            if not needed.marker or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(needed)
    return found


def test_every_pin_is_a_name_and_a_version() -> None:
    """The pins hold versions only: no host, no hash, no marker, each name once, in order."""
    for path in (PINS, BENCH_PINS, MCP_PINS):
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line)] == []
        names = [canonical_name(line) for line in lines]
        assert names == sorted(set(names))


def test_installed_versions_are_the_pinned_ones() -> None:
    """Every library in use, however indirect, has the version that the pins name."""
    pins = pinned(PINS.read_text(encoding="utf-8"))
    assert {name: pins.get(name) for name in installed_closure()} == installed_closure()


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="a newer Python needs fewer libraries")
def test_nothing_is_pinned_that_is_not_used() -> None:
    """The pins name no library that nothing asks for on the oldest Python that we support."""
    assert sorted(pinned(PINS.read_text(encoding="utf-8"))) == sorted(installed_closure())


@pytest.mark.parametrize("name", sorted(DIRECT))
def test_each_direct_dependency_is_explained(name: str) -> None:
    """Each direct dependency has its purpose, the reason for choosing it, and its licence."""
    rows = [row for row in dependency_rows() if row[0] == f"`{name}`"]
    assert len(rows) == 1
    assert all(rows[0])


def test_nothing_is_explained_that_is_not_used() -> None:
    """The page of dependencies names no library that we have stopped using."""
    assert sorted(row[0].strip("`") for row in dependency_rows()) == sorted(DIRECT)


@pytest.mark.parametrize(
    "row", [row[0] for row in markdown_rows(ROOT / "docs/dependencies.md", "At run time")]
)
def test_run_time_dependencies_are_listed_as_such(row: str) -> None:
    """A library that a user installs is not hidden among the developers' tools."""
    name = row.strip("`")
    assert any(name in EXTRAS[extra] for extra in EXTRAS if extra != "dev")


def dependency_rows() -> list[list[str]]:
    page = ROOT / "docs" / "dependencies.md"
    return markdown_rows(page, "At run time") + markdown_rows(page, "For development")


def test_the_build_tool_is_a_development_dependency() -> None:
    """A development environment can build the package without a download."""
    assert [name for name in BUILD if name not in EXTRAS["dev"]] == []
