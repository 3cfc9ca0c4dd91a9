import grpc
import pytest

from aeond.api.v1 import daemon_pb2, models_pb2, parts_pb2, runs_pb2
from aeond.domain.daemons import ConfigChanges, DaemonLoad, DaemonSnapshot, DaemonState
from aeond.domain.llm import EngineSnapshot, EngineState
from tests.support.api_world import ApiWorld, Stubs, status_of


async def test_the_status_tells_everything(world: ApiWorld, client: Stubs) -> None:
    """Version, state, engine and load arrive, and beside them the connections and streams of the API."""
    world.behind.daemon.snapshot = DaemonSnapshot(
        version="1.2.3",
        state=DaemonState.DEGRADED,
        pid=7,
        started_time=1_790_000_000.5,
        uptime_seconds=12.25,
        engine=EngineSnapshot(EngineState.DEAD, "small", error="killed", restarts=2),
        load=DaemonLoad(1, 2, 3, 4, 5),
        tool_count=6,
        resident_bytes=60_000_000,
        messages=("The engine died: see its log.",),
    )
    watching = client.runs.RunAndWatch(
        runs_pb2.RunAndWatchRequest(request=parts_pb2.RunRequest(text="hello"))
    )
    await watching.read()
    status = await client.daemon.GetStatus(daemon_pb2.GetStatusRequest())
    expected = daemon_pb2.GetStatusResponse(
        version="1.2.3",
        state=daemon_pb2.DAEMON_STATE_DEGRADED,
        pid=7,
        uptime_seconds=12.25,
        engine=models_pb2.Engine(
            state=models_pb2.ENGINE_STATE_DEAD, model="small", error="killed", restarts=2
        ),
        load=daemon_pb2.Load(
            running_runs=1,
            waiting_runs=2,
            attention_runs=3,
            max_running_runs=4,
            max_waiting_runs=5,
            connections=1,
            streams=1,
        ),
        tool_count=6,
        resident_bytes=60_000_000,
        messages=["The engine died: see its log."],
    )
    expected.started_time.FromMilliseconds(1_790_000_000_500)
    assert status == expected
    watching.cancel()


async def test_a_reload_tells_the_keys(world: ApiWorld, admin: Stubs) -> None:
    """Keys that changed and keys that need a restart arrive apart."""
    world.behind.daemon.changes = ConfigChanges(("log.level",), ("model.name", "tools.files"))
    reloaded = await admin.daemon.Reload(daemon_pb2.ReloadRequest())
    assert (list(reloaded.changed_keys), list(reloaded.restart_keys)) == (
        ["log.level"],
        ["model.name", "tools.files"],
    )


async def test_a_wrong_file_is_reported_in_words(world: ApiWorld, admin: Stubs) -> None:
    """A configuration that is wrong is an invalid argument with the mistake in it."""
    world.behind.daemon.config_mistake = "aeond.toml:3: unknown key log.levle"
    with pytest.raises(grpc.RpcError) as raised:
        await admin.daemon.Reload(daemon_pb2.ReloadRequest())
    code, metadata = status_of(raised.value)
    assert (code, metadata["reason"]) == (grpc.StatusCode.INVALID_ARGUMENT, "CONFIG_INVALID")
    assert "unknown key log.levle" in str(raised.value)


async def test_only_the_administrative_socket_reloads(world: ApiWorld, client: Stubs) -> None:
    """On the main socket even root and the daemon's own user are refused, with the reason and the remedy: every user who
    could connect used to be able to reload the configuration.
    """
    with pytest.raises(grpc.RpcError) as raised:
        await client.daemon.Reload(daemon_pb2.ReloadRequest())
    code, metadata = status_of(raised.value)
    assert (code, metadata["reason"]) == (grpc.StatusCode.PERMISSION_DENIED, "ADMIN_ONLY")
    assert "aeond-admin.sock" in str(raised.value)
