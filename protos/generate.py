"""Generates aeond/api from the contracts in this folder, or checks that nothing is out of step.

    python protos/generate.py            write aeond/api anew
    python protos/generate.py --check    lint, breaking changes, generated code current; writes nothing
    python protos/generate.py --freeze   make the contracts of now the ones that must not break

Every tool comes from the environment of the Python that runs this, so the output depends on the pinned
versions alone. `aeond.api.v1.binpb` is the frozen contract: clients in the field were built against it,
so a change that breaks it is refused; freeze again with a release.
"""
# ruff: noqa: INP001 (a program beside the contracts, not a package)

import argparse
import filecmp
import os
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

CONTRACTS = Path(__file__).resolve().parent
ROOT = CONTRACTS.parent
PACKAGE = Path("aeond/api")
FROZEN = CONTRACTS / "aeond.api.v1.binpb"

# No imports in these: a client that loads the contract loads grpcio, protobuf and nothing else.
MARKERS = {
    "__init__.py": '"""The generated contract: needs grpcio and protobuf, and nothing of aeond."""\n',
    "v1/__init__.py": '"""Generated from protos/aeond/api/v1 by `make proto`; never edited."""\n',
}


def main() -> None:
    arguments = argparse.ArgumentParser(description="Generate aeond/api from protos/.")
    choice = arguments.add_mutually_exclusive_group()
    choice.add_argument("--check", action="store_true", help="change nothing; say what is out of step")
    choice.add_argument("--freeze", action="store_true", help="make the contracts of now the frozen ones")
    chosen = arguments.parse_args()
    if chosen.check:
        if complaints := [*lint(), *breaking_changes(), *differences()]:
            sys.exit("\n".join(complaints))
    elif chosen.freeze:
        buf("build", str(CONTRACTS), "--exclude-source-info", "--output", str(FROZEN), check=True)
    else:
        for stale in (ROOT / PACKAGE / "v1").glob("*_pb2*"):
            stale.unlink()
        generate(ROOT)


def generate(target: Path) -> None:
    """Writes the generated package below `target`."""
    contracts = sorted(str(path.relative_to(CONTRACTS)) for path in CONTRACTS.rglob("*.proto"))
    (target / PACKAGE / "v1").mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [
            sys.executable,
            "-m",
            "grpc_tools.protoc",
            f"--proto_path={CONTRACTS}",
            f"--proto_path={files('grpc_tools') / '_proto'}",
            f"--python_out={target}",
            f"--grpc_python_out={target}",
            f"--mypy_out=quiet:{target}",
            f"--mypy_grpc_out=quiet:{target}",
            *contracts,
        ],
        check=True,
        env=environment(),
    )
    for name, text in MARKERS.items():
        (target / PACKAGE / name).write_text(text, encoding="utf-8")


def differences() -> list[str]:
    """Each generated file that is not what the contracts give."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        generate(fresh)
        expected = generated_files(fresh)
        present = generated_files(ROOT)
        return [
            f"{path}: not what protos/ gives; run `make proto` and commit it"
            for path in sorted(expected | present)
            if path not in expected
            or path not in present
            or not filecmp.cmp(fresh / path, ROOT / path, shallow=False)
        ]


def generated_files(root: Path) -> set[Path]:
    return {
        path.relative_to(root)
        for path in (root / PACKAGE).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def lint() -> list[str]:
    """Everything buf says about style, comments and format."""
    complaints = buf("lint", str(CONTRACTS)).splitlines()
    if buf("format", "--diff", str(CONTRACTS)):
        complaints.append("protos: not formatted; run `buf format --write protos`")
    return complaints


def breaking_changes() -> list[str]:
    """Everything in the contracts of now that would break a client of the frozen ones."""
    return buf("breaking", str(CONTRACTS), "--against", str(FROZEN)).splitlines()


def buf(*arguments: str, check: bool = False) -> str:
    """What buf prints; it prints nothing when it is content."""
    command = [str(Path(sys.executable).parent / "buf"), *arguments]
    result = subprocess.run(
        command, check=check, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment()
    )
    if result.returncode and not result.stdout:
        return f"{' '.join(command)}: exit status {result.returncode}"
    return result.stdout


def environment() -> dict[str, str]:
    """Ours, with the tools beside this Python found first."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}


if __name__ == "__main__":
    main()
