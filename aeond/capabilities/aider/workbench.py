"""Runs Aider on a folder in the sandbox, and answers what it asks the model."""

import asyncio
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import anyio
from pydantic import BaseModel

from aeond.capabilities.aider.relay import ANSWER_TOKENS, Relay
from aeond.capabilities.sandbox.cgroups import GroupHome
from aeond.capabilities.sandbox.servers.process import ServerProgram, server_process
from aeond.errors import ToolError
from aeond.frozen import frozen
from aeond.ports import LLMAdapter, TextSink

WORK: Final = ("-m", "aeond.capabilities.aider.inside.work")
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
    """The outcome of Aider and of the tests before and after it, and the files that differ. Untrusted."""

    aider: Ended
    before: Ended | None
    after: Ended | None
    changed: list[str]


@frozen
class Order:
    """What Aider does in a folder: `files` it may change, `read` it sees. `test` is a command, empty for none."""

    folder: Path
    task: str
    files: tuple[str, ...]
    read: tuple[str, ...]
    test: tuple[str, ...]
    seconds: float

    @property
    def whole_seconds(self) -> float:
        """The longest duration with the tests."""
        return self.seconds + 2 * MAX_TEST_SECONDS + GRACE_SECONDS


class Workbench:
    """Runs Aider of one environment. Nothing of the machine is visible to it but the programs, the environment and the
    folder; it has no network but the loopback of its sandbox."""

    def __init__(
        self, environment: Path, hidden: Sequence[Path], groups: GroupHome | None, memory_bytes: int
    ) -> None:
        self._environment = environment
        self._hidden = hidden
        self._groups = groups
        self._memory_bytes = memory_bytes

    async def work(self, order: Order, llm: LLMAdapter, show: TextSink) -> tuple[Done, Sequence[str]]:
        """The outcome, and why the model refused to answer, if it did. ToolError (reason SANDBOX_UNAVAILABLE,
        SANDBOX_ENDED, AIDER_TIMEOUT)."""
        program = ServerProgram(
            command=WORK,
            environment={},
            readable=(str(self._environment),),
            writable=(str(order.folder),),
            loopback=True,
            memory_bytes=self._memory_bytes,
        )
        relay = Relay(llm)
        async with server_process(program, self._hidden, self._groups) as (ours, last_words):
            reader, writer = await asyncio.open_unix_connection(sock=ours, limit=MAX_LINE_BYTES)
            try:
                with anyio.fail_after(order.whole_seconds):
                    writer.write(self._encoded(order, llm))
                    done = await self._watched(reader, writer, relay, show)
            except TimeoutError as error:
                message = f"Aider did not end within {order.whole_seconds:g} seconds"
                raise ToolError(message, reason="AIDER_TIMEOUT") from error
            except (OSError, EOFError) as error:
                raise _ended(await last_words()) from error
            except (ValueError, RecursionError) as error:  # too long a line, no JSON, or of another form
                raise _ended(f"its answer cannot be read: {error}") from error
            finally:
                writer.transport.abort()
        return done, relay.refusals

    def _encoded(self, order: Order, llm: LLMAdapter) -> bytes:
        fields = {
            "folder": str(order.folder),
            "python": str(self._environment / "bin" / "python"),
            "task": order.task,
            "files": order.files,
            "read": order.read,
            "test": order.test,
            "test_line": shlex.join(order.test),
            "test_seconds": MAX_TEST_SECONDS,
            "seconds": order.seconds,
            "context_tokens": llm.capabilities.context_length,
            "answer_tokens": ANSWER_TOKENS,
        }
        return json.dumps(fields).encode() + b"\n"

    async def _watched(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, relay: Relay, show: TextSink
    ) -> Done:
        """Answers and shows until the end. ValueError for a message of another form, EOFError without an end."""
        shown = 0
        while line := await reader.readline():
            message: Any = json.loads(line)
            match message:
                case {"live": str(text)} if shown < MAX_SHOWN_CHARS:
                    shown += len(text)
                    show(text)
                case {"live": str()}:
                    pass
                case {"ask": body}:
                    status, answer = await relay.answer(body)
                    writer.write(json.dumps({"status": status, "body": answer}).encode() + b"\n")
                    await writer.drain()
                case {"done": done}:
                    return Done.model_validate(done)
                case _:
                    raise ValueError("unknown message")
        raise EOFError("it closed the connection")


def _ended(how: str) -> ToolError:
    return ToolError(f"Aider's process ended early: {how}", reason="SANDBOX_ENDED")
