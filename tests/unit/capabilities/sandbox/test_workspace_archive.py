"""Workspaces that travel."""

import contextlib
import json
import os
import subprocess
from pathlib import Path

import pytest

from aeond.capabilities.sandbox.messages import MAX_PARCEL_BYTES
from aeond.capabilities.sandbox.workspace_archive import (
    MAX_FILES,
    ParcelError,
    fingerprints,
    pack,
    remove,
    unpack,
)

FOREIGN = (
    "/etc/passwd", "../out", "a/../../out", "a//b", "./a", "a/.", "", "/", "//", "..", "../", "a/../b/",
    "nul\0byte", "link/inside", "a/" * 3000 + "b",
)  # fmt: skip


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """A workspace with a link that leads out of it."""
    folder, outside = tmp_path / "there", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "theirs").write_text("theirs", encoding="utf-8")
    (folder / "link").symlink_to(outside)
    (folder / "file-link").symlink_to(outside / "theirs")
    return folder


def parcel(*names: str) -> bytes:
    return (
        json.dumps([(name, 0 if name.endswith("/") else 1, False) for name in names]).encode() + b"\nxxxxxx"
    )


def test_a_workspace_arrives_as_it_was(tmp_path: Path) -> None:
    """Files, folders, empty ones too, and whether a file can be run arrive; links stay behind."""
    here, there = tmp_path / "here", tmp_path / "there"
    (here / "deep" / "er").mkdir(parents=True)
    (here / "empty").mkdir()
    there.mkdir()
    (here / "deep" / "er" / "häßlich\n").write_bytes(bytes(range(256)))
    (here / "tool").write_text("#!/bin/sh\n", encoding="utf-8")
    (here / "tool").chmod(0o755)
    (here / "link").symlink_to("/etc")
    os.mkfifo(here / "pipe")
    unpack(pack(here), there)
    names = sorted(str(path.relative_to(there)) for path in there.rglob("*"))
    assert names == ["deep", "deep/er", "deep/er/häßlich\n", "empty", "tool"]
    assert (there / "deep" / "er" / "häßlich\n").read_bytes() == bytes(range(256))
    assert os.access(there / "tool", os.X_OK)


def test_only_what_changed_goes_back(tmp_path: Path) -> None:
    """Of the files known before, those that are as they were stay behind."""
    (tmp_path / "kept").write_text("kept", encoding="utf-8")
    (tmp_path / "old").write_text("old", encoding="utf-8")
    known = fingerprints(tmp_path)
    (tmp_path / "old").write_text("newer", encoding="utf-8")
    (tmp_path / "new").write_text("new", encoding="utf-8")
    line = pack(tmp_path, known).partition(b"\n")[0]
    assert [name for name, _, _ in json.loads(line)] == ["new", "old"]


def test_too_much_is_refused(tmp_path: Path) -> None:
    """A workspace that is too large for memory is refused before it is read."""
    with (tmp_path / "large").open("wb") as file:
        file.truncate(MAX_PARCEL_BYTES + 1)
    with pytest.raises(ParcelError):
        pack(tmp_path)


def test_too_many_folders_are_refused(tmp_path: Path) -> None:
    """Folders count like files, so everything that is packed can be unpacked."""
    for number in range(MAX_FILES + 1):
        (tmp_path / str(number)).mkdir()
    with pytest.raises(ParcelError):
        pack(tmp_path)


def test_a_deep_workspace_travels(tmp_path: Path) -> None:
    """Folders in folders, far deeper than functions may nest, are packed like others."""
    name = "/".join("d" * 1_200)
    try:
        unpack(parcel(name), tmp_path)
        line = pack(tmp_path).partition(b"\n")[0]
    finally:
        subprocess.run(["rm", "-r", str(tmp_path / "d")], check=True, timeout=30)
    assert [name, 1, False] in json.loads(line)


@pytest.mark.parametrize("name", FOREIGN)
def test_nothing_is_written_elsewhere(there: Path, name: str) -> None:
    """A name that leads out of the workspace, or by a link, makes no file anywhere."""
    with pytest.raises((ParcelError, OSError)):
        unpack(parcel(name), there)
    assert sorted(path.name for path in there.parent.rglob("*")) == [
        "file-link",
        "link",
        "outside",
        "theirs",
        "there",
    ]


def test_a_link_is_replaced_and_not_followed(there: Path) -> None:
    """A file replaces a link of the same name; the link's target stays unchanged."""
    unpack(parcel("file-link"), there)
    assert not (there / "file-link").is_symlink()
    assert (there.parent / "outside" / "theirs").read_text(encoding="utf-8") == "theirs"


@pytest.mark.parametrize("name", [*FOREIGN, "link/theirs", "file-link"])
def test_nothing_is_removed_elsewhere(there: Path, name: str) -> None:
    """A name that leads out of the workspace, or is or passes a link, removes nothing."""
    with contextlib.suppress(ParcelError, OSError):
        remove([name], there)
    assert (there.parent / "outside" / "theirs").exists()
    assert (there / "file-link").is_symlink()


@pytest.mark.parametrize(
    "bytes_of_it",
    [
        b"",
        b"{}\n",
        b"[1]\n",
        b'[["a",-1,false]]\n',
        b'[["a",true,false]]\n',
        b'[["a",5,false]]\nxx',
        b"[" * 99_999,
    ],
)
def test_a_broken_parcel_is_refused(tmp_path: Path, bytes_of_it: bytes) -> None:
    """Bytes that are no parcel are an error and make nothing."""
    with pytest.raises(ParcelError):
        unpack(bytes_of_it, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_excluded_names_are_not_archived(tmp_path: Path) -> None:
    """Files, and folders with everything below them, are left out by their names."""
    for name in ("a/b", "c/d", "e"):
        (tmp_path / "there" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "there" / name).touch()
    here = tmp_path / "here"
    here.mkdir()
    unpack(pack(tmp_path / "there", keeps=lambda name: name not in ("c", "e")), here)
    assert sorted(str(path.relative_to(here)) for path in here.rglob("*")) == ["a", "a/b"]
