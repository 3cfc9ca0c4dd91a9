"""The outer boundary of the API: every failure leaves as a gRPC status, never as a traceback.

Requests are decoded here and not by grpcio, which would answer malformed bytes with a traceback in the log
and UNKNOWN.
"""

import errno
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from inspect import isawaitable
from traceback import clear_frames
from typing import Any, cast

import anyio
import grpc
from google.protobuf.message import DecodeError

from aeond.concurrency import closing
from aeond.domain.runs.run import Caller
from aeond.errors import AeondError, InvalidInputError, NotImplementedYetError, OverloadedError
from aeond.ports import Ids
from aeond.server.binding import Context, Handler
from aeond.server.request_sizes import RequestSizes
from aeond.server.statuses import Status, bug_status, status_of
from aeond.server.streaming import StreamCutError
from aeond.service.user_turns import ActiveUsers, UserTurns

REJECTION_SECONDS = 0.05  # that a rejection waits in its turn while others are active
CALLS_AT_ONCE = 4  # of one user, each for a short time
MAX_REQUEST_BYTES = 4 << 20  # one message in wire format

# What a monitor may call each second for good: these calls alone slow down no other user's runs.
OF_MONITORS = frozenset({"/aeond.api.v1.DaemonService/GetStatus", "/grpc.health.v1.Health/Check"})

_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

log = logging.getLogger("aeond.server")

Decode = Callable[[bytes], Any]
# grpcio's types describe only the handlers of its synchronous server
Behaviour = Callable[[Any, Context], Any]


class ErrorInterceptor(grpc.aio.ServerInterceptor):
    """Wraps every handler, including those of health and reflection."""

    def __init__(
        self, ids: Ids, caller_of: Callable[[str], Caller], sizes: RequestSizes, active: ActiveUsers
    ) -> None:
        self._ids = ids
        self._caller_of = caller_of
        self._sizes = sizes
        self._active = active
        self._turns = UserTurns(active, places=CALLS_AT_ONCE)
        self._stream_turns = UserTurns(active, places=CALLS_AT_ONCE, only_shared=True)

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable["Handler | None"]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        method = str(handler_call_details.method)
        handler = await continuation(handler_call_details)
        if handler is None:
            return grpc.stream_stream_rpc_method_handler(self._unknown(method))
        decode, encode = handler.request_deserializer, handler.response_serializer
        if handler.request_streaming and handler.response_streaming:
            exchange = self._exchanging(cast("Behaviour", handler.stream_stream), decode, method)
            return grpc.stream_stream_rpc_method_handler(exchange, None, encode)
        if handler.response_streaming:
            stream = cast("Behaviour", handler.unary_stream)
            answer = self._answering(partial(_relay, stream), decode, method, self._stream_turns)
            return grpc.unary_stream_rpc_method_handler(answer, None, encode)
        answer = self._answering(cast("Behaviour", handler.unary_unary), decode, method, self._turns)
        return grpc.unary_unary_rpc_method_handler(answer, None, encode)

    def _unknown(self, method: str) -> Callable[[Any, Context], Awaitable[None]]:
        async def behave(_requests: Any, context: Context) -> None:
            async with self._translated(context, method):
                raise NotImplementedYetError(
                    f"There is no method {method}: the client may be newer than the daemon.",
                    reason="UNKNOWN_METHOD",
                )

        return behave

    def _answering(
        self, inner: Behaviour, decode: Decode | None, method: str, turns: UserTurns
    ) -> Callable[[bytes, Context], Awaitable[Any]]:
        async def behave(raw: bytes, context: Context) -> Any:
            held, size = [raw], len(raw)
            del raw
            async with (
                self._translated(context, method),
                self._admitted(context, method, held, size, turns),
            ):
                return await inner(_decoded(held, decode), context)

        return behave

    def _exchanging(
        self, inner: Behaviour, decode: Decode | None, method: str
    ) -> Callable[[AsyncIterator[bytes], Context], Awaitable[None]]:
        async def behave(raws: AsyncIterator[bytes], context: Context) -> None:
            async with self._translated(context, method), closing(_decoded_each(raws, decode)) as requests:
                await _relay(inner, requests, context)

        return behave

    @asynccontextmanager
    async def _admitted(
        self, context: Context, method: str, held: list[bytes], size: int, turns: UserTurns
    ) -> AsyncIterator[None]:
        """Counts a request of this size and waits for its turn, also for the turn to reject it: a user at a limit
        would otherwise have many more calls rejected than handled.
        """
        peer = context.peer()
        uid = self._caller_of(peer).owner.uid
        if method not in OF_MONITORS:
            self._active.note(uid)
        with ExitStack() as counted:
            try:
                counted.enter_context(self._sizes.holding(peer, size))
            except OverloadedError:
                held.clear()
                async with turns.taking(uid):
                    if self._active.has_others(uid):
                        await anyio.sleep(REJECTION_SECONDS)
                    raise
            async with turns.taking(uid):
                yield

    @asynccontextmanager
    async def _translated(self, context: Context, method: str) -> AsyncIterator[None]:
        """Ends the call with the status of an exception raised inside; cancellation passes through."""
        try:
            yield
        except grpc.aio.AbortError:
            raise  # the handler has set its status itself
        except AeondError as error:
            await _abort(context, status_of(error), failed=error)
        except StreamCutError as cut:
            seq = (("last-seq", str(cut.last_seq)),) if cut.last_seq >= 0 else ()
            await _abort(context, status_of(cut.error), seq, failed=cut)
        except Exception as error:  # API boundary: an internal error must not reach a client as a traceback
            if _is_exhausted(error):
                log.warning("%s failed: %s", method, error)
                await _abort(context, status_of(_exhausted(error)), failed=error)
            error_id = self._ids.new_id()
            fields = {"kind": "call_broke", "error_id": error_id}
            log.exception("%s failed (error id %s)", method, error_id, extra=fields)
            await _abort(context, bug_status(error_id), failed=error)


