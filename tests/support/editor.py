"""An editor for tests: the client of the protocol's own library, with aeonctl acp as a program of its own."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
from acp import PROTOCOL_VERSION, spawn_agent_process, text_block
from acp.client import ClientSideConnection
from acp.interfaces import Client
from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AllowedOutcome,
    DeniedOutcome,
    PermissionOption,
    RequestPermissionResponse,
    TextContentBlock,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
)

from tests.support.aeonctl import command, environment

DEADLINE_SECONDS = 60.0


class Editor:
    """Records what an agent sends; `choose` gives the id of an option for each permission request, "" to dismiss it."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.asked: list[tuple[ToolCallUpdate, list[PermissionOption]]] = []
        self.choose: Callable[[ToolCallUpdate, list[PermissionOption]], str] = lambda _call, _options: ""
        self.hold = anyio.Event()  # a permission request waits for it
        self.hold.set()
        self._changed = anyio.Event()
        self.connection: ClientSideConnection

    # ------------------------------------------------------------ the protocol

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self._note(self.updates, update)

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        self._note(self.asked, (tool_call, options))
        await self.hold.wait()
        choice = self.choose(tool_call, options)
        outcome = (
            AllowedOutcome(outcome="selected", option_id=choice)
            if choice
            else DeniedOutcome(outcome="cancelled")
        )
        return RequestPermissionResponse(outcome=outcome)

    def on_connect(self, conn: Any) -> None:
        """The library calls this; the connection is returned by `editing`."""

    def _note(self, where: list[Any], what: Any) -> None:
        where.append(what)
        self._changed.set()
        self._changed = anyio.Event()

    # ------------------------------------------------------------ for tests

    async def until(self, happened: Callable[[], bool]) -> None:
        """Returns once it is so."""
        with anyio.fail_after(DEADLINE_SECONDS):
            while not happened():
                await self._changed.wait()

    async def prompt(self, session_id: str, text: str) -> str:
        """Sends a prompt; why its turn ended."""
        with anyio.fail_after(DEADLINE_SECONDS):
            reply = await self.connection.prompt(session_id=session_id, prompt=[text_block(text)])
        return reply.stop_reason

    async def session(self, folder: Path) -> str:
        return (await self.connection.new_session(cwd=str(folder), mcp_servers=[])).session_id

    @property
    def text(self) -> str:
        """Everything that the agent has said."""
        return "".join(
            update.content.text
            for update in self.updates
            if isinstance(update, AgentMessageChunk) and isinstance(update.content, TextContentBlock)
        )

    @property
    def plans(self) -> list[list[str]]:
        """The states of the entries of each plan that was shown."""
        return [
            [entry.status for entry in one.entries]
            for one in self.updates
            if isinstance(one, AgentPlanUpdate)
        ]

    @property
    def calls(self) -> list[ToolCallStart | ToolCallProgress]:
        return [one for one in self.updates if isinstance(one, ToolCallStart | ToolCallProgress)]


@asynccontextmanager
async def editing(socket: str, *options: str) -> AsyncIterator[Editor]:
    """An editor whose agent is connected and initialized."""
    editor = Editor()
    words = command("acp", *options)
    async with spawn_agent_process(cast("Client", editor), *words, env=environment(AEOND_SOCKET=socket)) as (
        connection,
        process,
    ):
        editor.connection = connection
        reply = await connection.initialize(protocol_version=PROTOCOL_VERSION)
        assert reply.agent_capabilities is not None
        assert reply.agent_capabilities.load_session
        yield editor
        assert process.returncode is None, "the agent ended before its editor"
