"""Tools that try to get out of their sandbox: each attempt reports whether the kernel refused it, and how.

Attempts are harmless where nothing refuses them: their other arguments are invalid, or name files of their own.
"""

# ruff: noqa: TID251 - forks and sleeps are what these tools do; they run in processes of their own

import ctypes
import errno
import fcntl
import os
import signal
import socket
import stat
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from aeond.capabilities.tools.function_tool import tool
from aeond.domain.tools import Effect, ToolContext

LIBC = ctypes.CDLL(None, use_errno=True)
ARM = os.uname().machine == "aarch64"
DONE, NOTHING = "done", "nothing found"
ATTEMPTS: dict[str, Callable[["Target"], object]] = {}
REFUSALS = {"EPERM", "EACCES", "EAFNOSUPPORT", "ENOSYS", "EROFS", "EFBIG", "EMFILE", "ENOMEM", NOTHING}
ABSENT = {"ENOENT", "ESRCH"}  # a refusal of an attempt at something that exists outside of the sandbox
AT_THE_HOST = ("read_", "write_", "signal_", "environment_")
MIB = 1 << 20


class Target(BaseModel):
    """The targets of the attack: a file and a process of the host, and names of attempts (all)."""

    secret: str = ""
    pid: int = 0
    names: list[str] = []


class Result(BaseModel):
    value: Any = None


def attempt(function: Callable[[Target], object]) -> Callable[[Target], object]:
    ATTEMPTS[function.__name__] = function
    return function


