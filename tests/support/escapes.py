"""Paths that try to get out of a workspace, and the folders that they are tried in."""

import os
import socket
from dataclasses import dataclass
from pathlib import Path

SECRET = "the secret outside"
INNER = "inner text"


@dataclass(frozen=True)
class Grounds:
    """A workspace with links of every kind, beside a folder that must stay unread and unchanged."""

    workspace: Path
    outside: Path

    def fill(self, template: str) -> str:
        """A path of the corpus with the names of these grounds put in."""
        return template.replace("{ws}", str(self.workspace)).replace("{out}", str(self.outside))

    def unharmed(self) -> bool:
        """Whether the outside holds what it held at first, and nothing else."""
        return {path.name: path.read_text() for path in self.outside.rglob("*") if path.is_file()} == {
            "secret.txt": SECRET,
            "deep.txt": SECRET,
        }


def make_grounds(at: Path) -> Grounds:
    workspace, outside = at / "workspace", at / "outside"
    (workspace / "sub" / "deep").mkdir(parents=True)
    (outside / "folder").mkdir(parents=True)
    (outside / "secret.txt").write_text(SECRET)
    (outside / "folder" / "deep.txt").write_text(SECRET)
    sibling = at / "workspace-next"  # begins with the name of the workspace
    sibling.mkdir()
    (sibling / "secret.txt").write_text(SECRET)
    for name in INNER_FILES:
        (workspace / name).write_text(INNER)
    for name, target in LINKS.items():
        (workspace / name).symlink_to(target.replace("{ws}", str(workspace)).replace("{out}", str(outside)))
    os.link(outside / "secret.txt", workspace / "hard")
    os.mkfifo(workspace / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        # By a relative name: the path of a test's folder may be too long for a socket's address.
        descriptor = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY)
        try:
            listener.bind(f"/proc/self/fd/{descriptor}/socket")
        finally:
            os.close(descriptor)
    return Grounds(workspace, outside)


INNER_FILES = (
    "a.txt",
    "sub/b.txt",
    "sub/deep/c.txt",
    "with space.txt",
    "new\nline.txt",
    "\u00fcmlaut.txt",
    "u\u0308mlaut.txt",
    "..hidden",
    "...",
    ".dot",
    "~",
    "$HOME",
    "-rf",
    "*",
    "a\\b",
    "%2e%2e",
    "\u202egnp.txt",
    "sub/..b",
    "x" * 255,
)

LINKS = {
    # honest: they stay inside
    "link_in": "a.txt",
    "link_sub": "sub",
    "link_round": "sub/../a.txt",
    "sub/link_up": "../a.txt",
    "sub/deep/link_up": "../../sub/b.txt",
    "chain": "chain2",
    "chain2": "sub/deep/../b.txt",
    # not honest, or not to be followed
    "abs_in": "{ws}/a.txt",
    "out_file": "../outside/secret.txt",
    "out_abs": "{out}/secret.txt",
    "out_dir": "../outside",
    "out_dir_abs": "{out}",
    "out_sibling": "../workspace-next",
    "top": "/",
    "etc": "/etc",
    "parent": "..",
    "sub/parents": "../..",
    "out_chain": "out_chain2",
    "out_chain2": "sub/../../outside",
    "sub/out_far": "../../outside/secret.txt",
    "out_round": "../workspace/a.txt",
    "proc_root": "/proc/self/root",
    "proc_cwd": "/proc/self/cwd",
    "proc_exe": "/proc/self/exe",
    "proc_fd": "/proc/self/fd",
    "dev_fd": "/dev/fd/0",
    "dev_stdin": "/dev/stdin",
    "dev_null": "/dev/null",
    "loop": "loop",
    "loop_a": "loop_b",
    "loop_b": "loop_a",
    "dangling": "nothing",
    "dangling_out": "../outside/new.txt",
    "dangling_abs": "{out}/new.txt",
}

