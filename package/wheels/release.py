"""What the client distributions share: the daemon's version, and the libraries that pyproject.toml names.

Hatchling loads this file when it builds one of them, so neither a version nor a requirement is written twice.
"""
# ruff: noqa: INP001 (a program of the builds, not a package)

import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY = Path(__file__).resolve().parents[2]


class Release(MetadataHookInterface):
    """Fills in the version and the requirements.

    The keys of the hook's configuration: `extra`, the extra of aeond that has the libraries of this distribution
    (without it, those that aeond needs with no extra); `needs`, client distributions of the same version;
    `optional`, extras of aeond that are extras of this distribution as well.
    """

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        extras = project["optional-dependencies"]
        extra = self.config.get("extra")
        version = released()
        metadata["version"] = version
        metadata["dependencies"] = [
            *(f"{name}=={version}" for name in self.config.get("needs", [])),
            *(extras[extra] if extra else project["dependencies"]),
        ]
        metadata["optional-dependencies"] = {name: extras[name] for name in self.config.get("optional", [])}
        for name in ("requires-python", "license"):
            metadata[name] = project[name]


def released() -> str:
    """The version of this checkout."""
    source = (REPOSITORY / "aeond" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE)
    assert found, "aeond/__init__.py has no __version__"
    return found[1]
