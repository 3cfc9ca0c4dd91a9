"""The memory of this machine and of its GPUs, and the settings of its units."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from aeond.frozen import frozen

QUERY_SECONDS: Final = 10.0


@frozen
class Gpu:
    """A GPU with its memory in MiB."""

    name: str
    free_mib: int
    total_mib: int


def memory_mib(field: str) -> int | None:
    """A field of /proc/meminfo, such as MemTotal, in MiB; None where it cannot be read."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [int(line.split()[1]) // 1024 for line in lines if line.startswith(f"{field}:")]
    return found[0] if found else None


def nvidia_gpus() -> tuple[Gpu, ...]:
    """The GPUs that NVIDIA's tool reports, none where it is not installed. OSError or SubprocessError where it
    fails."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ()
    command = [tool, "--query-gpu=name,memory.free,memory.total", "--format=csv,noheader,nounits"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=QUERY_SECONDS, check=True).stdout
    rows = [[part.strip() for part in line.rsplit(",", 2)] for line in answer.splitlines()]
    return tuple(Gpu(name, int(free), int(total)) for name, free, total in rows)


def unit_settings(unit: str, names: Sequence[str]) -> Mapping[str, str]:
    """The settings of a unit of the system, as systemd has loaded it; none where no systemd answers or it has no such
    unit."""
    tool = shutil.which("systemctl")
    if tool is None:
        return {}
    command = [tool, "show", unit, f"--property={','.join(('LoadState', *names))}"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=QUERY_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return {}
    found = dict(line.split("=", 1) for line in answer.stdout.splitlines() if "=" in line)
    return found if found.get("LoadState") == "loaded" else {}
