"""The process of one sandboxed tool call: reads a request, runs the tool file, sends the reply, and exits.

The sandbox starts it with the connection to the daemon as standard input and output
(`python -I -m aeond.capabilities.sandbox.runner`). It confines itself before it reads the tool's
code. Output of tools goes to standard error. It exits after its
reply, at its deadline, or when the daemon closes the connection (after the exit hooks), whichever is first; the
surrounding sandbox then ends all processes that it started.
"""

import os
import socket
import threading
import traceback
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from aeond.capabilities.sandbox.confinement.process import confine
from aeond.capabilities.sandbox.exit_hooks import run_exit_hooks
from aeond.capabilities.sandbox.live_output import deliver_with
from aeond.capabilities.sandbox.messages import Errand, Outcome, Reply, Request, live_line
from aeond.capabilities.sandbox.workspace_archive import ParcelError, fingerprints, pack, unpack
from aeond.domain.tools import RecordedEffect
from aeond.errors import AeondError

MAX_ERROR_CHARS: Final = 2_000


def main() -> None:
    wire = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    with wire.makefile("rb") as reader:
        request = Request.read(reader)
    os.umask(0o077)
    reporter = ErrorReporter()
    with reporter:
        confine(request.limits, request.context.workspace if request.parcel is None else "")
        end_with(wire)
        deliver_with(lambda text: wire.sendall(live_line(text)))
        recording = replace(request.context, record=reporter.record)
        reply = performed(replace(request, context=recording))
        reporter.said = replace(reply, effects=(*reporter.recorded, *reply.effects)).encoded()
    wire.sendall(reporter.said)
    os._exit(0)


def end_with(wire: socket.socket) -> None:
    """Exits this process when the daemon closes its end."""

    def watch() -> None:
        try:
            with suppress(OSError):
                while wire.recv(1 << 10):
                    pass
            run_exit_hooks()
        finally:
            os._exit(1)

    threading.Thread(target=watch, name="watch", daemon=True).start()


class ErrorReporter:
    """Converts any exception of a tool into a reply, with the effects that it recorded."""

    def __init__(self) -> None:
        self.said = b""
        self.recorded: list[tuple[str, ...]] = []

    def record(self, effect: RecordedEffect) -> None:
        self.recorded.append(texts_of(effect))

    def __enter__(self) -> None:
        return

    def __exit__(self, _kind: object, error: BaseException | None, *_: object) -> bool:
        if error is not None:
            self.said = replace(error_reply(error), effects=tuple(self.recorded)).encoded()
        return True


def error_reply(error: BaseException) -> Reply:
    # A tool's exception may have a broken __str__; the traceback module copes with that.
    said = "".join(traceback.format_exception_only(error)).strip()
    if isinstance(error, AeondError):
        retryable = getattr(error, "retryable", False) is True
        return Reply(
            error=str(error.message)[:MAX_ERROR_CHARS], reason=str(error.reason), retryable=retryable
        )
    return Reply(error=said[:MAX_ERROR_CHARS], reason="TOOL_RAISED")


def performed(request: Request) -> Reply:
    """Performs the errand; raises the tool's exceptions."""
    workspace = Path(request.context.workspace or "/")
    if request.parcel is None:
        os.chdir(workspace)
        return what_it_returns(request)
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="workspace-") as folder:
        workspace = Path(folder)
        unpack(request.parcel, workspace)
        before = fingerprints(workspace)
        os.chdir(workspace)
        returned = what_it_returns(replace(request, context=replace(request.context, workspace=folder)))
        removed = tuple(before.keys() - fingerprints(workspace).keys())
        try:
            return replace(returned, removed=removed, parcel=pack(workspace, before))
        except ParcelError as error:
            return Reply(
                error=f"the workspace cannot be transferred back: {error}", reason="WORKSPACE_TOO_LARGE"
            )
        finally:
            os.chdir("/")


def what_it_returns(request: Request) -> Reply:
    """The return value of the tool in transferable form."""
    from aeond.capabilities.tool_files import tools_in

    tools = tools_in(Path(request.path), request.source)
    if request.errand is Errand.DESCRIBE:
        return Reply([{**asdict(tool.spec), "effect": str(tool.spec.effect)} for tool in tools])
    # Lighter than anyio, which tools may use nevertheless.
    from asyncio import run  # noqa: TID251 - the entry point of a program of its own

    from aeond.domain.plans.subtasks import SubtaskRequest
    from aeond.domain.runs.questions import InputRequest
    from aeond.domain.tools import ToolOutput

    tool = next(tool for tool in tools if tool.spec.name == request.tool)
    work = tool.execute if request.errand is Errand.EXECUTE else tool.reconcile

    async def work_done() -> Any:
        return await work(request.arguments, request.context)

    returned = run(work_done())
    if isinstance(returned, InputRequest):
        return Reply(asdict(returned), Outcome.INPUT)
    if isinstance(returned, SubtaskRequest):
        return Reply(asdict(returned), Outcome.SUBTASK)
    if isinstance(returned, ToolOutput):
        return Reply(returned.data, effects=tuple(map(texts_of, returned.effects)))
    return Reply(returned)


def texts_of(effect: RecordedEffect) -> tuple[str, ...]:
    return effect.kind, effect.target, effect.detail


if __name__ == "__main__":
    main()
