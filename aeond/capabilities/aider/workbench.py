"""Runs Aider on a folder in the sandbox, and answers what it asks the model."""

import asyncio
import base64
import json
import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, Final

import anyio
from anyio.abc import TaskGroup
from pydantic import BaseModel, Field, NonNegativeInt

from aeond.capabilities.aider.relay import ANSWER_TOKENS, Relay
from aeond.capabilities.aider.worktrees import Chosen
from aeond.capabilities.sandbox.cgroups import GroupHome
from aeond.capabilities.sandbox.servers.process import ServerProgram, server_process
from aeond.errors import ToolError
from aeond.frozen import frozen
from aeond.ports import LLMAdapter, TextSink
from aeond.ports.serving import Terminal, TerminalSize

WORK: Final = ("-m", "aeond.capabilities.aider.inside.work")
SESSION: Final = ("-m", "aeond.capabilities.aider.inside.terminal")
STOPPED: Final = 499
MAX_LINE_BYTES: Final = 8 << 20
MAX_SHOWN_CHARS: Final = 1 << 20
GRACE_SECONDS: Final = 60.0  # for git and the start of the sandbox
MAX_TEST_SECONDS: Final = 120.0


class Ended(BaseModel):
    """The outcome of one program."""

    exit_code: int
    output: str
    stopped: bool


class Done(BaseModel):
    """The outcome of Aider and of the tests before and after it, the files that differ, the names that they do not define any more, which answers
    of the model it rests on, and why a test that was found is `unusable`. Untrusted."""

    aider: Ended
    before: Ended | None
    after: Ended | None
    changed: list[str]
    lost: Annotated[list[Annotated[str, Field(pattern=r"^\w{1,100}$")]], Field(max_length=20)] = []
    asked: tuple[NonNegativeInt, NonNegativeInt] = (0, 0)
    unusable: Annotated[str, Field(max_length=200)] = ""

    @property
    def ready(self) -> bool:
        """Whether the change is complete, the test does not fail, and nothing is lost."""
        whole = not (self.aider.stopped or self.aider.exit_code or self.lost)
        return whole and (self.after is None or self.after.exit_code == 0)


class TerminalDone(BaseModel):
    """The outcome of Aider at a terminal: what the user typed, the subjects of its commits, the outcome of the test after
    it, and the files that differ. Untrusted."""

    exit_code: int
    inputs: list[str]
    commits: list[str]
    after: Ended | None
    changed: list[str]


@frozen
class Order:
    """What Aider does in a folder with which files. `test` is a command, empty for none; `test_found` says that it was found by names."""

    folder: Path
    task: str
    chosen: Chosen
    test: tuple[str, ...]
    seconds: float
    test_found: bool = False

    @property
    def whole_seconds(self) -> float:
        """The longest duration with the test before and the last one after."""
        return self.seconds + 2 * MAX_TEST_SECONDS + GRACE_SECONDS


@frozen
class Workbench:
    """Runs Aider of one environment. Nothing of the machine is visible to it but the programs, the environment and the
    folder, without the `hidden` files; it has no network but the loopback of its sandbox."""

    environment: Path
    hidden: Sequence[Path]
    groups: GroupHome | None
    memory_bytes: int

    async def work(self, order: Order, llm: LLMAdapter, show: TextSink) -> tuple[Done, Relay]:
        """The outcome, and what the model answered or refused. ToolError (reason SANDBOX_UNAVAILABLE, SANDBOX_ENDED,
        AIDER_TIMEOUT)."""
        relay = Relay(llm)
        async with self._process(order, WORK) as wire:
            await wire.send(self._fields(order, llm))
            return await _watched(wire, relay, show), relay

    async def work_at_terminal(
        self, order: Order, llm: LLMAdapter, terminal: Terminal
    ) -> tuple[TerminalDone, Sequence[str]]:
        """The same with Aider at a terminal, until its user ends it or hangs up."""
        relay = Relay(llm)
        async with self._process(order, SESSION) as wire:
            kind = terminal.kind
            size = {"rows": kind.size.rows, "columns": kind.size.columns}
            await wire.send({**self._fields(order, llm), "terminal": {"kind": kind.name, **size}})
            return await TerminalWork(wire, relay, terminal).ended(), relay.refusals

    @asynccontextmanager
    async def _process(self, order: Order, command: tuple[str, ...]) -> AsyncIterator["_Wire"]:
        """The connection to a process in the sandbox. Failures of the process are ToolErrors."""
        program = ServerProgram(
            command=command,
            environment={},
            readable=(str(self.environment),),
            writable=(str(order.folder),),
            loopback=True,
            terminals=command == SESSION,
            memory_bytes=self.memory_bytes,
        )
        async with server_process(program, self.hidden, self.groups) as (ours, last_words):
            reader, writer = await asyncio.open_unix_connection(sock=ours, limit=MAX_LINE_BYTES)
            try:
                with anyio.fail_after(order.whole_seconds):
                    yield _Wire(reader, writer)
            except TimeoutError as error:
                message = f"Aider did not end within {order.whole_seconds:g} seconds"
                raise ToolError(message, reason="AIDER_TIMEOUT") from error
            except (OSError, EOFError) as error:
                raise _ended(await last_words()) from error
            except (ValueError, RecursionError) as error:  # too long a line, no JSON, or of another form
                raise _ended(f"its answer cannot be read: {error}") from error
            finally:
                writer.transport.abort()

    def _fields(self, order: Order, llm: LLMAdapter) -> Mapping[str, object]:
        return {
            "folder": str(order.folder),
            "python": str(self.environment / "bin" / "python"),
            "task": order.task,
            "files": order.chosen.files,
            "read": order.chosen.read,
            "tests": order.chosen.tests,
            "test": order.test,
            "test_found": order.test_found,
            "test_line": shlex.join(order.test),
            "test_seconds": MAX_TEST_SECONDS,
            "seconds": order.seconds,
            "context_tokens": llm.capabilities.context_length,
            "answer_tokens": ANSWER_TOKENS,
        }


