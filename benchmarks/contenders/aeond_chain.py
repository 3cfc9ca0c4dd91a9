"""aeond: a chain of ten steps through the real daemon, every event on disk and then on the client's screen.

Each step is validated against its tool's schemas in both directions; its intent is durable before it runs and
its outcome before the next one starts; a client in another process receives all events over the socket.
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


def echo_chain(steps: int) -> parts_pb2.Plan:
    """Pure steps: each echoes the output of the preceding one."""
    texts = ["hello", *(f"$s{number}.text" for number in range(1, steps))]
    return _chain("echo", [{"text": text} for text in texts])


def file_chain(steps: int) -> parts_pb2.Plan:
    """Steps with effects: each changes the file named by the preceding one."""
    paths = ["note.txt", *(f"$s{number}.path" for number in range(1, steps))]
    contents = (f"hello {number}" for number in range(steps))
    return _chain(
        "write_file", [{"path": path, "content": text} for path, text in zip(paths, contents, strict=True)]
    )


def _chain(tool: str, arguments: list[dict[str, str]]) -> parts_pb2.Plan:
    steps = [
        parts_pb2.PlanStep(
            step_id=f"s{number}",
            description="Do it again.",
            tool_call=tools_pb2.ToolCall(tool=tool, arguments_json=json.dumps(given)),
            depends_on=[f"s{number - 1}"] if number > 1 else [],
        )
        for number, given in enumerate(arguments, start=1)
    ]
    return parts_pb2.Plan(goal="do the same again and again", steps=steps)


async def run_chain(stub: "runs_pb2_grpc.RunServiceAsyncStub", plan: parts_pb2.Plan) -> None:
    """One run, watched to its end; fails unless all its steps succeed."""
    request = runs_pb2.RunAndWatchRequest(request=parts_pb2.RunRequest(text="chain"), plan=plan)
    outputs: list[str] = []
    last = ""
    async for response in stub.RunAndWatch(request, timeout=CHAIN_SECONDS):
        for event in response.events:
            if event.seq:
                last = str(event.WhichOneof("kind"))
            if last == "step_ended" and event.step_ended.state == parts_pb2.STEP_STATE_SUCCEEDED:
                outputs.append(event.step_ended.output_json)
    if len(outputs) != len(plan.steps) or not all(outputs) or last != "run_ended":
        message = f"unexpected outputs: {outputs}, last event {last}"
        raise RuntimeError(message)


async def measure(socket: Path, chains: int, plan: parts_pb2.Plan) -> list[float]:
    """Seconds per step for each of the chains."""
    seconds = []
    async with grpc.aio.insecure_channel(f"unix:{socket}") as channel:
        stub = runs_pb2_grpc.RunServiceStub(channel)
        for _ in range(chains):
            begun = perf_counter()
            await run_chain(stub, plan)
            seconds.append((perf_counter() - begun) / len(plan.steps))
    return seconds


def main() -> None:
    with running_daemon(Path(sys.argv[1])) as daemon:
        print(json.dumps(asyncio.run(measure(daemon.socket, int(sys.argv[2]), echo_chain(STEPS)))))


if __name__ == "__main__":
    main()
