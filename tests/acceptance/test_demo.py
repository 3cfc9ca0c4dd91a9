"""`aeond demo` as a newcomer sees it, with a model that is small instead of clever."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aeond.daemon.exits import Exit


@pytest.mark.model
@pytest.mark.slow
def test_the_demo_goes_through_in_a_pipe(tmp_path: Path) -> None:
    """The demo starts a daemon, shows how the model comes, sends its requests, stops the daemon again, and leaves the prompts that were read to
    the user's own."""
    # Short ones: with a request that needs tools, a model of this size goes on until its budget is exhausted.
    requests = ("Say hello.", "Say goodbye.")
    aeond = Path(sys.executable).with_name("aeond")
    shown = subprocess.run(
        [aeond, "demo", "--model", "smollm2-135m-instruct", *requests],
        check=False,
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, "STATE_DIRECTORY": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)},
    )
    # Whether a run of so small a model succeeds is not the demo's to promise.
    assert shown.returncode in {Exit.OK, Exit.PROBLEM}, shown.stderr
    output = shown.stdout
    steps = ["starting a private daemon", "the daemon is ready", "ready", *requests, "stopping the daemon"]
    places = [output.find(step) for step in steps]
    assert -1 not in places, output
    assert places == sorted(places)
    assert "\033" not in output
    assert [*tmp_path.rglob("*.kv")]
