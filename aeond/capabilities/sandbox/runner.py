"""The program that one tool call lives in: reads a request, runs the tool file, answers, and ends.

Started by the sandbox, under its bounds, with the connection to the daemon as standard input and output
(`python -I -m aeond.capabilities.sandbox.runner`). What tools print goes to standard error. It ends with
its answer, when its time is up, and when the daemon closes the connection, whichever comes first; what it
started meanwhile is ended with it by the sandbox around it.
"""

import os
import resource
import signal
import socket
import threading
import traceback
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from aeond.capabilities.sandbox.messages import Errand, Outcome, Reply, Request
from aeond.capabilities.sandbox.parcels import ParcelError, fingerprints, pack, unpack
from aeond.errors import AeondError
from aeond.frozen import frozen

MAX_ERROR_CHARS: Final = 2_000
# The daemon's own bound comes first and says so in better words.
GRACE_SECONDS: Final = 2.0


def main() -> None:
    wire = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    with wire.makefile("rb") as reader:
        request = Request.read(reader)
    bound(request)
    end_with(wire)
    os.umask(0o077)
    telling = Telling()
    with telling:
        telling.said = performed(request).encoded()
    wire.sendall(telling.said)
    os._exit(0)


def bound(request: Request) -> None:
    """No more time and memory than was granted, held by the kernel whatever the tool does."""
    memory = request.limits.memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The signal's default is to end the process: a loop in native code ends too.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, request.limits.seconds + GRACE_SECONDS)


def end_with(wire: socket.socket) -> None:
    """Ends this process when the daemon closes its end."""

    def watch() -> None:
        try:
            while wire.recv(1 << 10):
                pass
        finally:
            os._exit(1)

    threading.Thread(target=watch, name="watch", daemon=True).start()


class Telling:
    """Turns whatever a tool raises into the reply that says so."""

    def __init__(self) -> None:
        self.said = b""

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is not None:
            self.said = told(error).encoded()
        return True


def told(error: BaseException) -> Reply:
    # What a tool raises may have a broken __str__; the traceback module copes with that.
    said = "".join(traceback.format_exception_only(error)).strip()
    if isinstance(error, AeondError):
        retryable = getattr(error, "retryable", False) is True
        return Reply(
            error=str(error.message)[:MAX_ERROR_CHARS], reason=str(error.reason), retryable=retryable
        )
    return Reply(error=said[:MAX_ERROR_CHARS], reason="TOOL_RAISED")


def performed(request: Request) -> Reply:
    """The errand, done; raises whatever the tool raises."""
    workspace = Path(request.context.workspace or "/")
    if request.parcel is None:
        os.chdir(workspace)
        returned = what_it_returns(request)
        return Reply(returned.value, returned.outcome)
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="workspace-") as folder:
        workspace = Path(folder)
        unpack(request.parcel, workspace)
        before = fingerprints(workspace)
        os.chdir(workspace)
        returned = what_it_returns(replace(request, context=replace(request.context, workspace=folder)))
        removed = tuple(before.keys() - fingerprints(workspace).keys())
        try:
            parcel = pack(workspace, before)
            return Reply(returned.value, returned.outcome, removed=removed, parcel=parcel)
        except ParcelError as error:
            return Reply(error=f"the workspace cannot go back: {error}", reason="WORKSPACE_TOO_LARGE")
        finally:
            os.chdir("/")


@frozen
class Returned:
    """What a tool returned, fit to travel."""

    value: Any
    outcome: Outcome = Outcome.DATA


def what_it_returns(request: Request) -> Returned:
    from aeond.capabilities.tool_files import tools_in

    tools = tools_in(Path(request.path), request.source)
    if request.errand is Errand.DESCRIBE:
        return Returned([{**asdict(tool.spec), "effect": str(tool.spec.effect)} for tool in tools])
    # Lighter than anyio, which tools may use all the same.
    from asyncio import run  # noqa: TID251 - the entry point of a program of its own

    from aeond.domain.questions import InputRequest
    from aeond.domain.subtasks import SubtaskRequest

    tool = next(tool for tool in tools if tool.spec.name == request.tool)
    work = tool.execute if request.errand is Errand.EXECUTE else tool.reconcile

    async def work_done() -> object:
        return await work(request.arguments, request.context)

    returned = run(work_done())
    if isinstance(returned, InputRequest):
        return Returned(asdict(returned), Outcome.INPUT)
    if isinstance(returned, SubtaskRequest):
        return Returned(asdict(returned), Outcome.SUBTASK)
    return Returned(returned)


if __name__ == "__main__":
    main()