def _is_exhausted(error: Exception) -> bool:
    """Whether the operating system has no more files or memory for this process."""
    if isinstance(error, ExceptionGroup):
        return any(_is_exhausted(one) for one in error.exceptions)
    return isinstance(error, OSError) and error.errno in _EXHAUSTED


def _exhausted(error: Exception) -> OverloadedError:
    return OverloadedError(
        f"The daemon has reached a limit of the system ({error}): close streams and connections, try again later, or"
        " raise the limit (LimitNOFILE= in the unit).",
        reason="SYSTEM_LIMIT",
    )


async def _abort(
    context: Context, status: Status, more: tuple[tuple[str, str], ...] = (), *, failed: Exception
) -> None:
    """Ends the call. References held by its frames are dropped first: gRPC links the abort error to the call,
    and the two stay alive until the garbage collector runs.
    """
    clear_frames(failed.__traceback__)
    await context.abort(status.code, status.message, (*status.metadata, *more))


async def _relay(inner: Behaviour, request: Any, context: Context) -> None:
    """Runs a stream handler, whether it writes messages itself or yields them."""
    answer = inner(request, context)
    del request  # it may be large
    if isawaitable(answer):
        await answer
        return
    async for message in answer:
        await context.write(message)


def _decoded(held: list[bytes], decode: Decode | None) -> Any:
    """The message in the one item of `held`, which is removed: objects in a handler's frame stay alive
    together with an abort error, and a request may be large.
    """
    raw = held.pop()
    if len(raw) > MAX_REQUEST_BYTES:
        raise InvalidInputError(
            f"The request has {len(raw)} bytes, the limit is {MAX_REQUEST_BYTES}: put large data into a"
            " file of the workspace.",
            reason="REQUEST_TOO_LARGE",
        )
    if decode is None:
        return raw
    try:
        return decode(raw)
    except DecodeError as error:
        raise InvalidInputError(
            "The request is not a valid message of this method; strings must be UTF-8.",
            reason="MALFORMED_MESSAGE",
        ) from error


async def _decoded_each(raws: AsyncIterator[bytes], decode: Decode | None) -> AsyncIterator[Any]:
    async with closing(aiter(raws)) as received:
        async for raw in received:
            yield _decoded([raw], decode)
