import stat
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from aeond.api.v1 import daemon_pb2, parts_pb2, runs_pb2
from aeond.errors import InvalidInputError, RefusedError
from aeond.server.grpc_server import MAX_TRANSPORT_BYTES
from tests.support.api_world import ApiWorld, Stubs, api_world, ask_raw

STATUS = daemon_pb2.GetStatusRequest()


async def health(client: Stubs, service: str = "") -> int:
    request = health_pb2.HealthCheckRequest(service=service).SerializeToString()
    (answer,) = await ask_raw(client.channel, "/grpc.health.v1.Health/Check", request)
    return health_pb2.HealthCheckResponse.FromString(answer).status


async def test_health_says_what_was_announced(world: ApiWorld, client: Stubs) -> None:
    """The whole and each service are SERVING once announced, and not after a drain."""
    for service in ("", "aeond.api.v1.RunService", "aeond.api.v1.DaemonService"):
        assert await health(client, service) == health_pb2.HealthCheckResponse.SERVING
    await world.api.announce(serving=False)
    for service in ("", "aeond.api.v1.RunService"):
        assert await health(client, service) == health_pb2.HealthCheckResponse.NOT_SERVING


async def test_health_knows_about_the_models_alone(world: ApiWorld, client: Stubs) -> None:
    """A dead engine changes the health of the model service alone, and a drain that of all services."""
    models = "aeond.api.v1.ModelService"
    await world.api.announce_models(serving=False)
    assert await health(client, models) == health_pb2.HealthCheckResponse.NOT_SERVING
    assert await health(client) == health_pb2.HealthCheckResponse.SERVING
    await world.api.announce_models(serving=True)
    assert await health(client, models) == health_pb2.HealthCheckResponse.SERVING
    await world.api.announce(serving=False)
    await world.api.announce_models(serving=True)
    assert await health(client, models) == health_pb2.HealthCheckResponse.NOT_SERVING


async def test_reflection_lists_every_service(client: Stubs) -> None:
    """A generic tool finds all services and the descriptor of each."""
    path = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
    request = reflection_pb2.ServerReflectionRequest(list_services="").SerializeToString()
    (answer,) = await ask_raw(client.channel, path, request)
    listed = reflection_pb2.ServerReflectionResponse.FromString(answer).list_services_response.service
    names = {service.name for service in listed}
    assert names == {
        *(
            f"aeond.api.v1.{name}Service"
            for name in ("Run", "Session", "Tool", "Memory", "Model", "Policy", "Daemon")
        ),
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
    }
    for name in names:
        request = reflection_pb2.ServerReflectionRequest(file_containing_symbol=name).SerializeToString()
        (answer,) = await ask_raw(client.channel, path, request)
        assert reflection_pb2.ServerReflectionResponse.FromString(answer).HasField("file_descriptor_response")


async def test_a_message_beyond_the_transport_is_refused_and_the_next_one_served(client: Stubs) -> None:
    """A message above the transport's limit is rejected unread, and the connection stays usable."""
    text = "x" * (MAX_TRANSPORT_BYTES + 1)
    request = runs_pb2.CreateRunRequest(request=parts_pb2.RunRequest(text=text))
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await client.runs.CreateRun(request)
    assert raised.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert str(MAX_TRANSPORT_BYTES) in str(raised.value.details())
    assert (await client.daemon.GetStatus(STATUS)).version


async def test_metadata_beyond_the_limit_is_refused(client: Stubs) -> None:
    """A call with too much metadata fails and the connection goes on."""
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await client.daemon.GetStatus(STATUS, metadata=(("x-much", "x" * 20_000),))
    assert raised.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert (await client.daemon.GetStatus(STATUS)).version


async def test_the_inner_folder_is_closed_to_others(tmp_path: Path) -> None:
    """The folder of the inner socket is made for this user alone, also when it was there with a wider mode."""
    inner = tmp_path / "inner"
    inner.mkdir(mode=0o777)
    async with api_world(tmp_path):
        assert stat.S_IMODE(inner.stat().st_mode) == 0o700
        assert stat.S_ISSOCK((inner / "grpc.sock").stat().st_mode)
    assert not (inner / "grpc.sock").exists()


async def test_a_link_in_place_of_the_inner_folder_is_refused(tmp_path: Path) -> None:
    """A link to elsewhere is not followed."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "inner").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RefusedError) as raised:
        async with api_world(tmp_path):
            pass
    assert raised.value.reason == "FOLDER_NOT_OURS"


async def test_a_socket_left_behind_does_not_matter(tmp_path: Path) -> None:
    """A daemon starts over the inner socket of one that was killed."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "grpc.sock").touch()
    async with api_world(tmp_path) as world, world.channel() as channel:
        assert (await Stubs(channel).daemon.GetStatus(STATUS)).version


async def test_an_inner_path_that_is_too_long_says_so(tmp_path: Path) -> None:
    """A folder too deep for a socket is refused in plain words."""
    deep = tmp_path / ("d" * (104 - len(str(tmp_path)) - len("/aeond.sock")))
    deep.mkdir()
    with pytest.raises(InvalidInputError) as raised:
        async with api_world(deep):
            pass
    assert raised.value.reason == "SOCKET_PATH_TOO_LONG"
