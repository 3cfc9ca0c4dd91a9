"""llama.cpp built for the processor of this machine: xllamacpp from its source distribution, in a folder of its own.

The wheel of xllamacpp is built for processors of many years. A build for this processor reads and writes faster; it is
made by `aeond engine-setup --native`. A file in the folder says for which version and processor it was made: on another
processor it could end with an illegal instruction, so it is then not used, and neither is one of another version.
"""

import hashlib
import json
import platform
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

PACKAGE: Final = "xllamacpp"
BUILT: Final = "aeond-llama.json"  # the name of the file that records the build
RECIPE: Final = "recipe"
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
# The ldtilecfg of GCC says that it reads 8 of its 64 bytes: the compiler then leaves out what sets the others, and the first
# tile instruction ends the engine (https://github.com/ggml-org/llama.cpp/pull/26954).
HEADER: Final = "whole_tile_config.h"
_HEADER_TEXT: Final = """\
#ifdef __AMX_TILE__
#include <immintrin.h>
#define _tile_loadconfig(config) __asm__ volatile("ldtilecfg\\t%X0" ::"m"(*(const char(*)[64])(config)))
#endif
"""
_CHECK: Final = """\
import sys
sys.path.insert(0, sys.argv[1])
import xllamacpp
parameters = xllamacpp.CommonParams()
for parameters.model.path in sys.argv[2:]:
    parameters.n_ctx = 512
    xllamacpp.Server(parameters).handle_completions({"prompt": "1 2 3 4 " * 20, "max_tokens": 1})
"""


def mark(cpu_info: Path = CPU_INFO) -> Mapping[str, str]:
    """The version of the engine, the processor (its architecture and a digest of what it can do), and a digest of how it is built."""
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
        RECIPE: hashlib.sha256(f"{CMAKE}{_HEADER_TEXT}".encode()).hexdigest(),
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
    if not isinstance(built, dict) or {*built, RECIPE} != set(own):
        return f"{file} cannot be read"
    if built["version"] != own["version"]:
        return f"it is version {built['version']} of {PACKAGE}, {own['version']} is installed"
    if built.get(RECIPE) != own[RECIPE]:
        return "another version of aeond built it in another way"
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


def build_environment(folder: Path, own: Mapping[str, str]) -> dict[str, str]:
    """The environment of that command; writes the header that each source includes into the folder."""
    header = folder.absolute() / HEADER
    header.write_text(_HEADER_TEXT, encoding="utf-8")
    flags = " ".join(f"-D{name}={value}" for name, value in CMAKE.items())
    own_flags = own.get("CXXFLAGS", "")
    return {
        **own,
        "CMAKE_ARGS": flags,
        "CXXFLAGS": f"{own_flags} -include {shlex.quote(str(header))}".strip(),
    }


def check_command(folder: Path, models: Sequence[Path]) -> Sequence[str]:
    """A command that ends with 0 if the build can be loaded and reads a prompt with the smallest model in the folders `models`, if
    there is one: what a compiler did wrong shows only there."""
    files = [file for place in models for file in place.glob("*.gguf")]
    smallest = sorted(files, key=lambda file: file.stat().st_size)[:1]
    return [sys.executable, "-P", "-c", _CHECK, str(folder), *map(str, smallest)]
