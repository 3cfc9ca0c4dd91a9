import errno
import gc
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import grpc
import pytest
from grpc_health.v1 import health_pb2

from aeond.api.v1 import daemon_pb2, parts_pb2, runs_pb2, tools_pb2
from aeond.domain.runs.run import Caller, Owner
from aeond.errors import ToolError
from aeond.server.error_interceptor import MAX_REQUEST_BYTES, OF_MONITORS, ErrorInterceptor
from aeond.server.request_sizes import RequestSizes
from aeond.service.user_turns import ActiveUsers
from tests.support.api_world import DEADLINE_SECONDS, Stubs, api_world, ask_raw, refused, status_of
from tests.support.doubles import ManualClock
from tests.support.service_world import NumberedIds
from tests.support.surfaces import wait_until


async def test_a_bug_becomes_an_error_id_that_the_log_knows(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An unexpected exception reaches the client as INTERNAL with an id, and the log with its cause."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world, world.channel() as channel:
            world.behind.tools.failures = {"broken": ZeroDivisionError("the secret cause")}
            call = tools_pb2.ToolCall(tool="broken")
            with pytest.raises(grpc.RpcError) as raised:
                await Stubs(channel).tools.InvokeTool(tools_pb2.InvokeToolRequest(call=call))
    code, metadata = status_of(raised.value)
    assert (code, metadata["reason"]) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert "secret cause" not in str(raised.value)
    (record,) = caplog.records
    assert metadata["error-id"] in record.getMessage()
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], ZeroDivisionError)


async def test_an_error_of_ours_leaves_no_trace_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A deliberate error is sent to the client and not logged."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world, world.channel() as channel:
            world.behind.tools.failures = {"busy": ToolError("Busy.", retryable=True)}
            call = tools_pb2.ToolCall(tool="busy")
            async with refused(grpc.StatusCode.UNAVAILABLE, "TOOL_FAILED"):
                await Stubs(channel).tools.InvokeTool(tools_pb2.InvokeToolRequest(call=call))
    assert caplog.records == []


@pytest.mark.parametrize("grouped", [False, True])
async def test_a_process_without_free_descriptors_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, grouped: bool
) -> None:
    """A call that fails because too many files are open is RESOURCE_EXHAUSTED, and the log has no traceback."""
    failure: Exception = OSError(errno.EMFILE, "Too many open files")
    if grouped:
        failure = ExceptionGroup("tasks", [failure])
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world, world.channel() as channel:
            world.behind.tools.failures = {"opens": failure}
            call = tools_pb2.ToolCall(tool="opens")
            async with refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "SYSTEM_LIMIT"):
                await Stubs(channel).tools.InvokeTool(tools_pb2.InvokeToolRequest(call=call))
    (record,) = caplog.records
    assert record.exc_info is None


async def test_a_method_that_does_not_exist_says_so(tmp_path: Path) -> None:
    """A call of a newer client's method is UNIMPLEMENTED with a reason."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world, world.channel() as channel:
            async with refused(grpc.StatusCode.UNIMPLEMENTED, "UNKNOWN_METHOD"):
                await ask_raw(channel, "/aeond.api.v1.RunService/Teleport", b"")
            async with refused(grpc.StatusCode.UNIMPLEMENTED, "UNKNOWN_METHOD"):
                await ask_raw(channel, "/no.Service/Here", b"")


async def test_garbage_for_the_standard_services_is_an_invalid_argument(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Health and reflection answer bytes that are no message as every other service does."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world, world.channel() as channel:
            for path in (
                "/grpc.health.v1.Health/Check",
                "/grpc.health.v1.Health/Watch",
                "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
            ):
                async with refused(grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_MESSAGE"):
                    await ask_raw(channel, path, b"\xff\xff")
    assert caplog.records == []


async def test_a_request_too_large_is_an_invalid_argument_that_says_both_sizes(tmp_path: Path) -> None:
    """Ten megabytes for any method are refused with a reason before they are decoded, a request just within the limit
    is judged by its fields, and the connection goes on."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world, world.channel() as channel:
            client = Stubs(channel)
            for path in (
                "/aeond.api.v1.RunService/CreateRun",
                "/aeond.api.v1.RunService/RunAndWatch",
                "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
            ):
                with pytest.raises(grpc.aio.AioRpcError) as raised:
                    await ask_raw(channel, path, b"\xff" * 10_000_000)
                code, metadata = status_of(raised.value)
                assert (code, metadata["reason"]) == (grpc.StatusCode.INVALID_ARGUMENT, "REQUEST_TOO_LARGE")
                assert "10000000 bytes" in str(raised.value.details())
                assert str(MAX_REQUEST_BYTES) in str(raised.value.details())
            text = "x" * (MAX_REQUEST_BYTES - 100)
            async with refused(grpc.StatusCode.INVALID_ARGUMENT, "TOO_LONG", "request.text"):
                await client.runs.CreateRun(
                    runs_pb2.CreateRunRequest(request=parts_pb2.RunRequest(text=text))
                )


