"""`aeond engine-setup`: builds the Python environment for vLLM, or with --native llama.cpp for this processor.

The daemon imports nothing from either. Versions of vLLM's environment are pinned in the two lists beside this file. A
file written at the end records the build, so that a second call is quick and an interrupted one starts over.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from aeond.daemon.compose import native_engine
from aeond.daemon.config.paths import nvidia_driver
from aeond.daemon.exits import Exit
from aeond.errors import LLMError
from aeond.frozen import frozen

GIB: Final = 1 << 30
HERE: Final = Path(__file__).parent
BUILT: Final = "aeond-engine"  # the name of the file that records the build
# The PyTorch build for CPUs, which not every package index has; the default build is the fallback, with the
# CUDA libraries that it needs to start.
CPU_TORCH: Final = "+cpu"
SHOWN: Final = (
    "Collecting ",
    "Downloading ",
    "Downloaded ",
    "Installing ",
    "Installed ",
    "Prepared ",
    "Resolved ",
)


@frozen
class Recipe:
    """One variant: a list of versions, whether to install it with or without dependencies, and its disk
    space.
    """

    name: str
    list_file: Path
    complete: bool
    gibibytes: float


ON_GPU: Final = Recipe("for NVIDIA GPUs", HERE / "vllm-gpu.txt", complete=False, gibibytes=22)
ON_CPU: Final = Recipe("for CPUs", HERE / "vllm-cpu.txt", complete=True, gibibytes=4)
PLAIN_TORCH_GIB: Final = 9
NATIVE_GIB: Final = 1.0
_PERCENT: Final = re.compile(r"\[ *(\d+)%\] Building")


def set_up(folder: Path, *, cpu: bool, again: bool) -> Exit:
    """Builds the environment in `folder` unless it exists; PROBLEM, with the reason, on failure."""
    recipe = ON_CPU if cpu or not nvidia_driver() else ON_GPU
    if not again and built_mark(folder) == mark_of(recipe):
        print(f"vLLM {recipe.name} is ready in {folder}")
        return Exit.OK
    print(
        f"Building vLLM {recipe.name} in {folder}: this takes minutes, most of them for compiling at the end",
        flush=True,
    )
    problem = room_problem(folder, recipe.gibibytes) or _build(folder, recipe)
    if problem:
        print(f"aeond: {problem}", file=sys.stderr)
        return Exit.PROBLEM
    (folder / BUILT).write_text(mark_of(recipe), encoding="utf-8")
    print(f"vLLM {recipe.name} is ready in {folder}")
    return Exit.OK


def set_up_native(folder: Path, models: Sequence[Path], *, again: bool) -> Exit:
    """Builds llama.cpp for this processor in `folder` unless it is there, and tries it with a model in the folders `models`; PROBLEM, with the
    reason, on failure: the daemon then goes on with the installed wheel."""
    if not again and native_engine.usable(folder):
        print(f"llama.cpp for this processor is ready in {folder}")
        return Exit.OK
    print(
        f"Building llama.cpp for this processor in {folder}: this takes about 15 minutes of a core",
        flush=True,
    )
    if problem := _native_problem(folder, models):
        print(f"aeond: {problem} The daemon keeps using the installed build.", file=sys.stderr)
        return Exit.PROBLEM
    native_engine.write_mark(folder)
    print(f"llama.cpp for this processor is ready in {folder}: restart the daemon to use it")
    return Exit.OK


def _native_problem(folder: Path, models: Sequence[Path]) -> str:
    """Builds and tries it: the error, or ""."""
    if missing := native_engine.missing_tools():
        return f"the build needs Debian packages that are missing: apt-get install {' '.join(missing)}."
    if problem := room_problem(folder, NATIVE_GIB, "model.native_build"):
        return problem
    if problem := folder_problem(folder, native_engine.BUILT):
        return problem
    environment = native_engine.build_environment(folder, os.environ)
    if run_shown(native_engine.build_command(folder), environment, shown=ShownPercent()):
        return "llama.cpp could not be built; see the lines above."
    if run_shown(native_engine.check_command(folder, models), installer_environment()):
        return "the build does not work on this machine; see the lines above."
    return ""


class ShownPercent:
    """Shows CMake's progress, a line for each tenth."""

    def __init__(self) -> None:
        self._tenths = -1

    def __call__(self, line: str) -> bool:
        found = _PERCENT.search(line)
        if found is None or int(found[1]) // 10 <= self._tenths:
            return False
        self._tenths = int(found[1]) // 10
        return True


def fetch_embedding(fetch: Callable[[Callable[[str, float], None]], Awaitable[tuple[Path, Path]]]) -> None:
    """Has `fetch` download the embedding model unless it is here, and shows the progress. It is optional: a failure is only
    shown."""
    import anyio

    shown = -1

    def show(activity: str, done: float) -> None:
        nonlocal shown
        if int(done * 10) != shown:
            shown = int(done * 10)
            print(f"Embedding model: {activity} {done:.0%}", flush=True)

    try:
        weights, _ = anyio.run(fetch, show)
    except LLMError as error:
        print(f"The optional embedding model is missing, words are compared instead: {error.message}")
    else:
        print(f"The embedding model is {weights}")


