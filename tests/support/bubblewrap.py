"""Whether bubblewrap can be used here: it needs namespaces, which some containers do not give."""

import shutil
import subprocess

import pytest


def bubblewrap_works() -> bool:
    program = shutil.which("bwrap")
    words = ["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
    return (
        program is not None
        and not subprocess.run([program, *words], check=False, capture_output=True).returncode
    )


needs_bubblewrap = pytest.mark.skipif(not bubblewrap_works(), reason="bubblewrap does not work here")
