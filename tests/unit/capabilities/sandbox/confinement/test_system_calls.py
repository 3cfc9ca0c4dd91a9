"""The filter of system calls, interpreted as the kernel does."""

import errno
import os
import platform
import socket
import struct
from collections.abc import Sequence

import pytest

from aeond.capabilities.sandbox.confinement.system_calls import DENIED, LOOPBACK, Denied, compiled, numbers_of

ALLOWED = 0x7FFF0000
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
COLUMNS = {"x86_64": 0, "aarch64": 1}
OPEN = {"x86_64": 257, "aarch64": 56}


def verdict(
    machine: str,
    number: int,
    *arguments: int,
    architecture: int = 0,
    denied: Sequence[Denied] = DENIED,
) -> int:
    """The action of the filter for a call."""
    data = struct.pack(
        "IIQ6Q", number, architecture or ARCHITECTURES[machine], 0, *(*arguments, *[0] * 6)[:6]
    )
    program = compiled(denied, machine)
    at = held = 0
    while True:
        code, if_true, if_false, operand = program[at]
        at += 1
        match code:
            case 0x20:
                (held,) = struct.unpack_from("I", data, operand)
            case 0x06:
                return operand
            case 0x15:
                at += if_true if held == operand else if_false
            case 0x25:
                at += if_true if held > operand else if_false
            case 0x45:
                at += if_true if held & operand else if_false
            case _:
                raise AssertionError(code)


def refusal(code: int) -> int:
    return 0x00050000 | code


@pytest.fixture(params=ARCHITECTURES)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_call_without_conditions_is_denied(machine: str) -> None:
    """A call that is denied whatever its arguments are fails with its errno."""
    numbers = numbers_of(COLUMNS[machine])
    for denied in DENIED:
        for name in denied.names.split():
            if () in denied.cases and numbers[name] >= 0:
                assert verdict(machine, numbers[name]) == refusal(denied.code), name


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("openat", (0, 0, os.O_CREAT, 0o4755), errno.EPERM),
        ("openat", (0, 0, os.O_TMPFILE | os.O_RDWR, 0o2755), errno.EPERM),
        ("openat", (0, 0, os.O_CREAT, 0o755), 0),
        (
            "openat",
            (0, 0, os.O_RDONLY | os.O_DIRECTORY, 0o4755),
            0,
        ),  # no file is made: the mode means nothing
        ("fchmodat", (0, 0, 0o4755), errno.EPERM),
        ("fchmodat", (0, 0, 0o1755), 0),
        ("mkdirat", (0, 0, 0o2755), errno.EPERM),
        ("socketpair", (1, 1), 0),
        ("socketpair", (1, 5 | 0o2000000), 0),
        ("socketpair", (1, 2), errno.EAFNOSUPPORT),
        ("socketpair", (1, 3), errno.EAFNOSUPPORT),
        ("socketpair", (2, 1), errno.EAFNOSUPPORT),
        ("clone", (0x10000000,), errno.EPERM),
        ("clone", (0x3D0F00,), 0),  # a thread
        ("ioctl", (0, 0x5412), errno.EPERM),
        ("ioctl", (0, 0x541C), errno.EPERM),
        ("ioctl", (0, 0x5413), 0),
    ],
)
def test_arguments_decide(machine: str, name: str, arguments: tuple[int, ...], code: int) -> None:
    """Calls that tools need are denied only with the arguments that do harm."""
    number = numbers_of(COLUMNS[machine])[name]
    assert verdict(machine, number, *arguments) == (refusal(code) if code else ALLOWED)


@pytest.mark.parametrize("name", ["socket", "socketpair"])
def test_with_a_loopback_only_its_families_are_allowed(machine: str, name: str) -> None:
    """A program with a loopback of its own gets IP and Unix sockets, and none of the families that leave the sandbox."""
    number = numbers_of(COLUMNS[machine])[name]
    for family in range(50):
        allowed = family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
        expected = ALLOWED if allowed else refusal(errno.EAFNOSUPPORT)
        assert verdict(machine, number, family, denied=LOOPBACK) == expected, family


def test_an_unknown_system_call_is_denied(machine: str) -> None:
    """A call that is newer than the list does not exist in a sandbox; one of another architecture ends the process."""
    assert verdict(machine, 453) == refusal(errno.ENOSYS)
    assert verdict(machine, 0x40000000 | 41) == refusal(errno.ENOSYS)  # x32
    assert verdict(machine, OPEN[machine], architecture=0x40000003) == 0x80000000


@pytest.mark.skipif(platform.machine() != "x86_64", reason="compares the numbers of x86_64")
def test_ordinary_calls_are_allowed() -> None:
    """Calls that every program makes pass."""
    for number in (0, 1, 3, 9, 11, 59, 60, 231, 318):
        assert verdict("x86_64", number) == ALLOWED
