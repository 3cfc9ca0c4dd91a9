"""`aeond doctor`: what keeps the daemon from working, in plain words, each with what to do about it."""

import json
import os
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Final

from aeond.daemon.config import Config
from aeond.daemon.config_files import load_config
from aeond.daemon.config_models import EngineKind
from aeond.daemon.exits import Exit
from aeond.daemon.findings import Finding, Verdict
from aeond.daemon.paths import Paths, default_config_file, paths_of
from aeond.errors import AeondError

FREE_DISK_MIB: Final = 512
FREE_MEMORY_MIB: Final = 3_072
MIB: Final = 1 << 20


def examine(config_file: Path | None, *, as_json: bool) -> Exit:
    """Looks at everything, prints what was found, and says whether the daemon can work."""
    findings = list(look(config_file))
    if as_json:
        print(json.dumps({"findings": [asdict(finding) for finding in findings]}, indent=2))
    else:
        for finding in findings:
            print(f"{_MARKS[finding.verdict]} {finding.subject}: {finding.found}")
            if finding.advice:
                print(f"    {finding.advice}")
    return Exit.PROBLEM if any(f.verdict is Verdict.BAD for f in findings) else Exit.OK


_MARKS = {Verdict.GOOD: "ok  ", Verdict.DOUBTFUL: "hmm ", Verdict.BAD: "BAD "}


def look(config_file: Path | None) -> Iterator[Finding]:
    """One finding for each thing that the daemon needs."""
    yield python_version()
    yield packages()
    path = config_file or default_config_file()
    try:
        config = load_config(path, required=config_file is not None)
    except AeondError as error:
        yield Finding("configuration", Verdict.BAD, error.message, "mend the file, then look again")
        return
    there = "is right" if path.exists() else "is not there: the defaults hold"
    yield Finding("configuration", Verdict.GOOD, f"{path} {there}")
    paths = paths_of(config, path)
    yield state_folder(paths)
    yield disk(paths)
    yield memory()
    yield cores(config)
    yield listening(paths)
    if config.model.engine is EngineKind.VLLM:
        from aeond.daemon.vllm_findings import look_at_vllm

        yield from look_at_vllm(config, paths)
    yield from stored(config, paths)


def python_version() -> Finding:
    found = ".".join(map(str, sys.version_info[:3]))
    return Finding("python", Verdict.GOOD, f"{found} at {sys.executable}")


def packages() -> Finding:
    """Whether everything is installed that the daemon imports."""
    try:
        needed = [name for line in requires("aeond") or () if (name := _needed_by_daemon(line))]
    except PackageNotFoundError:
        return Finding(
            "packages",
            Verdict.BAD,
            "aeond is not installed",
            "install it, in a checkout: pip install '.[daemon]'",
        )
    missing = [name for name in needed if not _installed(name)]
    if missing:
        return Finding(
            "packages",
            Verdict.BAD,
            f"missing: {', '.join(missing)}",
            "install them, in a checkout: pip install '.[daemon]'",
        )
    return Finding("packages", Verdict.GOOD, f"all {len(needed)} are installed")


def _needed_by_daemon(requirement: str) -> str:
    """The name in a requirement that the daemon has, else ""."""
    what, _, condition = requirement.partition(";")
    if "extra ==" in condition and "daemon" not in condition:
        return ""
    return what.split(">")[0].split("=")[0].split("<")[0].strip()


