"""Files of cases: a common workspace and memory, and requests with what must be true after them."""

import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.eval.cases import Case
from tests.support.repository import ROOT

ENGLISH: Final = "en"
OPEN: Final = Path("shared", "eval", "everyday_open.toml")  # beside the repository


@dataclass(frozen=True, slots=True)
class Placed:
    """A case with its language and the files and facts that are there before it starts. Where it is a `repository`, the
    files are committed."""

    case: Case
    language: str = ENGLISH
    held: bool = False
    workspace: Mapping[str, str] = field(default_factory=dict)
    memory: Mapping[str, str | int] = field(default_factory=dict)
    repository: bool = False


def read_case_file(path: Path, *, held: bool = False) -> tuple[Placed, ...]:
    """The cases of a TOML file, each with the file's common workspace and memory and its own additions."""
    data = tomllib.loads(path.read_text("utf-8"))
    return tuple(_placed(entry, data, held) for entry in data["case"])


def place(case: Case, files: Mapping[str, str], language: str = ENGLISH, *, held: bool = False) -> Placed:
    """A case in a workspace with these files besides its own. Its own are older than the common ones."""
    return Placed(case, language, held, {**case.given, **files}, case.remembered)


def find_open() -> Path:
    """Where the independent set is expected: beside this checkout, or beside the repository that it belongs to."""
    listed = subprocess.run(
        ["git", "rev-parse", "--path-format=absolute", "--git-common-dir"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    parents: tuple[Path, ...] = (
        ROOT.parent,
        *([Path(listed.stdout.strip()).parents[1]] if listed.returncode == 0 else ()),
    )
    return next((p / OPEN for p in parents if (p / OPEN).is_file()), parents[0] / OPEN)


def _placed(entry: Mapping[str, Any], data: Mapping[str, Any], held: bool) -> Placed:
    fields = dict(entry)
    language = fields.pop("language", ENGLISH)
    case = Case.model_validate(fields)
    memory = {**data.get("memory", {}), **case.remembered}
    return Placed(case, language, held, {**data.get("workspace", {}), **case.given}, memory)