# Paths that lead out, or that must not be followed: nothing may be read, listed or written through them.
ESCAPES = (
    "..",
    "../",
    "../..",
    "../outside",
    "../outside/secret.txt",
    "../workspace-next/secret.txt",
    "../workspace/a.txt",
    "./../outside/secret.txt",
    "sub/../../outside/secret.txt",
    "sub/deep/../../../outside/secret.txt",
    "sub/./.././../outside/secret.txt",
    "sub//..//..//outside/secret.txt",
    "../../../../../../../../../../etc/passwd",
    "..//outside/secret.txt",
    "sub/../..",
    "/",
    "//",
    "/etc/passwd",
    "//etc/passwd",
    "/./etc/passwd",
    "/../etc/passwd",
    "/proc/self/environ",
    "/proc/self/root/etc/passwd",
    "/proc/self/cwd",
    "/dev/zero",
    "/dev/stdin",
    "{out}",
    "{out}/secret.txt",
    "{out}/folder/deep.txt",
    "{ws}-next/secret.txt",
    "{ws}/../outside/secret.txt",
    "{ws}/sub/../../outside/secret.txt",
    "{ws}/..",
    "{ws}/./../outside/secret.txt",
    "{ws}//../outside/secret.txt",
    "/{ws}/a.txt",
    "{ws}/out_file",
    "{ws}/top/etc/passwd",
    "out_file",
    "out_abs",
    "out_dir",
    "out_dir/",
    "out_dir/.",
    "out_dir/secret.txt",
    "out_dir/folder",
    "out_dir/folder/deep.txt",
    "out_dir/../outside/secret.txt",
    "out_dir/../workspace/a.txt",
    "out_dir_abs",
    "out_dir_abs/secret.txt",
    "out_sibling/secret.txt",
    "top",
    "top/etc/passwd",
    "top{ws}/a.txt",
    "etc/passwd",
    "etc",
    "parent",
    "parent/outside/secret.txt",
    "parent/workspace/a.txt",
    "sub/parents",
    "sub/parents/outside/secret.txt",
    "link_sub/parents/outside/secret.txt",
    "link_sub/../../outside/secret.txt",
    "out_chain",
    "out_chain/secret.txt",
    "out_chain2/folder/deep.txt",
    "sub/out_far",
    "link_sub/out_far",
    "./out_file",
    "sub/../out_file",
    "proc_root",
    "proc_root/etc/passwd",
    "proc_cwd/a.txt",
    "proc_exe",
    "proc_fd",
    "proc_fd/0",
    "dev_fd",
    "dev_stdin",
    "dev_null",
    "loop",
    "loop/a.txt",
    "loop_a",
    "loop_b/x",
    "dangling_out",
    "dangling_abs",
)

# Not out, but nothing that can be opened as a file.
UNUSABLE = (
    "",
    "\0",
    "a.txt\0",
    "a.txt\0/../../outside/secret.txt",
    "sub\0/b.txt",
    "\ud800",
    "sub/\udfff.txt",
    "x" * 256,
    "x" * 5_000,
    "sub/" * 2_000 + "b.txt",
    "./" * 3_000 + "a.txt",
    "\U0001f600" * 1_100,
    "fifo",
    "socket",
    "sub/../fifo",
)

# Reads by an honest path.
HONEST = (
    *INNER_FILES,
    "./a.txt",
    ".//a.txt",
    "sub/../a.txt",
    "sub/deep/../../a.txt",
    "sub/deep/../b.txt",
    "link_in",
    "./link_in",
    "link_sub/b.txt",
    "link_sub/deep/c.txt",
    "link_sub/../a.txt",
    "link_round",
    "sub/link_up",
    "sub/deep/link_up",
    "chain",
    "chain2",
    "link_sub/link_up",
    "{ws}/a.txt",
    "{ws}/sub/b.txt",
    "{ws}/./sub//b.txt",
    "{ws}/sub/../a.txt",
    "{ws}/link_sub/b.txt",
)
