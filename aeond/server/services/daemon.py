"""Implementation of DaemonService."""

from collections.abc import Sequence

from aeond.api.v1 import daemon_pb2 as pb
from aeond.domain.runs.run import Caller
from aeond.server.calls import DaemonCalls
from aeond.server.door.door import Door
from aeond.server.services.administration import require_admin
from aeond.server.streaming import Streams
from aeond.server.wire.table import to_wire


class DaemonShim:
    def __init__(self, calls: DaemonCalls, doors: Sequence[Door], streams: Streams) -> None:
        self._calls = calls
        self._doors = doors
        self._streams = streams

    async def get_status(self, _request: pb.GetStatusRequest, _caller: Caller) -> pb.GetStatusResponse:
        status = to_wire(await self._calls.status(), pb.GetStatusResponse)
        status.load.connections = sum(door.connections for door in self._doors)
        status.load.streams = self._streams.count
        return status

    async def reload(self, _request: pb.ReloadRequest, caller: Caller) -> pb.ReloadResponse:
        require_admin(caller, "reload the configuration")
        return to_wire(await self._calls.reload(), pb.ReloadResponse)