async def test_a_refused_request_leaves_no_memory_behind(tmp_path: Path) -> None:
    """A rejected request is freed at once, without garbage collection."""
    ping = b"\n\xff\xff\xff\x7f"
    paths = ("/aeond.api.v1.RunService/CreateRun", "/aeond.api.v1.RunService/RunAndWatch")
    requests = (bytes(MAX_REQUEST_BYTES + 1), ping + bytes(MAX_REQUEST_BYTES - 10), long_request())
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world, world.channel() as channel:
            gc.disable()
            tracemalloc.start()
            try:
                for path in paths:
                    for request in requests:
                        for _ in range(5):
                            with pytest.raises(grpc.aio.AioRpcError):
                                await ask_raw(channel, path, request)
                held, _ = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
                gc.enable()
    assert held < 2 * MAX_REQUEST_BYTES


def long_request() -> bytes:
    """One that is decoded, and refused for what it says."""
    text = "x" * (MAX_REQUEST_BYTES - 100)
    return runs_pb2.CreateRunRequest(request=parts_pb2.RunRequest(text=text)).SerializeToString()


async def test_a_handler_that_gives_its_own_status_is_left_alone(tmp_path: Path) -> None:
    """The health of a service that is not there is NOT_FOUND, as the standard says."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world, world.channel() as channel:
            request = health_pb2.HealthCheckRequest(service="none")
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await ask_raw(channel, "/grpc.health.v1.Health/Check", request.SerializeToString())
            assert raised.value.code() is grpc.StatusCode.NOT_FOUND


async def test_a_cancelled_call_ends_what_worked_for_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """When a client cancels its stream the service's iterator is closed, and nothing is logged."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world, world.channel() as channel:
            call = Stubs(channel).runs.RunAndWatch(
                runs_pb2.RunAndWatchRequest(request=parts_pb2.RunRequest(text="hello"))
            )
            await call.read()
            await call.read()
            assert world.behind.runs.watchers.now == 1
            call.cancel()
            await world.behind.runs.watchers.reaches(0)
    assert caplog.records == []


class CountedAborts:
    """The context of calls of user 1 that counts how many have been rejected."""

    def __init__(self) -> None:
        self.count = 0

    def peer(self) -> str:
        return "1"

    async def abort(self, *_status: object) -> None:
        self.count += 1


async def test_rejections_take_turns_too() -> None:
    """A user whose requests are rejected for their size, while another user is active, gets a few rejections at a time."""
    active = ActiveUsers(ManualClock())
    active.note(2)

    def caller_of(peer: str) -> Caller:
        return Caller(Owner(int(peer), 1))

    async def handler_of(_details: object) -> Any:
        return grpc.unary_unary_rpc_method_handler(lambda *_: None)

    interceptor = ErrorInterceptor(NumberedIds(), caller_of, RequestSizes(caller_of, 0), active)
    handler: Any = await interceptor.intercept_service(handler_of, SimpleNamespace(method="/a/B"))
    context = CountedAborts()
    async with anyio.create_task_group() as tasks:
        for _ in range(200):
            tasks.start_soon(handler.unary_unary, b"x", context)
        await wait_until(lambda: context.count > 0)
        assert context.count < 200
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("method", "counts"),
    [
        ("/aeond.api.v1.DaemonService/GetStatus", False),
        ("/grpc.health.v1.Health/Check", False),
        ("/aeond.api.v1.RunService/GetRun", True),
    ],
)
async def test_monitors_do_not_count_as_active(method: str, counts: bool) -> None:
    """A user who asks only for the daemon's status or health is not active, so that no other user is slowed down for it."""
    active = ActiveUsers(ManualClock())

    def caller_of(_peer: str) -> Caller:
        return Caller(Owner(1, 1))

    async def answer(*_: object) -> str:
        return "answer"

    async def handler_of(_details: object) -> Any:
        return grpc.unary_unary_rpc_method_handler(answer)

    interceptor = ErrorInterceptor(NumberedIds(), caller_of, RequestSizes(caller_of, 100), active)
    handler: Any = await interceptor.intercept_service(handler_of, SimpleNamespace(method=method))
    assert await handler.unary_unary(b"x", CountedAborts()) == "answer"
    assert active.has_others(2) is counts


def test_the_methods_of_monitors_exist() -> None:
    """The names by which they are known are those of the contracts."""
    status = daemon_pb2.DESCRIPTOR.services_by_name["DaemonService"].methods_by_name["GetStatus"]
    check = health_pb2.DESCRIPTOR.services_by_name["Health"].methods_by_name["Check"]
    names = {f"/{method.containing_service.full_name}/{method.name}" for method in (status, check)}
    assert names == OF_MONITORS
