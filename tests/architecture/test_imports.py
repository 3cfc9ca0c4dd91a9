"""Import rules."""

import ast
import subprocess
import sys
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

from tests.support.dependencies import EXTRAS, canonical_name
from tests.support.repository import ROOT, nodes_of, python_files


def third_party_modules(paths: list[Path]) -> set[str]:
    """Every module outside the standard library and ourselves that the files name in an import."""
    names: set[str] = set()
    for path in paths:
        for node in nodes_of(path):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module)
    ours = {"aeond", "aeond_client", "aeon_cli", "aeon_popup", "aeon_web", "tests", "benchmarks"}
    known = set(sys.stdlib_module_names) | ours
    return {name for name in names if name.split(".")[0] not in known}


# Reads the records of all installed distributions, which takes a tenth of a second.
installed = cache(packages_distributions)


def distributions_of(module: str) -> set[str]:
    """The installed distributions that bring a module (google is shared by several: the longest wins)."""
    if module.startswith("google.protobuf"):
        return {"protobuf"}
    return {canonical_name(name) for name in installed().get(module.partition(".")[0], [module])}


# Modules that run in processes started with the Python of vLLM's environment, which has their imports.
ELSEWHERE = frozenset(
    ROOT / "aeond/capabilities/llm/vllm" / name for name in ("gguf_converter.py", "launcher.py", "pacing.py")
)


def undeclared(folder: str, *extras: str) -> list[str]:
    declared = {name for extra in ("", *extras) for name in EXTRAS[extra]}
    modules = third_party_modules([path for path in python_files(folder) if path not in ELSEWHERE])
    return sorted(module for module in modules if not distributions_of(module) & declared)


def test_imports_point_down() -> None:
    """The contracts between layers, siblings, wire types and clients hold for every import."""
    linter = Path(sys.executable).with_name("lint-imports")
    outcome = subprocess.run([linter, "--no-cache"], capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout[-6000:] + outcome.stderr


def test_the_daemon_imports_only_what_its_extra_installs() -> None:
    """Installing aeond[daemon,otlp] brings every library that the daemon imports, but for MCP servers and façades."""
    optional = {
        *undeclared("aeond/capabilities/mcp", "daemon", "otlp"),
        *undeclared("aeond/facades", "daemon", "otlp"),
    }
    assert sorted({*undeclared("aeond", "daemon", "otlp")} - optional) == []
    assert undeclared("aeond/capabilities/mcp", "daemon", "mcp") == []
    assert undeclared("aeond/facades", "daemon", "facades", "mcp") == []


def test_the_client_imports_only_what_the_bare_package_installs() -> None:
    """Installing aeond with no extra brings every library that the client library imports."""
    assert undeclared("clients/aeond_client") == []


def test_the_command_line_imports_only_what_its_extra_installs() -> None:
    """Installing aeond[cli] brings every library that aeonctl imports, but for that of editors."""
    optional = undeclared("clients/aeon_cli/editor", "cli")
    assert sorted({*undeclared("clients/aeon_cli", "cli")} - {*optional}) == []
    assert undeclared("clients/aeon_cli/editor", "cli", "acp") == []


def test_the_web_page_imports_only_what_the_command_line_installs() -> None:
    """Installing aeond[cli] brings every library that the page of `aeonctl open` needs."""
    assert undeclared("clients/aeon_web", "cli") == []


def test_the_popup_imports_only_what_its_extra_installs() -> None:
    """Installing aeond[popup] brings every library that aeon-popup imports."""
    assert undeclared("clients/aeon_popup", "popup") == []


def test_nothing_is_installed_for_users_that_nothing_imports() -> None:
    """Every library that an extra brings is imported by the code of that extra, or is data or a program."""
    asked_for = {name for extra in EXTRAS if extra != "dev" for name in EXTRAS[extra]}
    files = [path for folder in ("aeond", "clients") for path in python_files(folder)]
    imported = {name for module in third_party_modules(files) for name in distributions_of(module)}
    assert asked_for - imported == {"pip", "tzdata"}
