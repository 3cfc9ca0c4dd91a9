"""The contract and the code that is generated from it."""

import subprocess
import sys

from tests.support.repository import ROOT


def test_generated_code_is_current_and_breaks_no_client() -> None:
    """aeond/api is what protos/ gives, the contracts pass the linter, and no client in the field breaks."""
    outcome = subprocess.run(
        [sys.executable, ROOT / "protos" / "generate.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
