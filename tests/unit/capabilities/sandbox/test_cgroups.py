"""Control groups for sandboxed calls, in folders that stand for the kernel's."""

import os
from pathlib import Path

import pytest

from aeond.capabilities.sandbox.cgroups import GroupHome, find_group_home


def kernel(folder: Path, groups: str, mounts: str) -> tuple[Path, Path]:
    """The two files of /proc that say which groups there are."""
    own, mountinfo = folder / "cgroup", folder / "mountinfo"
    own.write_text(groups, encoding="utf-8")
    mountinfo.write_text(mounts, encoding="utf-8")
    return own, mountinfo


def test_groups_of_version_1_are_found(tmp_path: Path) -> None:
    """Where memory and pids have hierarchies of their own, a group has a folder in each."""
    for name in ("memory", "pids"):
        (tmp_path / name / "own").mkdir(parents=True)
    files = kernel(
        tmp_path,
        "3:pids:/own\n2:memory:/own\n0::/\n",
        "".join(
            f"30 20 0:2{n} / {tmp_path}/{name} rw - cgroup cgroup rw,{name}\n"
            for n, name in enumerate(("memory", "pids"))
        ),
    )
    assert find_group_home(*files) == GroupHome(
        (tmp_path / "memory" / "own", tmp_path / "pids" / "own"), False
    )


@pytest.fixture
def delegated(tmp_path: Path) -> Path:
    """A group of version 2 with this process in it."""
    own = tmp_path / "unified" / "service"
    own.mkdir(parents=True)
    (own / "cgroup.controllers").write_text("cpu memory pids", encoding="utf-8")
    (own / "cgroup.subtree_control").write_text("", encoding="utf-8")
    (own / "cgroup.procs").write_text(f"{os.getpid()}\n", encoding="utf-8")
    return own


def version_2(tmp_path: Path) -> tuple[Path, Path]:
    return kernel(
        tmp_path, "0::/service\n", f"30 20 0:28 / {tmp_path}/unified rw shared:4 - cgroup2 cgroup2 rw\n"
    )


def test_a_delegated_group_is_divided(tmp_path: Path, delegated: Path) -> None:
    """In a group that systemd leaves to the daemon, the daemon moves into a leaf, and the others get bounds."""
    try:
        os.setxattr(delegated, "user.delegate", b"1")
    except OSError:
        pytest.skip("this file system has no extended attributes of users")
    home = find_group_home(*version_2(tmp_path))
    assert home == GroupHome((delegated,), True)
    with home.group(1 << 20):
        assert (delegated / "daemon" / "cgroup.procs").read_text(encoding="utf-8") == str(os.getpid())
    assert (delegated / "cgroup.subtree_control").read_text(encoding="utf-8") == "+memory +pids"


def test_a_group_of_others_is_left_alone(tmp_path: Path, delegated: Path) -> None:
    """A group that was not delegated to the daemon is not changed."""
    assert find_group_home(*version_2(tmp_path)) is None
    assert sorted(path.name for path in delegated.iterdir()) == [
        "cgroup.controllers",
        "cgroup.procs",
        "cgroup.subtree_control",
    ]


def test_a_kernel_without_groups_has_none(tmp_path: Path) -> None:
    """Without mounted hierarchies, or without their files, there is no place for groups."""
    assert find_group_home(*kernel(tmp_path, "0::/\n", "")) is None
    assert find_group_home(tmp_path / "none", tmp_path / "none") is None


def test_a_group_is_gone_afterwards(tmp_path: Path) -> None:
    """The folder of a group exists as long as its call."""
    with GroupHome((tmp_path,), unified=False).group(1 << 20) as group:
        (made,) = group.folders
        assert made.is_dir()
    assert not made.exists()
