"""The connection to the daemon: calls, followed runs, and whether a daemon is listening.

Every call opens a connection of its own, which costs milliseconds and never waits for the reconnection delays
of gRPC; a followed run has one connection, which is replaced after an outage.
"""

import asyncio
import math
import os
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any, Protocol

from aeon_popup.background import units
from aeon_popup.background.batches import Batches
from aeon_popup.background.worker import Work
from aeon_popup.state import happenings
from aeond_client.async_client import AsyncClient
from aeond_client.calls.run_calls import RunOptions
from aeond_client.connection.retries import Retries
from aeond_client.connection.sockets import candidates, find_socket
from aeond_client.errors import AeondError, NoDaemonError
from aeond_client.records.runs import Resolution, Run, RunState, RunSummary
from aeond_client.socket_address import SocketSource
from aeond_client.watching.following import Outage

PROBE_SECONDS = 0.5
_HISTORY_RUNS = 50
_FOUND_RUNS = 8
# Runs that are looked through for those that people requested.
_MOST_LISTED = 2_000
# Pauses between the looks for unfinished runs, while no daemon answers: it may start together with the popup.
_PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_UNFINISHED = (RunState.PENDING, RunState.RUNNING, RunState.AWAITING_INPUT, RunState.SUSPENDED)
# States of the daemon that end by themselves, so that it is worth to look again.
_PASSING = ("starting", "draining")
# The reasons for which a run can never be continued after this event.
_LASTING = (
    "FORK_DOES_NOT_FIT",
    "FORK_TOO_LATE",
    "SEQ_AHEAD",
    "RUN_ENDED",
    "RUN_NOT_FOUND",
    "REQUEST_ID_REUSED",
)
# A person waits for the reply: three attempts within half a second.
_RETRIES = Retries(attempts=3)


class Starter(Protocol):
    """The methods of `worker.Worker` that start work in its thread."""

    def start_soon(self, work: Work) -> None: ...
    def call_soon(self, do: Callable[[], None]) -> None: ...


