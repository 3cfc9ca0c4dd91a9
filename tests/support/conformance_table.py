"""The table of clients and cases in docs/clients.md: `python -m tests.support.conformance_table` writes it."""

import re

from tests.support.conformance import CASES, Case
from tests.support.conformance_serving import SERVING, ServingCase
from tests.support.repository import ROOT
from tests.support.stubs import STUBS, Stub

PAGE = ROOT / "docs" / "clients.md"
BEGIN, END = "<!-- conformance -->\n", "<!-- end -->"


def with_table(page: str) -> str:
    """The page with the table as the suite is now. Each cell is a test that `make check` runs and that must pass."""
    names = [stub.name for stub in STUBS]
    rows = [["case", *names], ["---"] * (len(names) + 1)]
    rows += [
        [f"**{case.name}**: {case.about}", *(_cell(stub, case) for stub in STUBS)]
        for case in (*CASES, *SERVING)
    ]
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return re.sub(f"{BEGIN}.*?{END}", lambda _: BEGIN + table + END, page, flags=re.DOTALL)


def _cell(stub: Stub, case: Case) -> str:
    """Where a client has no reason for an error, its exit status is checked, or the reason of all failures."""
    if isinstance(case, ServingCase):
        if stub.lacks_serving:
            return stub.lacks_serving
        failures = stub.failures[0] if case.happens == "calls" and stub.failures else ""
        killed = "killed" if case.happens == "cancel" and stub.kills else ""
        return f"✓ {failures or killed}".rstrip()
    return f"✓ exit {case.exit}" if case.error and not stub.has_reasons else "✓"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
