"""The tests of the walls as figures: the attacks of each kind, and how many of them got through."""

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

from benchmarks.measuring import ROOT
from benchmarks.page import Section

LIMIT_SECONDS = 1_800.0
WALLS = {
    "instructions in files, facts, outputs, descriptions, questions; a model that follows all": "tests/spec/test_injection.py",
    "200 forged, replayed and overtaken approvals": "tests/faults/test_tampered_approvals.py",
    "20 secrets; state, log, events, errors, command lines": "tests/acceptance/test_planted_secrets.py",
    "14 secrets; prompts, sandboxed tools": "tests/acceptance/test_secrets_in_prompts.py",
    "floods, signals and reloads": "tests/faults/test_floods.py",
    "attempts of a hostile tool, in each sandbox of this machine": "tests/contract/test_hostile_tools.py",
    "folders exchanged under a run, folders outside the roots": "tests/acceptance/test_bound_workspaces.py",
    "another user's folders, by owner, group and mode": "tests/acceptance/test_callers_rights.py",
    "another user, every method": "tests/acceptance/test_users_apart.py",
    "a user who fills the disk with runs, sessions and facts": "tests/acceptance/test_user_storage.py",
    "another user at façades and the web page": "tests/acceptance/test_doors_apart.py",
    "other sites, programs and hostile text at the web page": "tests/page/test_attacks.py",
    "paths that lead elsewhere, names exchanged during calls": "tests/faults/test_path_races.py",
    "requests to the web that should reach another address": "tests/unit/capabilities/egress/test_gate.py",
}


def measure(folder: Path) -> Section:
    """Runs the tests of each wall."""
    return Section(
        "Walls",
        "The tests that attack, one file a line: each test is an attack or a kind of them, and one that fails is an attack"
        " that got through. A daemon that is flooded stays below 128 MiB, or the test of that flood fails.",
        ("attacks", "file", "tests", "got through", "skipped"),
        tuple((attacks, f"`{file}`", *_counted(file, folder)) for attacks, file in WALLS.items()),
        page="security.md",
    )


def _counted(file: str, folder: Path) -> tuple[str, ...]:
    report = folder / f"{Path(file).stem}.xml"
    command = [sys.executable, "-m", "pytest", "-q", file, "--junitxml", str(report)]
    subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL, timeout=LIMIT_SECONDS)
    suite = ET.parse(report).getroot()[0]
    for case in suite.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            sys.stderr.write(f"{file}: {case.attrib['name']} failed\n")
    failed = int(suite.attrib["failures"]) + int(suite.attrib["errors"])
    return suite.attrib["tests"], str(failed), suite.attrib["skipped"]