class Link:
    """All methods return immediately; results and events reach `deliver` in batches, in the worker's thread.

    After each batch the receiver must call `taken`. `looking` is set while the popup is visible: only then is
    the socket probed, because an idle popup must not wake the machine.
    """

    def __init__(
        self, worker: Starter, deliver: Callable[[list[happenings.Happening]], None], socket: str = ""
    ) -> None:
        self._worker = worker
        self._socket = socket
        self._batches = Batches(deliver)
        self._looking = asyncio.Event()
        self._followed: set[str] = set()
        self._up: bool | None = None
        self._came_up = asyncio.Event()
        self._started = time.time()
        self._seen = False  # the state of the daemon needs no further look

    def start(self) -> None:
        self._worker.start_soon(self._monitor)
        self._worker.start_soon(self._find_runs)

    def taken(self) -> None:
        """The receiver has applied the last batch."""
        self._worker.call_soon(self._batches.taken)

    def look(self, *, visible: bool) -> None:
        """Whether the popup is visible and should show the state of the connection."""
        self._worker.call_soon(self._look if visible else self._looking.clear)

    # ------------------------------------------------------------ what the user asks for

    def submit(self, key: str, text: str, session_id: str) -> None:
        """Creates a run in the session, or in a new one, and follows it. The key makes this idempotent."""

        async def create(client: AsyncClient) -> tuple[Run, str]:
            place = session_id
            if not place:
                session = await client.create_session(request_id=f"{key}-session")
                place = session.session_id
            return await client.create_run(text, RunOptions(session_id=place), request_id=key), place

        self._worker.start_soon(lambda: self._create(key, create))

    def fork(self, key: str, run_id: str, after_seq: int, session_id: str) -> None:
        """Creates a run that continues another one of the session after an event, and follows it. The key makes this idempotent."""

        async def create(client: AsyncClient) -> tuple[Run, str]:
            return await client.fork_run(run_id, after_seq, request_id=key), session_id

        self._worker.start_soon(lambda: self._create(key, create))

    def follow(self, key: str, run_id: str) -> None:
        """Delivers the events of a run from the first one, and those of the runs below it."""
        self._worker.start_soon(lambda: self._follow(key, run_id))

    def cancel(self, key: str, run_id: str) -> None:
        self._call(key, lambda client: client.cancel_run(run_id))

    def answer(self, key: str, run_id: str, question_id: str, answer: Any) -> None:
        subject = happenings.subject_of(run_id, question_id)
        self._call(key, lambda client: client.answer_run(run_id, answer, question_id), subject)

    def resolve(self, key: str, run_id: str, resolution: Resolution, step_id: str) -> None:
        subject = happenings.subject_of(run_id, step_id)
        self._call(key, lambda client: client.decide_run(run_id, resolution, step_id), subject)

    def decide(self, key: str, approval: happenings.Approval, *, approved: bool, scope: str) -> None:
        """Approves or denies exactly the calls that were shown: the digest identifies them."""
        run_id, asked = approval.run_id, approval.request
        self._call(
            key,
            lambda client: client.decide_approval(run_id, asked.approval_id, asked.digest, approved, scope),
            approval.subject,
        )

    def undo(self, key: str, run_id: str) -> None:
        async def undo(client: AsyncClient) -> None:
            self._batches.put(happenings.Undone(key, await client.undo_run(run_id)))

        self._call(key, undo)

    def list_history(self) -> None:
        self._worker.start_soon(self._list_history)

    def start_daemon(self) -> None:
        """Starts the user's daemon with systemd."""
        self._worker.start_soon(self._start_daemon)

    # ------------------------------------------------------------ in the worker

    def _look(self) -> None:
        self._seen = False
        self._looking.set()

    async def _monitor(self) -> None:
        while True:
            await self._looking.wait()
            self._probe()
            if self._up and not self._seen:
                await self._look_at_daemon()
            await asyncio.sleep(PROBE_SECONDS)

    async def _look_at_daemon(self) -> None:
        """Reads the daemon's state, until it is ready or cannot be read."""
        try:
            async with self._client() as client:
                status = await client.get_status()
        except AeondError as error:
            self._seen = not isinstance(error, NoDaemonError)
            return
        self._seen = status.state not in _PASSING
        self._batches.put(happenings.DaemonSeen(status.state, status.messages))

    def _probe(self) -> None:
        try:
            self._note_up(find_socket(self._socket).path)
        except AeondError as error:
            self._note_down(error.message)

    def _note_up(self, path: str) -> None:
        if self._up is not True:
            self._up = True
            self._came_up.set()
            self._batches.put(happenings.LinkUp(path))

    def _note_down(self, message: str) -> None:
        self._seen = False
        if self._up is not False:
            self._up = False
            self._batches.put(happenings.LinkDown(candidates(self._socket)[0].path, message))

    def _noted(self, outage: Outage | None) -> None:
        if outage is None:
            self._probe()
        else:
            self._note_down(outage.error.message)

    def _client(self) -> AsyncClient:
        return AsyncClient(self._socket, retries=_RETRIES)

    def _call(self, key: str, do: Callable[[AsyncClient], Awaitable[object]], subject: str = "") -> None:
        async def call() -> None:
            try:
                async with self._client() as client:
                    await do(client)
            except AeondError as error:
                self._put_failure(error, happenings.CallFailed(key, error.message, subject))

        self._worker.start_soon(call)

    def _put_failure(
        self,
        error: AeondError,
        failure: happenings.CallFailed | happenings.Refused | happenings.HistoryFailed,
    ) -> None:
        if isinstance(error, NoDaemonError):
            self._note_down(error.message)
        self._batches.put(failure)

    async def _create(self, key: str, create: Callable[[AsyncClient], Awaitable[tuple[Run, str]]]) -> None:
        """Creates a run and follows it. `create` returns it with its session."""
        try:
            async with self._client() as client:
                run, session_id = await create(client)
        except AeondError as error:
            self._put_failure(error, happenings.Refused(key, error.message, lasting=error.reason in _LASTING))
            return
        self._batches.put(happenings.Accepted(key, run.run_id, session_id))
        await self._follow(key, run.run_id)

    async def _follow(self, key: str, run_id: str) -> None:
        if run_id in self._followed:
            return
        self._followed.add(run_id)
        try:
            async with (
                self._client() as client,
                client.watch(
                    run_id, children=True, patience_seconds=math.inf, on_outage=self._noted
                ) as events,
            ):
                async for event in events:
                    await self._batches.has_room()
                    self._batches.put(happenings.Received(key, event, time.time()))
        except AeondError as error:
            self._put_failure(error, happenings.CallFailed(key, error.message))
        finally:
            self._followed.discard(run_id)

    async def _list_history(self) -> None:
        try:
            async with self._client() as client:
                runs = await _roots(client, _HISTORY_RUNS)
        except AeondError as error:
            self._put_failure(error, happenings.HistoryFailed(error.message))
            return
        self._batches.put(happenings.HistoryListed(runs))

    async def _find_runs(self) -> None:
        """Follows the user's runs that had not ended when the popup was started. A daemon that only a request would start is not
        started for that.
        """
        pauses = iter(_PAUSES)
        while True:
            self._came_up.clear()
            asleep = await self._is_asleep()
            if not asleep and await self._found_runs():
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(None if asleep else next(pauses, None)):
                    await self._came_up.wait()

    async def _is_asleep(self) -> bool:
        sources = {address.source for address in candidates(self._socket)}
        if SocketSource.USER in sources and await units.is_asleep(user=True):
            return True
        return SocketSource.SYSTEM in sources and await units.is_asleep(user=False)

    async def _found_runs(self) -> bool:
        """Whether the runs could be listed."""
        try:
            async with self._client() as client:
                runs = await _roots(client, _FOUND_RUNS, _UNFINISHED)
        except AeondError:
            return False
        for run in runs:
            # Root lists the runs of all users. The popup follows newer runs when it submits them.
            if run.uid in {-1, os.getuid()} and run.created_time < self._started:
                key = happenings.key_of(run.run_id)
                self._batches.put(happenings.Found(key, run.run_id, run.text, run.last_seq))
                self.follow(key, run.run_id)
        return True

    async def _start_daemon(self) -> None:
        """Reports a failure; a success shows itself when a daemon is listening."""
        problem = await units.start()
        if not problem:
            self._probe()
            if not self._up:
                place = candidates(self._socket)[0].path
                problem = f"aeond.service was started, but no daemon is listening on {place}."
        if problem:
            self._batches.put(happenings.StartFailed(problem))


async def _roots(client: AsyncClient, wanted: int, states: Iterable[RunState] = ()) -> tuple[RunSummary, ...]:
    """The newest runs that people requested. The daemon lists the runs that these started, too, so a longer list follows a short
    one that has too few of them.
    """
    for limit in (wanted, 10 * wanted, _MOST_LISTED):
        listed = await client.list_runs(states=states, limit=limit)
        roots = tuple(run for run in listed if not run.parent_run_id)
        if len(roots) >= wanted or len(listed) < limit:
            break
    return roots[:wanted]
