"""The floor of a stream and of a start: grpc.aio alone, sending the same events from memory.

usage: bare_server.py SOCKET EVENTS BATCH Prints `ready` when it accepts connections; serves until its
standard input closes.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio

from aeond.api.v1 import events_pb2, parts_pb2, runs_pb2


def step_ended(seq: int) -> events_pb2.Event:
    """An event as the daemon sends it for each step of the benchmark's run."""
    event = events_pb2.Event(run_id="01bare", seq=seq, elapsed_seconds=0.001 * seq)
    event.time.GetCurrentTime()
    event.step_ended.step_id = f"s{seq}"
    event.step_ended.state = parts_pb2.STEP_STATE_SUCCEEDED
    event.step_ended.output_json = '{"text":"hello"}'
    event.step_ended.duration_seconds = 0.001
    return event


async def serve(socket: str, events: int, batch: int) -> None:
    responses = [
        runs_pb2.WatchRunResponse(events=[step_ended(seq) for seq in range(first, first + batch)])
        for first in range(1, events + 1, batch)
    ]

    async def watch_run(
        _request: runs_pb2.WatchRunRequest, _context: grpc.aio.ServicerContext[Any, Any]
    ) -> AsyncIterator[runs_pb2.WatchRunResponse]:
        for response in responses:
            yield response

    method = grpc.unary_stream_rpc_method_handler(
        watch_run,
        request_deserializer=runs_pb2.WatchRunRequest.FromString,
        response_serializer=runs_pb2.WatchRunResponse.SerializeToString,
    )
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("aeond.api.v1.RunService", {"WatchRun": method}),)
    )
    server.add_insecure_port(f"unix:{socket}")
    await server.start()
    print("ready", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await server.stop(None)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
