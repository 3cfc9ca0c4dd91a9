"""llama.cpp built for the processor of this machine: xllamacpp from its source distribution, in a folder of its own.

The wheel of xllamacpp is built for processors of many years. A build for this processor reads and writes faster; it is
made by `aeond engine-setup --native`. A file in the folder says for which version and processor it was made: on another
processor it could end with an illegal instruction, so it is then not used, and neither is one of another version.
"""

import hashlib
import json
import platform
import shutil
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

PACKAGE: Final = "xllamacpp"
BUILT: Final = "aeond-llama.json"  # the name of the file that records the build
CPU_INFO: Final = Path("/proc/cpuinfo")
FLAGS: Final = ("flags", "Features")  # of x86 and of ARM
# Left out: what needs other sources from the network (LLGuidance, TLS), and what a daemon does not use. Schemas become
# grammars of llama.cpp's own.
CMAKE: Final = {
    "LLAMA_LLGUIDANCE": "OFF",
    "LLAMA_BUILD_BORINGSSL": "OFF",
    "LLAMA_BUILD_UI": "OFF",
    "LLAMA_USE_PREBUILT_UI": "OFF",
    "LLAMA_BUILD_TESTS": "OFF",
    "LLAMA_BUILD_EXAMPLES": "OFF",
    "LLAMA_BUILD_APP": "OFF",
}


def mark(cpu_info: Path = CPU_INFO) -> Mapping[str, str]:
    """The version of the engine, and the processor: its architecture and a digest of what it can do."""
    try:
        lines = cpu_info.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    flags = next((line for line in lines if line.partition(":")[0].strip() in FLAGS), "")
    abilities = " ".join(sorted(flags.partition(":")[2].split()))
    return {
        "version": version(PACKAGE),
        "machine": platform.machine(),
        "abilities": hashlib.sha256(abilities.encode()).hexdigest(),
    }


def why_unusable(folder: Path) -> str:
    """Why the build in the folder is not used; "" for one that fits, or if there is none."""
    file = folder / BUILT
    if not file.exists():
        return ""
    try:
        built = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        built = None
    own = mark()
    if not isinstance(built, dict) or set(built) != set(own):
        return f"{file} cannot be read"
    if built["version"] != own["version"]:
        return f"it is version {built['version']} of {PACKAGE}, {own['version']} is installed"
    return "" if built == own else "it was built for another processor"


def usable(folder: Path) -> bool:
    """Whether the folder has a build for this version and processor."""
    return (folder / BUILT).exists() and not why_unusable(folder)


def write_mark(folder: Path) -> None:
    """Records that the build is complete."""
    (folder / BUILT).write_text(json.dumps(mark()), encoding="utf-8")


def missing_tools() -> Sequence[str]:
    """The Debian packages that the build needs and this machine lacks."""
    headers = Path(sysconfig.get_paths()["include"]) / "Python.h"
    needs = {
        "cmake": shutil.which("cmake") is not None,
        "make": shutil.which("make") is not None or shutil.which("ninja") is not None,
        "g++": shutil.which("c++") is not None or shutil.which("g++") is not None,
        "python3-dev": headers.exists(),
    }
    return [package for package, there in needs.items() if not there]


def build_command(folder: Path) -> Sequence[str]:
    """The command that builds the installed version into the folder, printing CMake's progress."""
    wanted = f"{PACKAGE}=={version(PACKAGE)}"
    options = ("--no-deps", "--no-binary", PACKAGE, "--no-cache-dir", "--upgrade", "--target", str(folder))
    return [sys.executable, "-m", "pip", "install", "--verbose", *options, wanted]


def build_environment(own: Mapping[str, str]) -> dict[str, str]:
    """The environment of that command."""
    flags = " ".join(f"-D{name}={value}" for name, value in CMAKE.items())
    return {**own, "CMAKE_ARGS": flags}


def check_command(folder: Path) -> Sequence[str]:
    """A command that ends with 0 if the build can be loaded."""
    program = "import sys; sys.path.insert(0, sys.argv[1]); import xllamacpp; xllamacpp.CommonParams()"
    return [sys.executable, "-P", "-c", program, str(folder)]