def _installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def state_folder(paths: Paths) -> Finding:
    """Whether the daemon can write its state, or make the folder for it."""
    folder = paths.state_dir
    place = _nearest(folder)
    if not place.is_dir() or not os.access(place, os.R_OK | os.W_OK | os.X_OK):
        return Finding(
            "state folder",
            Verdict.BAD,
            f"{place} is no folder that user {os.geteuid()} can write to",
            "give it to that user, or choose another with daemon.state_dir",
        )
    how = "can be written" if place == folder else "is not there yet and can be made"
    return Finding("state folder", Verdict.GOOD, f"{folder} {how}")


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there and can be looked at."""
    return next(place for place in (folder, *folder.parents) if os.access(place, os.F_OK))


def disk(paths: Paths) -> Finding:
    """Whether there is room for the journal."""
    place = _nearest(paths.state_dir)
    free = shutil.disk_usage(place).free // MIB
    if free < FREE_DISK_MIB:
        return Finding(
            "disk",
            Verdict.DOUBTFUL,
            f"{free} MiB are free at {place}",
            f"free some room: runs are suspended when the disk is full ({FREE_DISK_MIB} MiB are plenty)",
        )
    return Finding("disk", Verdict.GOOD, f"{free} MiB are free at {place}")


def memory() -> Finding:
    """Whether the default model fits into memory."""
    available = _available_memory()
    if available is None:
        return Finding("memory", Verdict.DOUBTFUL, "how much is available cannot be told here")
    if available < FREE_MEMORY_MIB:
        return Finding(
            "memory",
            Verdict.DOUBTFUL,
            f"{available} MiB are available",
            f"the default model wants {FREE_MEMORY_MIB} MiB: close something, or choose a smaller model.name",
        )
    return Finding("memory", Verdict.GOOD, f"{available} MiB are available")


def _available_memory() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [int(line.split()[1]) // 1024 for line in lines if line.startswith("MemAvailable:")]
    return found[0] if found else None


def cores(config: Config) -> Finding:
    """How many cores the engine may use."""
    count = len(os.sched_getaffinity(0))
    if config.model.threads > count:
        return Finding(
            "cores",
            Verdict.DOUBTFUL,
            f"{count} are there, model.threads asks for {config.model.threads}",
            f"more threads than cores make each slower: set model.threads to {count} or 0",
        )
    if count < 2:
        return Finding("cores", Verdict.DOUBTFUL, f"{count}", "a model on one core answers slowly")
    return Finding("cores", Verdict.GOOD, f"{count}")


def listening(paths: Paths) -> Finding:
    """Whether the socket is free, or a daemon answers on it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2.0)
        try:
            probe.connect(str(paths.socket))
        except FileNotFoundError:
            return Finding("socket", Verdict.GOOD, f"{paths.socket} is free")
        except ConnectionRefusedError:
            return Finding("socket", Verdict.GOOD, f"{paths.socket} is left from before and will be replaced")
        except OSError as error:
            return Finding(
                "socket",
                Verdict.BAD,
                f"{paths.socket}: {error}",
                "move what is there away, or choose another path with socket.path",
            )
    return Finding("socket", Verdict.GOOD, f"a daemon answers on {paths.socket}")


def stored(config: Config, paths: Paths) -> Iterator[Finding]:
    """The journal, the memory, the tools and the model, as the daemon would open them."""
    import anyio

    from aeond.daemon.compose import check_journal, check_memory, check_sessions
    from aeond.daemon.compose_engine import check_model
    from aeond.daemon.compose_tools import check_files

    restore = "keep the file, and restore it from a backup"
    checks: list[tuple[str, Callable[[], str], str]] = [
        ("journal", lambda: check_journal(paths), restore),
        ("memory", lambda: check_memory(paths), restore),
        ("sessions", lambda: check_sessions(paths), restore),
        (
            "tools",
            lambda: check_files(config.tools),
            "mend what it names: without that the daemon does not start",
        ),
    ]
    if config.model.engine is not EngineKind.SCRIPTED:
        get = "start the daemon once with a network: it gets the model"
        if config.model.engine is EngineKind.REMOTE:
            get = "the daemon starts all the same, and looks again by itself"
        checks.append(("model", lambda: anyio.run(check_model, config, paths), get))
    for subject, check, advice in checks:
        try:
            yield Finding(subject, Verdict.GOOD, check())
        except AeondError as error:
            verdict = Verdict.DOUBTFUL if subject == "model" else Verdict.BAD
            yield Finding(subject, verdict, error.message, advice)
        except OSError as error:
            yield Finding(subject, Verdict.BAD, str(error), "let this user look at it, or look as its owner")
