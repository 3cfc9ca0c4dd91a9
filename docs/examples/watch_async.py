"""Starts a run and watches it to its end, across restarts of the daemon.

    $ python docs/examples/watch_async.py List the files in this folder.

With --run, give the id of a run instead of a request to watch an existing run.
"""

import asyncio
import sys
from pathlib import Path

from aeond_client import AeondError, AsyncClient, Outage, RunOptions
from aeond_client.events import AnswerComposed, RunEnded, StepEnded, TextDelta


def tell(outage: Outage | None) -> None:
    """Reports that the daemon is unavailable, or back. The watch resumes automatically."""
    if outage is None:
        print("the daemon is back")
    else:
        print(f"waiting for the daemon, {outage.waited_seconds:.1f} of {outage.patience_seconds:.0f} s")


async def main() -> int:
    words = sys.argv[1:]
    try:
        async with AsyncClient() as client:
            if words[:1] == ["--run"]:
                run_id = words[1]
            else:
                request = " ".join(words) or "List the files in this folder."
                run_id = (await client.create_run(request, RunOptions(workspace=str(Path.cwd())))).run_id
            print(f"run {run_id}")
            # Leaving the block ends the watch, not the run; `client.cancel_run(run_id)` ends the run.
            async with client.watch(run_id, patience_seconds=30.0, on_outage=tell) as events:
                async for event in events:
                    match event.kind:
                        case StepEnded(step_id=step_id, state=state):
                            print(f"{event.seq}: step {step_id} {state}")
                        case TextDelta(text=text, step_id=""):
                            print(text, end="", flush=True)
                        case AnswerComposed(answer=answer):
                            print(f"\n{event.seq}: {answer.text}")
                        case RunEnded(state=state):
                            print(f"{event.seq}: {state}")
                        case _:
                            pass  # there are other kinds, and newer daemons may add more
    except AeondError as error:
        print(f"{error.reason}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