def mark_of(recipe: Recipe) -> str:
    return hashlib.sha256(recipe.list_file.read_bytes()).hexdigest()


def built_mark(folder: Path) -> str:
    try:
        return (folder / BUILT).read_text(encoding="utf-8")
    except OSError:
        return ""


def room_problem(folder: Path, gibibytes: float, key: str = "vllm.environment") -> str:
    """The error if the disk is too full, otherwise ""."""
    place = next(place for place in (folder, *folder.absolute().parents) if os.access(place, os.F_OK))
    free = shutil.disk_usage(place).free / GIB
    if free >= gibibytes:
        return ""
    return (
        f"too little disk space: {folder} needs {gibibytes:g} GiB, but {place} has {free:.1f}"
        f" GiB free. Free some space, or choose another folder with --path and set {key} to it."
    )


def folder_problem(folder: Path, mark: str) -> str:
    """Creates the folder of a build and removes the file that records an earlier one: the error, or ""."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / mark).unlink(missing_ok=True)
    except OSError as error:
        return f"{folder} cannot be created or used ({error.strerror}): choose another folder with --path."
    return ""


def environment_problem(folder: Path) -> str:
    """Creates a Python environment in the folder unless it has one: the error, or ""."""
    # Not its Python: that exists even if a missing package (python3-venv) prevented the rest.
    whole = any(folder.glob("lib/python3*/site-packages/pip"))
    if not whole and run_shown([sys.executable, "-m", "venv", str(folder)], installer_environment()):
        return f"the environment {folder} cannot be created; see the lines above."
    return ""


def _build(folder: Path, recipe: Recipe) -> str:
    """The error, or ""."""
    if problem := folder_problem(folder, BUILT) or environment_problem(folder):
        return problem
    wanted = packages_in(recipe.list_file)
    if not recipe.complete:
        return _installed(folder, wanted, complete=False)
    torch = next(line for line in wanted if line.startswith("torch=="))
    if (
        run_shown(
            [*installer(folder), "--dry-run", "--quiet", "--no-deps", torch],
            installer_environment(),
            quiet=True,
        )
        == 0
    ):
        return _installed(folder, wanted, complete=True)
    print(
        f"No package index has {torch}; the default build includes the CUDA libraries and needs more"
        " disk space"
    )
    problem = room_problem(folder, PLAIN_TORCH_GIB)
    if problem:
        return (
            f"{problem} Or give an index that has {torch}: PIP_EXTRA_INDEX_URL, or PIP_FIND_LINKS for"
            " a folder."
        )
    rest = [line for line in wanted if line != torch]
    return _installed(folder, rest, complete=True) or _installed(
        folder, [torch.removesuffix(CPU_TORCH)], complete=False
    )


def _installed(folder: Path, wanted: Sequence[str], *, complete: bool) -> str:
    how = ["--no-deps"] if complete else []
    if run_shown([*installer(folder), *how, *wanted], installer_environment()):
        return (
            f"vLLM could not be installed into {folder}; see the lines above. Downloads are kept: check"
            " network and disk space, and run this again."
        )
    return ""


def installer(folder: Path) -> list[str]:
    """uv if available, which is several times faster, else the environment's own pip."""
    beside = Path(sys.executable).parent / "uv"
    uv = str(beside) if beside.exists() else shutil.which("uv")
    python = str(folder / "bin" / "python")
    if uv:
        return [uv, "pip", "install", "--compile-bytecode", "--python", python]
    return [python, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]


def installer_environment() -> dict[str, str]:
    """Our environment variables, with bytecode compilation enabled (vLLM starts three times as fast), and
    with pip's wheel folder passed to uv.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    asked = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.find-links"],
        capture_output=True,
        text=True,
        check=False,
    )
    links = environment.get("PIP_FIND_LINKS") or asked.stdout.strip()
    if links:
        environment.setdefault("UV_FIND_LINKS", ",".join(links.split()))
    return environment


def run_shown(
    command: Sequence[str],
    environment: dict[str, str],
    *,
    quiet: bool = False,
    shown: Callable[[str], bool] = lambda line: line.startswith(SHOWN),
) -> int:
    """The exit code. Prints the lines that are to be shown, and the last ones of the output on failure."""
    said: list[str] = []
    with subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line.rstrip())
            if not quiet and shown(line.strip()):
                print(f"  {line.strip()[:100]}", flush=True)
    if process.returncode and not quiet:
        print("\n".join(said[-20:]), file=sys.stderr)
    return process.returncode


def packages_in(list_file: Path) -> list[str]:
    return list(_requirements(list_file.read_text(encoding="utf-8")))


def _requirements(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line and not line.startswith("#"):
            yield line
