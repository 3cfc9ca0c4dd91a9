"""A user who stores facts, sessions and runs, and deletes them: a program that makes calls of the API as this user.

Run as a process of its own, because a connection has the user of the process that opened it:
`python -m tests.support.storing_user UID SOCKET CALLS`. CALLS is a JSON list of names with their arguments; prints a JSON
list with what each call returned, or the reason of its failure.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from aeond_client.calls.run_calls import RunOptions
from aeond_client.client import Client
from aeond_client.errors import AeondError
from aeond_client.records.runs import Plan, PlanStep
from tests.support.repository import ROOT


def done_as(uid: int, socket: str, *calls: Sequence[Any]) -> list[Any]:
    """The results of this user's calls. Only root can start the program."""
    completed = subprocess.run(
        [sys.executable, "-m", "tests.support.storing_user", str(uid), socket, json.dumps(calls)],
        cwd=ROOT,
        env={**os.environ, "GRPC_VERBOSITY": "NONE"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert completed.returncode == 0, completed.stderr
    results: list[Any] = json.loads(completed.stdout)
    return results


def _called(client: Client, name: str, *arguments: Any) -> Any:
    match name, arguments:
        case "write", (key, chars):
            client.write_memory(key, "x" * chars)
            return "written"
        case "forget", (key,):
            return client.delete_memory(key)
        case "session", ():
            return client.create_session("mine").session_id
        case "delete session", (session_id,):
            client.delete_session(session_id)
            return "deleted"
        case "run", steps:
            planned = [
                PlanStep(f"s{n}", tool, tool, words, depends_on=(f"s{n - 1}",) if n else ())
                for n, (tool, words) in enumerate(steps)
            ]
            return client.create_run("mine", RunOptions(plan=Plan("mine", tuple(planned)))).run_id
        case "fork", (run_id,):
            return client.fork_run(run_id).run_id
        case "watch", (run_id,):
            return [type(event).__name__ for event in client.watch(run_id)]
        case "answer", (run_id, answer):
            return client.answer_run(run_id, answer).run_id
        case "delete run", (run_id,):
            client.delete_run(run_id)
            return "deleted"
        case "steps", (run_id,):
            run = client.get_run(run_id)
            return [run.state, *(step.reason for step in run.steps)]
        case _:
            raise AssertionError(f"there is no call {name} with {len(arguments)} arguments")


def main(uid: int, socket: str, calls: Sequence[Sequence[Any]]) -> None:
    with Client(socket) as client:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        results = []
        for call in calls:
            try:
                results.append(_called(client, *call))
            except AeondError as error:
                results.append(error.reason)
    sys.stdout.write(json.dumps(results))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]))
