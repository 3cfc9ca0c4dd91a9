"""Finding files below a folder, with the kernel's help and without."""

import errno
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aeond.capabilities.tools.files import safe_open
from aeond.capabilities.tools.files.safe_open import best_resolver, resolve_by_steps, resolve_in_kernel


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "a.txt").write_text("inner")
    descriptor = os.open(tmp_path, os.O_PATH | os.O_DIRECTORY)
    yield descriptor
    os.close(descriptor)


def _failing(code: int) -> Callable[..., int]:
    def fail(*_parts: object) -> int:
        raise OSError(code, os.strerror(code))

    return fail


@pytest.mark.parametrize("resolve", [resolve_in_kernel, resolve_by_steps])
def test_found_descriptor_names_the_file(folder: int, tmp_path: Path, resolve: safe_open.Resolver) -> None:
    """The lookup returns a descriptor of the very file, which child processes do not inherit."""
    found = resolve(folder, "a.txt")
    try:
        assert os.path.samestat(os.fstat(found), os.stat(tmp_path / "a.txt"))
        assert not os.get_inheritable(found)
    finally:
        os.close(found)


@pytest.mark.parametrize("resolve", [resolve_in_kernel, resolve_by_steps])
@pytest.mark.parametrize(
    ("path", "code"),
    [("..", errno.EXDEV), ("/etc", errno.EXDEV), ("no", errno.ENOENT), ("a.txt/x", errno.ENOTDIR)],
)
def test_both_ways_fail_alike(folder: int, resolve: safe_open.Resolver, path: str, code: int) -> None:
    """With and without the kernel's help the same paths fail with the same error."""
    with pytest.raises(OSError) as failure:
        resolve(folder, path)
    assert failure.value.errno == code


def test_kernel_is_asked_again_when_folders_move(folder: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lookup that a rename disturbed is repeated, and fails after a bounded number of tries."""
    failures = [errno.EAGAIN, errno.EINTR]

    def disturbed(*_parts: object) -> int:
        if failures:
            raise OSError(failures.pop(), "disturbed")
        return 77

    monkeypatch.setattr(safe_open, "openat2", disturbed)
    assert resolve_in_kernel(folder, "a.txt") == 77
    monkeypatch.setattr(safe_open, "openat2", _failing(errno.EAGAIN))
    with pytest.raises(BlockingIOError):
        resolve_in_kernel(folder, "a.txt")


def test_kernel_with_openat2_is_used(caplog: pytest.LogCaptureFixture) -> None:
    """On a kernel that has openat2 it is chosen, without a word."""
    assert best_resolver() is resolve_in_kernel
    assert caplog.records == []


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.EPERM])
def test_kernel_without_openat2_is_reported_loudly(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, code: int
) -> None:
    """Where openat2 is missing or forbidden the walk by steps is chosen, with a warning."""
    monkeypatch.setattr(safe_open, "openat2", _failing(code))
    assert best_resolver() is resolve_by_steps
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "symbolic links" in caplog.text


def test_other_failures_of_the_probe_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe that fails for another reason stops the start instead of choosing the weaker way."""
    monkeypatch.setattr(safe_open, "openat2", _failing(errno.EMFILE))
    with pytest.raises(OSError) as failure:
        best_resolver()
    assert failure.value.errno == errno.EMFILE
