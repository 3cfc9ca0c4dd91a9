"""`aeond doctor`: finds problems that keep the daemon from working, each with its remedy."""

import json
import os
import pwd
import shutil
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Final

from aeond.daemon.commands.findings import Finding, Verdict
from aeond.daemon.commands.machine import memory_mib, unit_settings
from aeond.daemon.config.files import load_config
from aeond.daemon.config.model_sections import EngineKind
from aeond.daemon.config.network_sections import McpNetwork
from aeond.daemon.config.paths import Paths, default_config_file, paths_of
from aeond.daemon.config.schema import Config
from aeond.daemon.exits import Exit
from aeond.daemon.logs.printable import printable
from aeond.errors import AeondError

FREE_DISK_MIB: Final = 512
FREE_MEMORY_MIB: Final = 3_072
MIB: Final = 1 << 20
SERVICE: Final = "aeond.service"


def examine(config_file: Path | None, *, as_json: bool) -> Exit:
    """Runs all checks, prints the findings, and returns whether the daemon can work."""
    findings = list(look(config_file))
    if as_json:
        print(json.dumps({"findings": [asdict(finding) for finding in findings]}, indent=2))
    else:
        for finding in findings:
            print(printable(f"{_MARKS[finding.verdict]} {finding.subject}: {finding.found}"))
            if finding.advice:
                print(printable(f"    {finding.advice}"))
        print(printable(summary(findings)))
    return Exit.PROBLEM if any(f.verdict is Verdict.BAD for f in findings) else Exit.OK


def summary(findings: Sequence[Finding]) -> str:
    """Counts the problems, and says with whose rights they were looked for."""
    bad = sum(finding.verdict is Verdict.BAD for finding in findings)
    doubtful = sum(finding.verdict is Verdict.DOUBTFUL for finding in findings)
    problems = f"{bad} problem{'s' * (bad != 1)}" if bad else "no problem"
    drawbacks = f", {doubtful} drawback{'s' * (doubtful != 1)} (hmm)" if doubtful else ""
    try:
        user = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        user = str(os.geteuid())
    return f"{problems}{drawbacks}, with the rights of user {user}: run this as the user who runs the daemon"


_MARKS = {Verdict.GOOD: "ok  ", Verdict.DOUBTFUL: "hmm ", Verdict.BAD: "BAD "}


def look(config_file: Path | None) -> Iterator[Finding]:
    """One finding for each requirement of the daemon."""
    yield python_version()
    yield packages()
    path = config_file or default_config_file()
    try:
        config = load_config(path, required=config_file is not None)
    except AeondError as error:
        yield Finding("configuration", Verdict.BAD, error.message, "correct the file, then run this again")
        return
    there = "is valid" if path.exists() else "does not exist: the defaults apply"
    yield Finding("configuration", Verdict.GOOD, f"{path} {there}")
    paths = paths_of(config, path)
    yield state_folder(paths)
    yield disk(paths)
    yield memory()
    yield cores(config)
    yield listening(paths)
    yield from sandbox(config, paths)
    if config.model.engine is EngineKind.LLAMA_CPP:
        yield llama(paths.native_build)
    if config.model.engine is EngineKind.VLLM:
        from aeond.daemon.commands.vllm_findings import look_at_vllm

        yield from look_at_vllm(config, paths)
    yield from aider(paths)
    yield web(config, paths)
    yield from mcp_servers(config, paths)
    yield from service_limits(config, paths)
    yield from stored(config, paths)


def llama(folder: Path) -> Finding:
    """Which build of llama.cpp is used."""
    from aeond.daemon.compose.native_engine import usable, why_unusable

    if usable(folder):
        return Finding("llama.cpp", Verdict.GOOD, f"the build for this processor in {folder} is used")
    if why := why_unusable(folder):
        advice = "run aeond engine-setup --native"
        return Finding("llama.cpp", Verdict.DOUBTFUL, f"the build in {folder} is not used: {why}", advice)
    return Finding("llama.cpp", Verdict.GOOD, "the build of the installed wheel is used")


def python_version() -> Finding:
    found = ".".join(map(str, sys.version_info[:3]))
    return Finding("python", Verdict.GOOD, f"{found} at {sys.executable}")


def packages() -> Finding:
    """Checks that all packages imported by the daemon are installed."""
    try:
        needed = [name for line in requires("aeond") or () if (name := _needed_by_daemon(line))]
    except PackageNotFoundError:
        return Finding(
            "packages",
            Verdict.BAD,
            "aeond is not installed",
            "install it; in a checkout: pip install '.[daemon]'",
        )
    missing = [name for name in needed if not _installed(name)]
    if missing:
        return Finding(
            "packages",
            Verdict.BAD,
            f"missing: {', '.join(missing)}",
            "install them; in a checkout: pip install '.[daemon]'",
        )
    return Finding("packages", Verdict.GOOD, f"all {len(needed)} packages are installed")


