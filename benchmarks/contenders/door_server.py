"""One grpc.aio server, reached in two ways: directly on its socket, and through the daemon's door.

usage: door_server.py FOLDER EVENTS BATCH Listens at FOLDER/direct.sock and FOLDER/door.sock. Prints `ready`
when it accepts connections; serves until its standard input closes.
"""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import grpc
import grpc.aio

from aeond.api.v1 import daemon_pb2, runs_pb2
from aeond.server.door.access_control import AccessRule
from aeond.server.door.callers import Callers
from aeond.server.door.door import Door
from aeond.server.door.listening import bound_socket
from aeond.server.grpc_server import OPTIONS
from benchmarks.contenders.bare_server import step_ended

STATUS = daemon_pb2.GetStatusResponse(version="0.1.0", pid=1, messages=["a line of text"])


def handlers(events: int, batch: int) -> tuple[grpc.GenericRpcHandler, ...]:
    """A call with a small response, and a stream of precomputed messages."""
    pages = [
        runs_pb2.WatchRunResponse(events=[step_ended(seq) for seq in range(first, first + batch)])
        for first in range(1, events + 1, batch)
    ]

    async def get_status(_request: Any, _context: Any) -> daemon_pb2.GetStatusResponse:
        return STATUS

    async def watch_run(_request: Any, _context: Any) -> AsyncIterator[runs_pb2.WatchRunResponse]:
        for page in pages:
            yield page

    status = grpc.unary_unary_rpc_method_handler(
        get_status,
        request_deserializer=daemon_pb2.GetStatusRequest.FromString,
        response_serializer=daemon_pb2.GetStatusResponse.SerializeToString,
    )
    watch = grpc.unary_stream_rpc_method_handler(
        watch_run,
        request_deserializer=runs_pb2.WatchRunRequest.FromString,
        response_serializer=runs_pb2.WatchRunResponse.SerializeToString,
    )
    return (
        grpc.method_handlers_generic_handler("aeond.api.v1.DaemonService", {"GetStatus": status}),
        grpc.method_handlers_generic_handler("aeond.api.v1.RunService", {"WatchRun": watch}),
    )


async def serve(folder: Path, events: int, batch: int) -> None:
    server = grpc.aio.server(options=OPTIONS)
    server.add_generic_rpc_handlers(handlers(events, batch))
    direct = folder / "direct.sock"
    server.add_insecure_port(f"unix:{direct}")
    await server.start()
    with bound_socket(folder / "door.sock") as listener:
        async with Door(listener, direct, AccessRule(), Callers()).opened():
            print("ready", flush=True)
            await anyio.to_thread.run_sync(sys.stdin.read)
    await server.stop(None)


if __name__ == "__main__":
    anyio.run(serve, Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
