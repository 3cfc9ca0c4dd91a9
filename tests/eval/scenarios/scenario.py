"""A scenario: a request, the files and pages that it is about, and how it is known whether it was fulfilled."""

import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from aeond.capabilities.sandbox.confinement.process import python_places
from tests.eval.case_files import ENGLISH, Placed
from tests.eval.cases import Case, Effects, missed

LIBRARY: Final = Path(__file__).parent / "library"
STRANGERS: Final = Path(__file__).parent / "strangers"  # written by people who did not see the product
SITE: Final = "SITE"  # in a request: the address of the server with the pages
PROOF_SECONDS: Final = 120.0


class Scenario(Case):
    """`proof` is Python code that must succeed beside the files afterwards; in it, HISTORY says whether they are a
    repository. `right_files` are files that fulfil the request, each of `wrong_files` some that do not."""

    language: str = ENGLISH
    repository: bool = False
    pages: Mapping[str, str] = {}
    proof: str = ""
    right_files: Mapping[str, str] = {}
    wrong_files: tuple[Mapping[str, str], ...] = ()

    def placed(self, site: str = "") -> Placed:
        """The case of this scenario with its pages at `site`."""
        case = Case.model_validate(
            {**self.model_dump(include=set(Case.model_fields)), "says": self.says.replace(SITE, site)}
        )
        return Placed(case, self.language, workspace=self.given, repository=self.repository)


def read_scenarios(place: Path = LIBRARY) -> tuple[Scenario, ...]:
    """All scenarios of a file, or of the files in a folder, one kind after the other."""
    return tuple(
        Scenario.model_validate(entry)
        for path in (sorted(place.glob("*.toml")) if place.is_dir() else [place])
        for entry in tomllib.loads(path.read_text("utf-8"))["case"]
    )


def lacking(scenario: Scenario, effects: Effects, workspace: Path | None = None) -> tuple[str, ...]:
    """The faults of the outcome. The proof runs in `workspace`, without one beside copies of the files."""
    wrong = missed(scenario, effects)
    if wrong or not scenario.proof:
        return wrong
    if workspace is not None:
        return prove(scenario.proof, workspace, history=scenario.repository)
    with tempfile.TemporaryDirectory(prefix="aeond-eval-") as name:
        for file, text in effects.files.items():
            path = Path(name, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return prove(scenario.proof, Path(name), history=False)


def prove(proof: str, workspace: Path, *, history: bool) -> tuple[str, ...]:
    """Runs the proof in a sandbox, because it executes code that a model wrote."""
    inside = "/tmp/workspace"
    sandbox = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev"]
    mounts = ["--proc", "/proc", "--tmpfs", "/tmp"]
    for place in python_places():  # they may be below /tmp
        mounts += ["--ro-bind", place, place]
    mounts += ["--ro-bind", str(workspace), inside, "--chdir", inside]
    code = f"import sys\nsys.path.insert(0, '.')\nHISTORY = {history}\n{proof}"
    try:
        ended = subprocess.run(
            [*sandbox, *mounts, sys.executable, "-I", "-B", "-c", code],
            capture_output=True,
            text=True,
            check=False,
            timeout=PROOF_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return (f"the proof did not end within {PROOF_SECONDS:g} s",)
    return () if ended.returncode == 0 else (f"the proof failed: {ended.stderr.strip()[-200:]}",)
