"""A module proxy of Go as a folder, made of the sources that Debian's packages install: modules without a network."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import rmtree
from zipfile import ZipFile

SOURCES = Path("/usr/share/gocode/src")
# As the packages of Debian 12 have them; `clients/go/go.mod` requires the first two.
VERSIONS = {
    "google.golang.org/grpc": "v1.33.3",
    "google.golang.org/protobuf": "v1.28.1",
    "github.com/golang/protobuf": "v1.5.2",
    "golang.org/x/net": "v0.7.0",
    "golang.org/x/sys": "v0.3.0",
    "golang.org/x/text": "v0.7.0",
    "google.golang.org/genproto": "v0.0.0-20200413000000-b5235f600000",
}
# Of this large module gRPC uses one package.
PARTS = {"google.golang.org/genproto": "googleapis/rpc"}


def module_proxy(folder: Path) -> Mapping[str, str]:
    """The environment in which Go gets modules from a proxy in this folder, and nowhere else.

    The folder is kept for the next use, with what Go unpacks and compiles.
    """
    proxy, unfinished = folder / "proxy", folder / "unfinished"
    if not proxy.exists():
        rmtree(unfinished, ignore_errors=True)
        for module, version in VERSIONS.items():
            _add(unfinished / module / "@v", module, version)
        unfinished.rename(proxy)
    return {
        "GOPROXY": proxy.as_uri(),
        "GOSUMDB": "off",
        "GOFLAGS": "-modcacherw",  # so that the folder can be removed
        "GOMODCACHE": str(folder / "unpacked"),
    }


def _add(known: Path, module: str, version: str) -> None:
    """Adds a module that does not say what it requires: Debian's versions differ from those that are named there, and Go
    looks in the proxy for what a package imports.
    """
    definition = f"module {module}\n\ngo 1.17\n"
    known.mkdir(parents=True)
    (known / "list").write_text(f"{version}\n", encoding="utf-8")
    (known / f"{version}.info").write_text(json.dumps({"Version": version}), encoding="utf-8")
    (known / f"{version}.mod").write_text(definition, encoding="utf-8")
    with ZipFile(known / f"{version}.zip", "w") as packed:
        packed.writestr(f"{module}@{version}/go.mod", definition)
        for file in _files(SOURCES / module / PARTS.get(module, "")):
            packed.write(file, f"{module}@{version}/{file.relative_to(SOURCES / module)}")


def _files(folder: Path) -> Iterator[Path]:
    """The files of a module without its tests, which import more than Debian installs with it."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "testdata"]
        for name in names:
            if not name.endswith("_test.go") and name != "go.mod":
                yield Path(place) / name