def called(x86_64: int, aarch64: int, *arguments: Any) -> int:
    """A raw system call; OSError if it fails."""
    result: int = LIBC.syscall(ctypes.c_long(aarch64 if ARM else x86_64), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def long(value: int) -> ctypes.c_long:
    return ctypes.c_long(value)


def _plain(name: str, x86_64: int, aarch64: int, *arguments: Any) -> None:
    ATTEMPTS[name] = lambda _target: called(x86_64, aarch64, *arguments)


# --- sockets


def _socket_attempt(name: str, family: int, kind: int, protocol: int = 0) -> None:
    def opened(_target: Target) -> None:
        socket.socket(family, kind, protocol).close()

    ATTEMPTS[f"socket_{name}"] = opened


_socket_attempt("inet", socket.AF_INET, socket.SOCK_STREAM)
_socket_attempt("inet_datagram", socket.AF_INET, socket.SOCK_DGRAM)
_socket_attempt("inet6", socket.AF_INET6, socket.SOCK_STREAM)
_socket_attempt("raw", socket.AF_INET, socket.SOCK_RAW, 1)
_socket_attempt("packet", socket.AF_PACKET, socket.SOCK_RAW)
_socket_attempt("netlink", socket.AF_NETLINK, socket.SOCK_RAW)
_socket_attempt("vsock", socket.AF_VSOCK, socket.SOCK_STREAM)
_socket_attempt("alg", socket.AF_ALG, socket.SOCK_SEQPACKET)
_socket_attempt("bluetooth", 31, socket.SOCK_RAW, 1)
_socket_attempt("xdp", 44, socket.SOCK_RAW)
_socket_attempt("unix", socket.AF_UNIX, socket.SOCK_STREAM)


def _connect_attempt(name: str, address: str) -> None:
    def connected(_target: Target) -> None:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(address)

    ATTEMPTS[f"connect_{name}"] = connected


_connect_attempt("in_workspace", "daemon.sock")
_connect_attempt("abstract", "\0aeond-hostile")


@attempt
def send_from_a_pair(_target: Target) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, theirs:
        ours.sendto(b"x", "daemon.sock")


ATTEMPTS["bind_a_pair"] = lambda _target: socket.socketpair()[0].bind("fresh.sock")


_plain("io_uring", 425, 425, long(4), ctypes.create_string_buffer(256))


# --- set-user-ID and set-group-ID bits


def _bits(name: str, attack: Callable[[str], object]) -> None:
    def set_bits(_target: Target) -> None:
        path = f"bits-{name}"
        with suppress(FileNotFoundError):
            os.unlink(path)
        attack(path)
        assert os.lstat(path).st_mode & 0o6000
        os.chmod(path, 0o700)

    ATTEMPTS[f"bits_{name}"] = set_bits


def _made(path: str) -> str:
    Path(path).touch()
    return path


_bits("chmod_user", lambda path: os.chmod(_made(path), 0o4755))
_bits("chmod_group", lambda path: os.chmod(_made(path), 0o2755))
_bits("fchmod", lambda path: os.fchmod(os.open(path, os.O_CREAT | os.O_WRONLY), 0o4755))
_bits("fchmodat", lambda path: called(268, 53, long(-100), os.fsencode(_made(path)), long(0o4755)))
_bits("fchmodat2", lambda path: called(452, 452, long(-100), os.fsencode(_made(path)), long(0o6755), long(0)))
_bits("openat", lambda path: os.open(path, os.O_CREAT | os.O_WRONLY, 0o4755))
_bits("mkdirat", lambda path: called(258, 34, long(-100), os.fsencode(path), long(0o2755)))
_bits("mknodat", lambda path: os.mknod(path, stat.S_IFREG | 0o4755))
if not ARM:
    _bits("open", lambda path: called(2, 0, os.fsencode(path), long(os.O_CREAT | os.O_WRONLY), long(0o4755)))
    _bits("creat", lambda path: called(85, 0, os.fsencode(path), long(0o4755)))
    _bits("mkdir", lambda path: called(83, 0, os.fsencode(path), long(0o6755)))


@attempt
def bits_unnamed(_target: Target) -> None:
    os.close(os.open(".", os.O_TMPFILE | os.O_WRONLY, 0o4755))


@attempt
def bits_openat2(_target: Target) -> None:
    how = struct.pack("QQQ", os.O_CREAT | os.O_WRONLY, 0o4755, 0)
    called(437, 437, long(-100), b"bits-openat2", how, long(len(how)))


@attempt
def file_capability(_target: Target) -> None:
    data = struct.pack("<IIIII", 0x02000001, 1 << 21, 0, 0, 0)
    os.setxattr(_made("capable"), "security.capability", data)


# --- namespaces and mounts

for _name, _flag in (("user", 0x10000000), ("mount", 0x20000), ("net", 0x40000000), ("pid", 0x20000000)):
    _plain(f"unshare_{_name}", 272, 97, long(_flag))


@attempt
def clone_user(_target: Target) -> None:
    if called(56, 220, long(0x10000000 | signal.SIGCHLD), None, None, None, None) == 0:
        os._exit(0)
    os.wait()


@attempt
def clone3_user(_target: Target) -> None:
    arguments = struct.pack("11Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0)
    if called(435, 435, arguments, long(len(arguments))) == 0:
        os._exit(0)
    os.wait()


_plain("setns", 308, 268, long(0), long(0))
_plain("mount", 165, 40, b"x", b".", b"no-such-type", long(0), None)
_plain("remount", 165, 40, None, b"no-such-place", None, long(0x20 | 0x1000), None)
_plain("unmount", 166, 39, b"no-such-place", long(0))
_plain("pivot_root", 155, 41, b"no-such-place", b"no-such-place")
_plain("chroot", 161, 51, b"/")
_plain("open_tree", 428, 428, long(-100), b"/", long(1))
_plain("new_file_system", 430, 430, b"tmpfs", long(0))
_plain("move_mount", 429, 429, long(-100), b"no-such-place", long(-100), b"no-such-place", long(0))


# --- other processes

_plain("trace", 101, 117, long(16), long(1), None, None)
_plain("trace_a_child", 101, 117, long(0), long(0), None, None)
_plain("read_memory", 310, 270, long(0), None, long(0), None, long(0), long(0))
_plain("write_memory", 311, 271, long(0), None, long(0), None, long(0), long(0))
_plain("take_a_descriptor", 438, 438, long(0), long(0), long(0))


@attempt
def read_memory_file(_target: Target) -> None:
    os.close(os.open("/proc/1/mem", os.O_RDONLY))


ATTEMPTS["signal_the_host"] = lambda target: os.kill(target.pid, 0)


@attempt
def environment_of_the_first(_target: Target) -> str:
    said = Path("/proc/1/environ").read_bytes()
    return repr(said[:200]) if said.strip(b"\0") else NOTHING


@attempt
def environment(_target: Target) -> str:
    usual = {
        "INVOCATION_ID",
        "LANG",
        "LC_CTYPE",
        "PATH",
        "PWD",
        "PYTHONUTF8",
        "REMOTE_ADDR",
        "SYSTEMD_EXEC_PID",
    }
    usual |= {"HOME", "JOURNAL_STREAM", "LOGNAME", "REMOTE_PORT", "SHELL", "TMPDIR", "USER"}  # set by systemd
    return repr(sorted(set(os.environ) - usual)) if set(os.environ) - usual else NOTHING


@attempt
def descriptors(_target: Target) -> str:
    links = {name: _link(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")}
    odd = {
        name: to
        for name, to in links.items()
        if to.startswith("/") and not to.startswith(("/dev/", "/proc/"))
    }
    return repr(odd) if odd else NOTHING


def _link(path: str) -> str:
    with suppress(OSError):
        return os.readlink(path)
    return ""


# --- the kernel and the machine


_plain("keyctl", 250, 219, long(0), long(-1), long(0))
_plain("add_key", 248, 217, b"user", b"x", b"y", long(1), long(-2))
_plain("request_key", 249, 218, b"user", b"no-such-key", None, long(0))
_plain("bpf", 321, 280, long(0), None, long(0))
_plain("perf_events", 298, 241, None, long(0), long(-1), long(-1), long(0))
_plain("userfaultfd", 323, 282, long(1))
_plain("secret_memory", 447, 447, long(0))
_plain("personality", 135, 92, long(0xFFFFFFFF))
_plain("watch_everything", 300, 262, long(0), long(0))
_plain("handle_of_a_file", 303, 264, long(-100), b".", None, None, long(0))
_plain("file_of_a_handle", 304, 265, long(-100), None, long(0))
_plain("kernel_log", 103, 116, long(10), None, long(0))
_plain("host_name", 170, 161, b"x", long(-1))
_plain("kernel_module", 175, 105, None, long(0), b"")
_plain("reboot", 169, 142, long(0), long(0), long(0), None)
_plain("unknown_call", 4000, 4000)


@attempt
def type_into_a_terminal(_target: Target) -> None:
    fcntl.ioctl(0, 0x5412, b"x")


# --- files


def _readable(name: str, path: str) -> None:
    def read(_target: Target) -> None:
        os.close(os.open(path, os.O_RDONLY))

    ATTEMPTS[f"read_{name}"] = read


_readable("accounts", "/etc/passwd")
_readable("hashes", "/etc/shadow")
_readable("home_of_root", "/root/.")
_readable("root_of_the_first", "/proc/1/root/etc/passwd")
_readable("kernel_memory", "/proc/kcore")
_readable("disk", "/dev/vda")
ATTEMPTS["read_secret"] = lambda target: os.open(target.secret, os.O_RDONLY)


@attempt
def read_secret_by_link(target: Target) -> None:
    with suppress(FileExistsError):
        os.symlink(target.secret, "link")
    os.close(os.open("link", os.O_RDONLY))


@attempt
def write_beside_the_secret(target: Target) -> None:
    Path(target.secret).with_name("planted").write_text("x", encoding="utf-8")


ATTEMPTS["write_system"] = lambda _target: os.open("/usr/planted", os.O_CREAT | os.O_WRONLY)
ATTEMPTS["write_kernel_setting"] = lambda _target: os.open("/proc/sys/kernel/core_pattern", os.O_RDWR)


@attempt
def device(_target: Target) -> None:
    with suppress(FileNotFoundError):
        os.unlink("memory")
    os.mknod("memory", stat.S_IFCHR | 0o600, os.makedev(1, 1))
    os.close(os.open("memory", os.O_RDONLY))


# --- limits of each process


@attempt
def raise_a_limit(_target: Target) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard + 1))
    except ValueError as error:
        raise PermissionError(errno.EPERM, "refused") from error


@attempt
def large_file(_target: Target) -> None:
    with open("large", "wb") as file:
        file.truncate((1 << 30) + 1)


@attempt
def many_files(_target: Target) -> None:
    opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(300)]
    assert opened


@attempt
def much_memory(_target: Target) -> None:
    try:
        assert bytearray(2 << 30)
    except MemoryError as error:
        raise OSError(errno.ENOMEM, "refused") from error


_plain("locked_memory", 149, 228, ctypes.create_string_buffer(MIB), long(MIB))


def is_refused(name: str, outcome: str) -> bool:
    """Whether the sandbox, and nothing else, ended an attempt."""
    return outcome in REFUSALS or (outcome in ABSENT and name.startswith(AT_THE_HOST))


@tool(effect=Effect.EXEC_CONTAINED, timeout_seconds=60.0)
def attack(arguments: Target, context: ToolContext) -> Result:
    """Makes the attempts, each in a process of its own, and returns how each ended: done, or the errno."""
    os.chdir(context.workspace or "/tmp")
    return Result(value={name: _outcome(name, arguments) for name in arguments.names or ATTEMPTS})


def _outcome(name: str, target: Target) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os.write(writing, _attempted(name, target).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as said:
        outcome = said.read().decode()
    _, status = os.waitpid(child, 0)
    return outcome or f"ended with status {status}"


def _attempted(name: str, target: Target) -> str:
    try:
        found = ATTEMPTS[name](target)
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "unknown")
    except AssertionError:
        return "without effect"
    return found if isinstance(found, str) else DONE


TOOLS = [attack]