class _Wire:
    """The connection to the process: messages as lines of JSON."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, message: Mapping[str, object]) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")
        await self._writer.drain()

    async def messages(self) -> AsyncIterator[Any]:
        """All messages. ValueError for one that is no JSON, EOFError at the end: the process ends with a message."""
        while line := await self._reader.readline():
            yield json.loads(line)
        raise EOFError("it closed the connection")


async def _watched(wire: _Wire, relay: Relay, show: TextSink) -> Done:
    """Answers and shows until the end. ValueError for a message of another form, EOFError without an end."""
    shown = 0
    async for message in wire.messages():
        match message:
            case {"live": str(text)} if shown < MAX_SHOWN_CHARS:
                shown += len(text)
                show(text)
            case {"live": str()}:
                pass
            case {"ask": body}:
                status, answer = await relay.answer(body)
                await wire.send({"status": status, "body": answer})
            case {"done": done}:
                return Done.model_validate(done)
            case _:
                break
    raise ValueError("unknown message")


class TerminalWork:
    """One Aider at a terminal: keys go in, screens come out, and the model is asked meanwhile."""

    def __init__(self, wire: _Wire, relay: Relay, terminal: Terminal) -> None:
        self._wire = wire
        self._relay = relay
        self._terminal = terminal
        self._answering: anyio.CancelScope | None = None

    async def ended(self) -> TerminalDone:
        """The outcome, once Aider has ended. Errors as `_watched`."""
        failure: Exception = EOFError()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._type)
            try:
                return await self._shown(tasks)
            except (OSError, EOFError, ValueError, RecursionError) as error:
                failure = error  # raised outside of the group, which would wrap it
            finally:
                tasks.cancel_scope.cancel()
        raise failure

    async def _shown(self, tasks: TaskGroup) -> TerminalDone:
        async for message in self._wire.messages():
            match message:
                case {"screen": str(output)}:
                    await self._terminal.show(base64.b64decode(output))
                case {"ask": body} if self._answering is None:
                    self._answering = anyio.CancelScope()
                    tasks.start_soon(self._answer, body, self._answering)
                case {"stop": True}:
                    if self._answering is not None:
                        self._answering.cancel()
                case {"done": done}:
                    return TerminalDone.model_validate(done)
                case _:
                    break
        raise ValueError("unknown message")

    async def _type(self) -> None:
        with suppress(OSError):  # the end is read elsewhere
            while (typed := await self._terminal.read()) is not None:
                if isinstance(typed, TerminalSize):
                    await self._wire.send({"rows": typed.rows, "columns": typed.columns})
                else:
                    await self._wire.send({"typed": base64.b64encode(typed).decode()})
            await self._wire.send({"hangup": True})

    async def _answer(self, body: Any, scope: anyio.CancelScope) -> None:
        async def show(text: str) -> None:
            await self._wire.send({"piece": text})

        answered: tuple[int, Mapping[str, Any]] = (STOPPED, {})
        with suppress(OSError):
            with scope:
                answered = await self._relay.answer(body, show)
            self._answering = None
            await self._wire.send({"status": answered[0], "body": answered[1]})


def _ended(how: str) -> ToolError:
    return ToolError(f"Aider's process ended early: {how}", reason="SANDBOX_ENDED")
