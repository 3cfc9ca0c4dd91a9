"""aeond: a chain of ten steps through the real daemon, every event on disk and then on the client's screen.

Each step is validated against its tool's schemas both ways, its intent is durable before it runs and its
outcome before the next one begins, and a client in another process receives it all over the socket.
usage: aeond_chain.py FOLDER CHAINS
"""

import asyncio
import json
import sys
from pathlib import Path
from time import perf_counter

import grpc.aio

from aeond.api.v1 import parts_pb2, runs_pb2, runs_pb2_grpc, tools_pb2
from benchmarks.daemon import running_daemon

STEPS = 10
CHAIN_SECONDS = 30.0


def chain_of_ten() -> parts_pb2.Plan:
    """Each step says what the one before it said."""
    steps = []
    for number in range(1, STEPS + 1):
        text = "hello" if number == 1 else f"$s{number - 1}.text"
        steps.append(
            parts_pb2.PlanStep(
                step_id=f"s{number}",
                description="Say it again.",
                tool_call=tools_pb2.ToolCall(tool="echo", arguments_json=json.dumps({"text": text})),
                depends_on=[] if number == 1 else [f"s{number - 1}"],
            )
        )
    return parts_pb2.Plan(goal="say hello ten times", steps=steps)


async def run_chain(stub: "runs_pb2_grpc.RunServiceAsyncStub") -> None:
    """One run, watched to its end; fails unless all ten steps did their work."""
    request = runs_pb2.RunAndWatchRequest(request=parts_pb2.RunRequest(text="chain"), plan=chain_of_ten())
    said: list[str] = []
    last = ""
    async for response in stub.RunAndWatch(request, timeout=CHAIN_SECONDS):
        for event in response.events:
            if event.seq:
                last = str(event.WhichOneof("kind"))
            if last == "step_ended" and event.step_ended.state == parts_pb2.STEP_STATE_SUCCEEDED:
                said.append(event.step_ended.output_json)
    if (
        len(said) != STEPS
        or set(map(str, map(json.loads, said))) != {"{'text': 'hello'}"}
        or last != "run_ended"
    ):
        message = f"not the chain that was asked for: {len(said)} steps, last event {last}"
        raise RuntimeError(message)


async def measure(socket: Path, chains: int) -> list[float]:
    """Seconds a step for each of the chains."""
    seconds = []
    async with grpc.aio.insecure_channel(f"unix:{socket}") as channel:
        stub = runs_pb2_grpc.RunServiceStub(channel)
        for _ in range(chains):
            begun = perf_counter()
            await run_chain(stub)
            seconds.append((perf_counter() - begun) / STEPS)
    return seconds


def main() -> None:
    with running_daemon(Path(sys.argv[1])) as daemon:
        print(json.dumps(asyncio.run(measure(daemon.socket, int(sys.argv[2])))))


if __name__ == "__main__":
    main()
