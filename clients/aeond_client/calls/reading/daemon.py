# Generated from protos/ by `make proto`; never edited.
"""Converts messages of daemon.proto to records."""

from aeond.api.v1 import daemon_pb2
from aeond_client.calls import values
from aeond_client.calls.reading.models import engine
from aeond_client.records import daemon


def config_changes(wire: daemon_pb2.ReloadResponse) -> daemon.ConfigChanges:
    return daemon.ConfigChanges(changed_keys=tuple(wire.changed_keys), restart_keys=tuple(wire.restart_keys))


def daemon_status(wire: daemon_pb2.GetStatusResponse) -> daemon.DaemonStatus:
    return daemon.DaemonStatus(
        version=wire.version,
        state=values.word(daemon_pb2.DaemonState, wire.state),
        pid=wire.pid,
        started_time=values.seconds(wire.started_time),
        uptime_seconds=wire.uptime_seconds,
        engine=engine(wire.engine),
        running_runs=wire.load.running_runs,
        waiting_runs=wire.load.waiting_runs,
        attention_runs=wire.load.attention_runs,
        max_running_runs=wire.load.max_running_runs,
        max_waiting_runs=wire.load.max_waiting_runs,
        connections=wire.load.connections,
        streams=wire.load.streams,
        tool_count=wire.tool_count,
        resident_bytes=wire.resident_bytes,
        messages=tuple(wire.messages),
    )
