"""One turn of an editor: a run that is followed until it ends, or until it needs words of the user."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

from acp import schema
from acp.exceptions import RequestError
from acp.helpers import update_agent_message_text, update_agent_thought_text
from acp.interfaces import Client as Editor

from aeon_cli.editor import permissions
from aeon_cli.editor.updates import RunUpdates, Update
from aeon_cli.runs.outages import in_words
from aeond_client import events
from aeond_client.async_client import AsyncClient
from aeond_client.connection.waiting import waits
from aeond_client.errors import AeondError, WrongStateError
from aeond_client.records.judgements import ApprovalRequest, Question
from aeond_client.records.runs import Resolution, StepState
from aeond_client.watching.following import Outage


class _CannotAskError(Exception):
    """The editor answered a permission request with an error."""


class Turn:
    """Follows one run for one session. `follow` may be called again after it has returned without an end: it resumes
    after the last event, also after a restart of the daemon.
    """

    def __init__(
        self,
        client: AsyncClient,
        editor: Editor,
        session_id: str,
        run_id: str,
        updates: RunUpdates,
        *,
        folder: Path,
        patience_seconds: float,
    ) -> None:
        self.run_id = run_id
        self.question: tuple[str, Question] | None = None  # the run that asks for words, and its question
        self._client = client
        self._editor = editor
        self._session_id = session_id
        self._updates = updates
        self._folder = folder
        self._watch = client.watch(
            run_id, children=True, patience_seconds=patience_seconds, on_outage=self._outage
        )
        self._group: asyncio.TaskGroup | None = None
        self._outcome: asyncio.Future[schema.StopReason] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._asked: dict[tuple[str, str], asyncio.Task[None]] = {}  # by run and approval or question
        self._again: list[events.Event] = []  # requests that were open when the last turn ended
        self._away = False
        self._cancelled = False

    @property
    def ended(self) -> bool:
        """Whether the run has ended."""
        return self._updates.stop_reason is not None

    async def follow(self) -> schema.StopReason:
        """Returns when the run has ended or asks for words, then with `question` set. AeondError if the daemon stays
        away for longer than the patience.
        """
        self.question, self._cancelled = None, False
        self._outcome = asyncio.get_running_loop().create_future()
        async with asyncio.TaskGroup() as self._group:
            self._begin(self._read())
            try:
                await asyncio.wait([self._outcome])
            finally:
                for task in self._tasks:
                    task.cancel()
                self._tasks.clear()
                self._asked.clear()
        return self._outcome.result()  # outside: a task group would wrap the error

    async def cancel(self) -> None:
        """Requests the cancellation; the run's last event ends the turn. If the daemon does not take the request, the
        turn ends and says so. From here on nothing that the editor answers decides about the run: it dismisses what was
        asked, which is no denial, and the denial could reach the daemon first.
        """
        self._cancelled = True
        for task in self._asked.values():
            task.cancel()
        try:
            await self._client.cancel_run(self.run_id, "cancelled in the editor")
        except AeondError as error:
            await self._say(f"The cancellation did not reach the daemon: {error.message}")
            self._finish("cancelled")

    # ------------------------------------------------------------ events

    async def _read(self) -> None:
        again, self._again = self._again, []
        for event in again:
            await self._handle(event)
        async for event in self._watch:
            for update in self._updates.of(event):
                await self._show(update)
            await self._handle(event)
        self._finish(self._updates.stop_reason or "end_turn")

    async def _handle(self, event: events.Event) -> None:
        match event.kind:
            case events.ApprovalRequested(approval=approval):
                self._ask(event, approval.approval_id, self._ask_approval(event.run_id, approval))
            case events.InputRequested(question=question):
                self._ask(event, question.question_id, self._ask_question(event.run_id, question))
            case events.ApprovalDecided(approval_id=number) | events.InputAnswered(question_id=number):
                self._withdraw(event.run_id, number)
            case events.RunSuspended(message=message):
                self._ask(event, "", self._ask_about_suspension(event.run_id, message))
            case _:
                pass

    def _ask(self, event: events.Event, number: str, asking: Coroutine[Any, Any, None]) -> None:
        self._withdraw(event.run_id, number)
        self._again.append(event)
        if self._cancelled:
            asking.close()
        else:
            self._asked[event.run_id, number] = self._begin(asking)

    def _withdraw(self, run_id: str, number: str) -> None:
        """Another client was faster, or the time is over: the editor's answer does not count any more."""
        task = self._asked.pop((run_id, number), None)
        if task is not None:
            task.cancel()
        self._again = [event for event in self._again if (event.run_id, _number(event)) != (run_id, number)]

    # ------------------------------------------------------------ a person decides

    async def _ask_approval(self, run_id: str, approval: ApprovalRequest) -> None:
        run = await self._client.get_run(run_id)
        if all(one.approval_id != approval.approval_id for one in run.approvals):
            return
        options = permissions.options_of(approval)
        choice = await self._permission(permissions.shown_approval(run, approval, self._folder), options)
        approved = choice not in {"", permissions.DENY}
        await self._settled(
            self._client.decide_approval(
                run_id, approval.approval_id, approval.digest, approved, choice if approved else "once"
            )
        )

    async def _ask_question(self, run_id: str, question: Question) -> None:
        run = await self._client.get_run(run_id)
        if all(one.question_id != question.question_id for one in run.questions):
            return
        if question.options:
            options = permissions.choices_of(question)
            choice = ""
            with suppress(_CannotAskError):
                choice = await self._permission(permissions.shown_question(run_id, question), options)
            if choice:
                answer = question.options[int(choice)]
                await self._settled(self._client.answer_run(run_id, answer, question.question_id))
                return
        await self.ask_for_words(run_id, question)

    async def ask_for_words(self, run_id: str, question: Question) -> None:
        """Shows the question and ends the turn: the protocol has no request for words, so the next prompt is the answer."""
        options = "".join(f"\n{number}. {option}" for number, option in enumerate(question.options, start=1))
        default = f"\n(default: {question.default})" if question.has_default else ""
        asked = f"{question.prompt}{options}{default}"
        await self._say(f"\n\n{asked}\n\nYour next message is the answer; /cancel ends the run.")
        self.question = (run_id, question)
        self._finish("end_turn")

    async def _ask_about_suspension(self, run_id: str, message: str) -> None:
        run = await self._client.get_run(run_id)
        if run.state != "suspended" or run.approvals:
            return  # decided already, or the approval itself is asked for
        unknown = [step for step in run.steps if step.state is StepState.UNKNOWN]
        for step in unknown:
            shown = permissions.shown_interruption(run_id, step)
            choice = await self._permission(shown, permissions.resolutions())
            if not choice:
                break
            await self._settled(self._client.decide_run(run_id, Resolution(choice), step.step_id))
        else:
            if unknown:
                return
        why = message or run.suspend_reason
        await self._say(f"\n\nThe run is suspended: {why}. See aeonctl show {run_id}.")
        if waits(run):  # otherwise it continues by itself
            self._finish("end_turn")

    async def _permission(self, shown: schema.ToolCallUpdate, options: list[schema.PermissionOption]) -> str:
        try:
            response = await self._editor.request_permission(
                session_id=self._session_id, tool_call=shown, options=options
            )
        except (RequestError, ValueError) as error:  # ValueError: its answer has another form
            raise _CannotAskError from error
        return permissions.chosen(response, options)

    async def _settled(self, decision: Coroutine[Any, Any, Any]) -> None:
        """Sends a decision; a decision of another client that came first counts."""
        with suppress(WrongStateError):
            await decision

    # ------------------------------------------------------------ the editor

    async def _show(self, update: Update | schema.AgentThoughtChunk) -> None:
        await self._editor.session_update(session_id=self._session_id, update=update)

    async def _say(self, text: str) -> None:
        await self._show(update_agent_message_text(text))

    def _outage(self, outage: Outage | None) -> None:
        if outage is None:
            self._away = False
            self._begin(self._show(update_agent_thought_text("The daemon is back.\n")))
        elif not self._away:
            self._away = True
            self._begin(self._show(update_agent_thought_text(f"{in_words(outage)[0]}\n")))

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        assert self._group is not None, "a turn is followed"
        task = self._group.create_task(self._guarded(work))
        self._tasks.append(task)
        return task

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except AeondError as error:
            if self._outcome is not None and not self._outcome.done():
                self._outcome.set_exception(error)
        except _CannotAskError:  # no decision: another client can still make it
            await self._say(
                "\n\nThe run waits for your decision, but the editor cannot ask: aeonctl approvals, or"
                f" aeonctl show {self.run_id}."
            )
            self._finish("end_turn")

    def _finish(self, reason: schema.StopReason) -> None:
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_result(reason)


def _number(event: events.Event) -> str:
    match event.kind:
        case events.ApprovalRequested(approval=approval):
            return approval.approval_id
        case events.InputRequested(question=question):
            return question.question_id
        case _:
            return ""