def _needed_by_daemon(requirement: str) -> str:
    """The package name if the requirement applies to the daemon, else ""."""
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
    """Checks that the daemon can write its state, or create the folder for it."""
    folder = paths.state_dir
    place = _nearest(folder)
    if not place.is_dir() or not os.access(place, os.R_OK | os.W_OK | os.X_OK):
        return Finding(
            "state folder",
            Verdict.BAD,
            f"{place} is not a folder that user {os.geteuid()} can write to",
            "change its owner to that user, or choose another folder with daemon.state_dir",
        )
    how = "is writable" if place == folder else "does not exist yet and can be created"
    return Finding("state folder", Verdict.GOOD, f"{folder} {how}")


def _nearest(folder: Path) -> Path:
    """The folder, or its nearest existing ancestor that can be examined."""
    return next(place for place in (folder, *folder.parents) if os.access(place, os.F_OK))


def disk(paths: Paths) -> Finding:
    """Checks the free disk space for the journal."""
    place = _nearest(paths.state_dir)
    free = shutil.disk_usage(place).free // MIB
    if free < FREE_DISK_MIB:
        return Finding(
            "disk",
            Verdict.DOUBTFUL,
            f"{free} MiB are free at {place}",
            f"free some space: runs are suspended when the disk is full ({FREE_DISK_MIB} MiB are enough)",
        )
    return Finding("disk", Verdict.GOOD, f"{free} MiB are free at {place}")


def memory() -> Finding:
    """Checks that the default model fits into memory."""
    available = memory_mib("MemAvailable")
    if available is None:
        return Finding("main memory", Verdict.DOUBTFUL, "the available memory cannot be determined here")
    if available < FREE_MEMORY_MIB:
        return Finding(
            "main memory",
            Verdict.DOUBTFUL,
            f"{available} MiB are available",
            f"the default model needs {FREE_MEMORY_MIB} MiB: close other programs, or choose a smaller"
            " model.name",
        )
    return Finding("main memory", Verdict.GOOD, f"{available} MiB are available")


def cores(config: Config) -> Finding:
    """Checks the number of cores for the engine."""
    count = len(os.sched_getaffinity(0))
    if config.model.threads > count:
        return Finding(
            "cores",
            Verdict.DOUBTFUL,
            f"{count} available, model.threads requests {config.model.threads}",
            f"more threads than cores make each slower: set model.threads to {count} or 0",
        )
    if count < 2:
        return Finding("cores", Verdict.DOUBTFUL, f"{count}", "a model on one core answers slowly")
    return Finding("cores", Verdict.GOOD, f"{count}")


def listening(paths: Paths) -> Finding:
    """Checks whether the socket is free, or a daemon is listening on it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2.0)
        try:
            probe.connect(str(paths.socket))
        except FileNotFoundError:
            return Finding("socket", Verdict.GOOD, f"{paths.socket} is free")
        except ConnectionRefusedError:
            return Finding(
                "socket",
                Verdict.GOOD,
                f"{paths.socket} is left over from an earlier daemon and will be replaced",
            )
        except OSError as error:
            return Finding(
                "socket",
                Verdict.BAD,
                f"{paths.socket}: {error}",
                "move the existing file away, or choose another path with socket.path",
            )
    return Finding("socket", Verdict.GOOD, f"a daemon is listening on {paths.socket}")


def sandbox(config: Config, paths: Paths) -> Iterator[Finding]:
    """The layers of the sandbox, what each missing one means, and whether tools can run programs in it."""
    from aeond.daemon.compose.tooling.sandbox_layers import layers, why_no_programs

    for layer in layers(config.tools.sandbox, paths.tool_unit):
        needed = layer.essential and bool(config.tools.folders or config.tools.sandboxed)
        verdict = Verdict.GOOD if layer.there else Verdict.BAD if needed else Verdict.DOUBTFUL
        yield Finding(f"sandbox: {layer.name}", verdict, layer.found, layer.advice)
    if why := why_no_programs(config.tools.sandbox, paths.tool_unit):
        advice = "run_command, run_python, read_document and the git tools do not exist until then"
        yield Finding("programs", Verdict.DOUBTFUL, why, advice)
    else:
        yield Finding("programs", Verdict.GOOD, "tools may run programs, in the sandbox")


def aider(paths: Paths) -> Iterator[Finding]:
    """Whether Aider is installed, with this machine's git; nothing if it never was."""
    from aeond.daemon.commands.aider_setup import finding

    found = finding(paths.aider_environment)
    if found is not None:
        yield found


def web(config: Config, paths: Paths) -> Finding:
    """Which tools of the web there are, and why others do not exist."""
    from aeond.daemon.compose.tooling.web import WEB_TOOLS, why_no_web

    try:
        missing = why_no_web(config, paths)
    except AeondError as error:
        return Finding("web", Verdict.BAD, error.message, "the daemon does not start otherwise")
    there = [name for name in WEB_TOOLS if name not in missing]
    found = f"tools: {', '.join(there)}" if there else "no tool uses the web"
    advice = "; ".join(f"{name}: {why}" for name, why in missing.items())
    unreadable = there and "fetch_url" in missing
    return Finding("web", Verdict.DOUBTFUL if unreadable else Verdict.GOOD, found, advice)


