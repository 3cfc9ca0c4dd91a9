"""Generates code from the contract in this folder, or checks that the generated code is current.

Generated are the messages and stubs in aeond/api, and of aeond_client the records, the places that they are read from,
and the client without an event loop.

    python protos/generate.py            generate all of it
    python protos/generate.py --check    lint, breaking changes, generated code current; writes nothing
    python protos/generate.py --freeze   freeze the current contract

All tools come from the environment of the running Python, so the output depends only on pinned versions.
`aeond.api.v1.binpb` is the frozen contract: existing clients were built against it, so a change that breaks it is
rejected. Freeze it again for a release.
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

from client_fields import MARK, Shapes
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from place_code import place_code
from record_code import RecordCode
from sync_client import SOURCES, without_event_loop

CONTRACTS = Path(__file__).resolve().parent
ROOT = CONTRACTS.parent
PACKAGE = Path("aeond/api")
CLIENT = Path("clients/aeond_client")
FROZEN = CONTRACTS / "aeond.api.v1.binpb"

DESCRIPTORS = "contract.binpb"

# Empty packages: importing the contract loads only grpcio and protobuf.
MARKERS = {
    "__init__.py": '"""The generated contract: needs grpcio and protobuf, and nothing of aeond."""\n',
    "v1/__init__.py": '"""Generated from protos/aeond/api/v1 by `make proto`; never edited."""\n',
}


def main() -> None:
    arguments = argparse.ArgumentParser(description="Generate code from protos/.")
    choice = arguments.add_mutually_exclusive_group()
    choice.add_argument("--check", action="store_true", help="change nothing; report differences")
    choice.add_argument("--freeze", action="store_true", help="freeze the current contract")
    chosen = arguments.parse_args()
    if chosen.check:
        if complaints := [*lint(), *breaking_changes(), *differences()]:
            sys.exit("\n".join(complaints))
    elif chosen.freeze:
        buf("build", str(CONTRACTS), "--exclude-source-info", "--output", str(FROZEN), check=True)
    else:
        for stale in generated_files(ROOT):
            (ROOT / stale).unlink()
        generate(ROOT)


def generate(target: Path) -> None:
    """Writes the generated files below `target`."""
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
            "--include_source_info",
            f"--descriptor_set_out={target / DESCRIPTORS}",
            *contracts,
        ],
        check=True,
        env=environment(),
    )
    for name, text in MARKERS.items():
        (target / PACKAGE / name).write_text(text, encoding="utf-8")
    descriptors = target / DESCRIPTORS
    found = FileDescriptorSet.FromString(descriptors.read_bytes())
    descriptors.unlink()
    generate_client(target, found)


def generate_client(target: Path, found: FileDescriptorSet) -> None:
    shapes = Shapes(found)
    sources = {**dict(RecordCode(shapes).files()), "calls/places.py": MARK + place_code(shapes)}
    for path, made in SOURCES.items():
        sources[made] = MARK + without_event_loop((ROOT / CLIENT / path).read_text(encoding="utf-8"))
    for name, source in sources.items():
        path = target / CLIENT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(formatted(source, CLIENT / name), encoding="utf-8")


def formatted(source: str, path: Path) -> str:
    """The source as `make fmt` would leave it, without unused imports."""
    ruff = str(Path(sys.executable).parent / "ruff")
    name = ("--stdin-filename", str(ROOT / path), "-")
    for step in (
        ("check", "--fix", "--quiet", "--exit-zero", "--select", "I,F401"),
        ("format", "--quiet"),
    ):
        source = subprocess.run(
            [ruff, *step, *name], input=source, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT
        ).stdout
    return source


def differences() -> list[str]:
    """Generated files that differ from the output for the contract."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        generate(fresh)
        expected = generated_files(fresh)
        present = generated_files(ROOT)
        return [
            f"{path}: differs from the output for protos/; run `make proto` and commit it"
            for path in sorted(expected | present)
            if path not in expected
            or path not in present
            or not filecmp.cmp(fresh / path, ROOT / path, shallow=False)
        ]


def generated_files(root: Path) -> set[Path]:
    api = (path for path in (root / PACKAGE).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    client = (
        path for path in (root / CLIENT).rglob("*.py") if path.read_text(encoding="utf-8").startswith(MARK)
    )
    return {path.relative_to(root) for path in (*api, *client)}


def lint() -> list[str]:
    """All findings of buf about style, comments and format."""
    complaints = buf("lint", str(CONTRACTS)).splitlines()
    if buf("format", "--diff", str(CONTRACTS)):
        complaints.append("protos: not formatted; run `buf format --write protos`")
    return complaints


def breaking_changes() -> list[str]:
    """All differences from the frozen contract that would break a client."""
    return buf("breaking", str(CONTRACTS), "--against", str(FROZEN)).splitlines()


def buf(*arguments: str, check: bool = False) -> str:
    """The output of buf; empty if there are no findings."""
    command = [str(Path(sys.executable).parent / "buf"), *arguments]
    result = subprocess.run(
        command, check=check, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment()
    )
    if result.returncode and not result.stdout:
        return f"{' '.join(command)}: exit status {result.returncode}"
    return result.stdout


def environment() -> dict[str, str]:
    """The environment with this Python's tools first in PATH."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}


if __name__ == "__main__":
    main()
