"""Implementation of DaemonService."""

from aeond.api.v1 import daemon_pb2 as pb
from aeond.domain.runs.run import Owner
from aeond.server.calls import DaemonCalls
from aeond.server.door.door import Door
from aeond.server.streaming import Streams
from aeond.server.wire.table import to_wire


class DaemonShim:
    """Implements DaemonService."""

    def __init__(self, calls: DaemonCalls, door: Door, streams: Streams) -> None:
        self._calls = calls
        self._door = door
        self._streams = streams

    async def get_status(self, _request: pb.GetStatusRequest, _caller: Owner) -> pb.GetStatusResponse:
        status = to_wire(await self._calls.status(), pb.GetStatusResponse)
        status.load.connections = self._door.connections
        status.load.streams = self._streams.count
        return status

    async def reload(self, _request: pb.ReloadRequest, _caller: Owner) -> pb.ReloadResponse:
        return to_wire(await self._calls.reload(), pb.ReloadResponse)
