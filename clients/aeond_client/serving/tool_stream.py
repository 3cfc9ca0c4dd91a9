"""Serves tools in threads of its own: one for the stream, and one for each call in progress."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from inspect import isawaitable
from queue import SimpleQueue
from typing import Any

from aeond.api.v1 import tools_pb2
from aeond_client.calls import values
from aeond_client.connection.failures import may_follow_on
from aeond_client.connection.retries import Retries
from aeond_client.connection.transport import exchange, open_channel, translated
from aeond_client.errors import AeondError, CallCancelledError
from aeond_client.serving import messages
from aeond_client.serving.client_tool import CallContext, ClientTool

MAX_KEPT_RESULTS = 64
ATTEMPTS = Retries(first_seconds=0.05, longest_seconds=1.0)
STOP_SECONDS = 5.0
# The system may hand a signal of the process to any thread, and Python runs its handler once the main thread goes on. That
# thread therefore never waits longer than this without a look.
SIGNAL_SECONDS = 0.5

Finish = Callable[[Any, CallContext], Any]
"""The result of an awaitable that a function returned."""


class ToolStream:
    """Offers the tools, carries out the calls, and offers them again when the connection was lost."""

    def __init__(
        self,
        target: str,
        tools: list[ClientTool],
        finish: Finish,
        *,
        source: str,
        patience_seconds: float,
        max_calls: int,
    ) -> None:
        self._target = target
        self._tools = {tool.spec.name: tool for tool in tools}
        self._offer = messages.offer(source, tools)
        self._patience_seconds = patience_seconds
        self._max_calls = max_calls
        self._finish = finish
        self._lock = threading.Lock()
        self._queue: SimpleQueue[tools_pb2.ServeToolsRequest | None] = SimpleQueue()
        self._results: deque[tools_pb2.ServeToolsRequest] = deque(maxlen=MAX_KEPT_RESULTS)
        self._running: dict[str, CallContext] = {}
        self._waiting: deque[tuple[tools_pb2.ToolCallStarted, CallContext]] = deque()
        self._threads = 0  # of calls in progress
        self._cancellations: list[threading.Thread] = []
        self._accepted = False
        self._lost_at = math.inf
        self._failure: AeondError | None = None
        self._settled = threading.Event()  # accepted or failed
        self._stopping = threading.Event()
        # Not Thread.join: after Ctrl-C in it, Python 3.11 takes the thread for ended, and the goodbye would be skipped.
        self._ended = threading.Event()
        self._stream: Any = None
        self._thread = threading.Thread(target=self._serve, name="aeond-tools", daemon=True)

    def start(self) -> None:
        """Returns once the daemon has registered the tools; raises its error if it does not. After any error, Ctrl-C included, the stream
        has stopped: the daemon must not wait for this client."""
        self._thread.start()
        with ExitStack() as unless_started:
            unless_started.callback(self.stop)
            _wait_interruptibly(self._settled, math.inf)
            if not self._accepted:
                raise self._failure or CallCancelledError(
                    "The daemon ended the stream.", reason="STREAM_ENDED"
                )
            unless_started.pop_all()

    def wait(self, seconds: float = math.inf) -> None:
        """Returns after this time or when the stream was stopped; raises the error that ended it."""
        _wait_interruptibly(self._ended, seconds)
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Withdraws the tools, cancels the calls in progress, and waits for the actions on cancellations."""
        self._stopping.set()
        with self._lock:
            self._queue.put(messages.offer("", []))  # the client will not come back
            self._queue.put(None)
        self._ended.wait(STOP_SECONDS)
        if self._stream is not None:
            self._stream.cancel()
        acting = [context for context in tuple(self._running.values()) if context.mark_cancelled()]
        with ExitStack() as actions:  # each runs, also after one that raises
            actions.callback(self._join_cancellations)
            for context in reversed(acting):
                actions.callback(self._cancel_in_thread, context)

    def _join_cancellations(self) -> None:
        end = time.monotonic() + STOP_SECONDS
        for thread in self._cancellations:
            if thread is not threading.current_thread():  # an action may stop the stream
                thread.join(max(0.0, end - time.monotonic()))

    def _serve(self) -> None:
        try:
            self._serve_until_stopped()
        except AeondError as error:
            self._failure = error
        finally:
            self._settled.set()
            self._ended.set()

    def _serve_until_stopped(self) -> None:
        attempt = 0
        while not self._stopping.is_set():
            try:
                self._exchange()
            except AeondError as error:
                now = time.monotonic()
                self._lost_at = min(self._lost_at, now)
                attempt = 1 if self._lost_at == now else attempt + 1
                if self._stopping.is_set():
                    return
                if not self._may_return(error) or now - self._lost_at >= self._patience_seconds:
                    raise
                self._stopping.wait(ATTEMPTS.wait_seconds(attempt, asked_seconds=error.retry_after_seconds))

    def _may_return(self, error: AeondError) -> bool:
        """Whether a lost stream may be opened again. Until the daemon notices the loss, its tools are taken."""
        return self._accepted and (may_follow_on(error) or error.reason == "TOOL_EXISTS")

    def _exchange(self) -> None:
        """One stream until its end."""
        with self._lock:
            if self._stopping.is_set():
                return
            queue = self._queue = SimpleQueue()
            queue.put(self._offer)
        channel = open_channel(self._target)
        try:
            with translated():
                self._stream = exchange(channel, messages.METHOD, iter(queue.get, None))
                for response in self._stream:
                    self._obey(response)
        finally:
            queue.put(None)
            channel.close()

    def _obey(self, response: tools_pb2.ServeToolsResponse) -> None:
        match response.WhichOneof("message"):
            case "accepted":
                self._lost_at = math.inf
                if self._accepted:
                    with self._lock:
                        for result in self._results:  # ignored by a daemon that has them
                            self._queue.put(result)
                self._accepted = True
                self._settled.set()
            case "started":
                started = response.started
                call_id = started.call.call_id
                if call_id in self._running:  # a repeat of a call whose result will come
                    return
                context = CallContext(call_id, started.run_id, started.step_id, started.timeout_seconds)
                self._running[call_id] = context
                self._waiting.append((started, context))
                self._begin_next()
            case "cancelled":
                # A repeat with the same id is another call: this one has no result.
                running = self._running.pop(response.cancelled.call_id, None)
                if running is not None and running.mark_cancelled():
                    self._cancel_in_thread(running)
            case _:
                pass  # a kind of a later version

    def _cancel_in_thread(self, context: CallContext) -> None:
        """Runs the program's actions on a cancellation in a thread, which reports their errors: the stream goes on meanwhile."""
        thread = threading.Thread(target=context.cancel, name="aeond-cancel", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # there are too many threads, or the interpreter ends
            context.cancel()
            return
        with self._lock:
            self._cancellations = [*(one for one in self._cancellations if one.is_alive()), thread]

    def _begin_next(self) -> None:
        with self._lock:
            if self._threads >= self._max_calls or not self._waiting:
                return
            self._threads += 1
            started, context = self._waiting.popleft()
        threading.Thread(target=self._carry_out, args=(started, context), daemon=True).start()

    def _carry_out(self, started: tools_pb2.ToolCallStarted, context: CallContext) -> None:
        message = None if context.cancelled.is_set() else self._message_of(started, context)
        with self._lock:
            self._threads -= 1
            if message is not None and self._running.get(context.call_id) is context:
                del self._running[context.call_id]
                self._results.append(message)
                self._queue.put(message)
        self._begin_next()

    def _message_of(
        self, started: tools_pb2.ToolCallStarted, context: CallContext
    ) -> tools_pb2.ServeToolsRequest:
        """The result of the call, also of one that fails."""
        try:
            tool = self._tools[started.call.tool]
            returned = tool.call(values.json_object(started.call.arguments_json), context)
            if isawaitable(returned):
                returned = self._finish(returned, context)
            return messages.ended(context.call_id, messages.result_of(returned))
        except BaseException as error:  # noqa: BLE001 - the boundary of the program's function, which may also call sys.exit
            return messages.ended(context.call_id, messages.failure_of(error))


def _wait_interruptibly(event: threading.Event, seconds: float) -> None:
    """Returns when the event is set, or after this time. Ctrl-C and handlers of signals end the wait, whichever thread
    the signal has reached.
    """
    end = time.monotonic() + seconds
    while not event.wait(max(0.0, min(end - time.monotonic(), SIGNAL_SECONDS))):
        if time.monotonic() >= end:
            return