def mcp_servers(config: Config, paths: Paths) -> Iterator[Finding]:
    """Starts each MCP server for a short time, and says what keeps it from working."""
    if not config.mcp:
        return
    import anyio

    from aeond.daemon.compose.tooling.mcp import check_servers

    try:
        states = anyio.run(check_servers, config, paths)
    except AeondError as error:
        yield Finding("mcp", Verdict.BAD, error.message, "the daemon does not start otherwise")
        return
    for name, problem in states.items():
        verdict = Verdict.DOUBTFUL if problem else Verdict.GOOD
        advice = f"its tools cannot be used: correct [mcp.{name}], see docs/mcp.md" if problem else ""
        yield Finding(f"mcp: {name}", verdict, problem or "responds", advice)


def service_limits(config: Config, paths: Paths) -> Iterator[Finding]:
    """Whether the system's service, if it uses this state folder, may run what is configured: its settings do not apply to
    this process."""
    from aeond.daemon.compose.tooling.aider import is_built

    servers = {f"MCP server {name}": one for name, one in config.mcp.items()}
    programs = [name for name, one in servers.items() if one.command]
    programs += ["Aider"] if is_built(paths.aider_environment) else []
    networked = [name for name, one in servers.items() if one.url or one.network is McpNetwork.HOST]
    if not programs and not networked:
        return
    found = unit_settings(SERVICE, ("StateDirectory", *_FOR_PROGRAMS, *_FOR_NETWORK))
    if not found or paths.state_dir != Path("/var/lib", found.get("StateDirectory", "")):
        return
    for users, needs, drop_in in (
        (programs, _FOR_PROGRAMS, "with-programs.conf"),
        (networked, _FOR_NETWORK, "with-network.conf"),
    ):
        forbidding = [name for name, allows in needs.items() if not allows(found.get(name, ""))]
        if users and forbidding:
            said = f"forbids what {', '.join(users)} need{'s' * (len(users) == 1)}: {', '.join(forbidding)}"
            advice = f"install the drop-in {drop_in}, see docs/mcp.md, and restart the service"
            yield Finding(SERVICE, Verdict.DOUBTFUL, said, advice)
        elif users:
            yield Finding(
                SERVICE, Verdict.GOOD, f"no setting is known to keep {', '.join(users)} from working"
            )


def _lists(name: str, value: str) -> bool:
    """Whether a list of what a unit may use, or with `~` may not use, allows the name."""
    return (name in value.removeprefix("~").split()) is not value.startswith("~") if value else True


_FOR_PROGRAMS: Final[Mapping[str, Callable[[str], bool]]] = {
    "RestrictNamespaces": lambda value: value in ("no", ""),
    "RestrictAddressFamilies": lambda value: _lists("AF_NETLINK", value),
    "SystemCallFilter": lambda value: _lists("mount", value),
    "ProcSubset": lambda value: value in ("all", ""),
    "ProtectKernelTunables": lambda value: value in ("no", ""),
}
"""The settings of a unit that bubblewrap depends on, each with the test of a value that allows it to work."""

_FOR_NETWORK: Final[Mapping[str, Callable[[str], bool]]] = {
    "PrivateNetwork": lambda value: value in ("no", ""),
    "RestrictAddressFamilies": lambda value: _lists("AF_INET", value),
}


def stored(config: Config, paths: Paths) -> Iterator[Finding]:
    """Checks journal, memory, tools and model, as the daemon would open them."""
    import anyio

    from aeond.daemon.compose.embedding import check_embedding
    from aeond.daemon.compose.engine import check_model
    from aeond.daemon.compose.policy import check_policy
    from aeond.daemon.compose.store_checks import store_checks
    from aeond.daemon.compose.tooling.tools import check_files

    correct = "correct the reported problem: the daemon does not start otherwise"
    checks: list[tuple[str, Callable[[], str], str]] = [
        *((name, check, "keep the file, and restore a backup") for name, check in store_checks(paths)),
        ("tools", lambda: check_files(config.tools), correct),
        ("policy", lambda: check_policy(config), correct),
    ]
    if config.model.engine is not EngineKind.SCRIPTED:
        get = "start the daemon once with network access: it downloads the model"
        if config.model.engine is EngineKind.REMOTE:
            get = "the daemon starts anyway, and retries by itself"
        checks.append(("model", lambda: anyio.run(check_model, config, paths), get))
        optional = "optional: start the daemon once with a network, and it downloads it"
        checks.append(("embedding", lambda: check_embedding(config, paths), optional))
    for subject, check, advice in checks:
        try:
            yield Finding(subject, Verdict.GOOD, check())
        except AeondError as error:
            verdict = Verdict.DOUBTFUL if subject in {"model", "embedding"} else Verdict.BAD
            yield Finding(subject, verdict, error.message, advice)
        except OSError as error:
            yield Finding(subject, Verdict.BAD, str(error), "give this user access, or run this as the owner")
