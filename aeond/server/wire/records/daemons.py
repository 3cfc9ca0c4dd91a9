"""Translates the state of the daemon to the wire."""

from aeond.api.v1 import daemon_pb2 as pb
from aeond.domain.daemons import DaemonSnapshot
from aeond.server.wire.enums import DAEMON_STATES
from aeond.server.wire.json_text import plain_text
from aeond.server.wire.records.models import engine_to_wire
from aeond.server.wire.records.parts import timestamp


def status_to_wire(daemon: DaemonSnapshot, connections: int, streams: int) -> pb.GetStatusResponse:
    return pb.GetStatusResponse(
        version=daemon.version,
        state=DAEMON_STATES.wire(daemon.state),
        pid=daemon.pid,
        started_time=timestamp(daemon.started_time),
        uptime_seconds=daemon.uptime_seconds,
        engine=engine_to_wire(daemon.engine, daemon.metrics),
        load=pb.Load(
            running_runs=daemon.load.running_runs,
            waiting_runs=daemon.load.waiting_runs,
            attention_runs=daemon.load.attention_runs,
            max_running_runs=daemon.load.max_running_runs,
            max_waiting_runs=daemon.load.max_waiting_runs,
            connections=connections,
            streams=streams,
        ),
        tool_count=daemon.tool_count,
        resident_bytes=daemon.resident_bytes,
        messages=[plain_text(message) for message in daemon.messages],
    )
