import anyio
import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message_factory import GetMessageClass

from aeond.api.v1 import daemon_pb2, memory_pb2, models_pb2, runs_pb2, sessions_pb2, tools_pb2
from aeond.server.binding import snake_case
from tests.support.api_world import DEADLINE_SECONDS, ApiWorld, ask_raw, refused

FILES = (runs_pb2, sessions_pb2, tools_pb2, memory_pb2, models_pb2, daemon_pb2)
METHODS = [
    method
    for file in FILES
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
]


def name_of(method: MethodDescriptor) -> str:
    return f"{method.containing_service.name}.{method.name}"


def path_of(method: MethodDescriptor) -> str:
    return f"/{method.containing_service.full_name}/{method.name}"


@pytest.mark.parametrize("method", METHODS, ids=name_of)
async def test_every_method_of_the_contract_is_answered(world: ApiWorld, method: MethodDescriptor) -> None:
    """No method is UNIMPLEMENTED: an empty request has an answer, or is invalid."""
    empty = GetMessageClass(method.input_type)().SerializeToString()
    with anyio.fail_after(DEADLINE_SECONDS):
        async with world.channel(admin=True) as channel:
            try:
                await ask_raw(channel, path_of(method), empty)
            except grpc.aio.AioRpcError as error:
                assert error.code() is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("method", METHODS, ids=name_of)
async def test_bytes_that_are_no_message_are_an_invalid_argument(
    world: ApiWorld, method: MethodDescriptor, caplog: pytest.LogCaptureFixture
) -> None:
    """Garbage in place of a request is INVALID_ARGUMENT on every method, and leaves no trace in the log."""
    if not GetMessageClass(method.input_type).DESCRIPTOR.fields:
        garbage = b"\xff\xff"
    else:
        garbage = b"\x0a\xff\xff\xff\xff\x0f"
    with anyio.fail_after(DEADLINE_SECONDS):
        async with world.channel() as channel, refused(grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_MESSAGE"):
            await ask_raw(channel, path_of(method), garbage)
    assert caplog.records == []


def test_names_become_snake_case() -> None:
    """The name of a method's answer follows from the method's name."""
    assert snake_case("RunAndWatch") == "run_and_watch"
    assert snake_case("Generate") == "generate"
