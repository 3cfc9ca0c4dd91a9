"""Programs that run in a bubblewrap sandbox until they are stopped, connected by their standard input and output."""

import contextlib
import json
import os
import shutil
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import anyio

from aeond.capabilities.sandbox.bubblewrap import NAMESPACES, View, made_group, running, unavailable
from aeond.capabilities.sandbox.cgroups import GroupHome
from aeond.capabilities.sandbox.confinement.process import NAME_SERVICE
from aeond.errors import ToolError
from aeond.frozen import frozen

LAUNCHER: Final = ("-I", "-B", "-m", "aeond.capabilities.sandbox.servers.launcher")
LastWords = Callable[[], Awaitable[str]]


@frozen
class ServerProgram:
    """A command and everything that it may reach.

    `environment` is all that it has besides HOME, LANG and PATH. The folders are shown under their own paths. With
    `loopback` its processes may connect to each other by TCP, and to nothing else. With `terminals` they may open
    pseudo-terminals of their own.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str]
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    network: bool = False
    loopback: bool = False
    terminals: bool = False
    memory_bytes: int = 1 << 30


@contextlib.asynccontextmanager
async def server_process(
    program: ServerProgram, hidden: Sequence[Path] = (), groups: GroupHome | None = None
) -> AsyncIterator[tuple[socket.socket, LastWords]]:
    """Runs the program while the context is open: our end of its standard input and output, and a function that
    waits for its end and describes it. Afterwards none of its processes is left.

    ToolError (reason SANDBOX_UNAVAILABLE) without a sandbox, (FOLDER_MISSING) for a folder that cannot be shown.
    """
    bubblewrap = shutil.which("bwrap")
    if bubblewrap is None:
        raise unavailable("bubblewrap is not installed: apt-get install bubblewrap")
    with contextlib.ExitStack() as stack:
        view = View(stack)
        await anyio.to_thread.run_sync(_show, view, program, hidden)
        group = None
        if groups is not None:
            group = stack.enter_context(made_group(groups, program.memory_bytes))
        environment = {"HOME": "/tmp", **program.environment}  # noqa: S108 - the sandbox's own
        settings = _settings(environment, stack)
        network = ["--share-net"] if program.network else []
        folders = {
            "readable": program.readable,
            "writable": (*program.writable, *(("/dev/pts",) if program.terminals else ())),
            "network": program.network,
            "loopback": program.loopback,  # the namespace without network has one of its own
        }
        launcher = [sys.executable, *LAUNCHER, json.dumps(folders), *program.command]
        command = [*NAMESPACES, *network, "--args", str(settings), *view.options, "--", *launcher]
        async with running(bubblewrap, command, [settings, *view.descriptors], group) as tree:
            yield tree.ours, tree.last_words


def _settings(environment: Mapping[str, str], stack: contextlib.ExitStack) -> int:
    """A descriptor from which bubblewrap reads the variables: every user of the machine can read its command line."""
    words = [word for name, value in environment.items() for word in ("--setenv", name, value)]
    descriptor = os.memfd_create("variables", os.MFD_CLOEXEC)
    stack.callback(os.close, descriptor)
    os.pwrite(descriptor, b"".join(os.fsencode(word) + b"\0" for word in words), 0)
    return descriptor


def _show(view: View, program: ServerProgram, hidden: Sequence[Path]) -> None:
    if program.network:
        for path in NAME_SERVICE:
            view.options += ["--ro-bind-try", path, path]
    for paths, writable in ((program.readable, False), (program.writable, True)):
        for path in paths:
            try:
                view.add(path, hidden, writable=writable)
            except OSError as error:
                raise ToolError(
                    f"folder {path} cannot be shown to the server ({error.strerror}): create it, or remove it from"
                    " the configuration",
                    reason="FOLDER_MISSING",
                ) from error
    view.close()
