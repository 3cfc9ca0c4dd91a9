"""The Python client as a program of the conformance suite: the same commands and output as in the other languages."""

import json
import sys
import threading
from collections.abc import Iterable

from google.protobuf import json_format

from aeon_cli.text.encoding import plain
from aeond.api.v1 import runs_pb2
from aeond_client import AeondError, Client, RunOptions
from aeond_client.calls.reading import read
from aeond_client.events import Event, InputRequested
from aeond_client.records.runs import Plan
from tests.support import conformance_tools


def main(command: str, *words: str) -> int:
    try:
        with Client() as client:
            match command, words:
                case "ask", (request,):
                    wire = json_format.Parse(request, runs_pb2.CreateRunRequest())
                    print_all(client.ask(wire.request.text, RunOptions(plan=read(Plan, wire.plan))))
                case "watch", (run_id, after_seq):
                    with client.watch(run_id, int(after_seq)) as events:
                        print_all(events)
                case "close", (run_id,):
                    with client.watch(run_id) as events:
                        close_in(client, events)
                case "closed", (run_id,):
                    client.__exit__(None, None, None)
                    client.cancel_run(run_id)
                case "answer", (run_id, answer):
                    client.answer_run(run_id, json.loads(answer))
                case "cancel", (run_id, reason):
                    client.cancel_run(run_id, reason)
                case "serve", limit_seconds:
                    conformance_tools.serve(*map(float, limit_seconds))
                case _:
                    return 2
    except AeondError as error:
        print_line({"error": {"reason": error.reason, "field": error.field}})
        return 1
    return 0


def print_all(events: Iterable[Event]) -> None:
    for event in events:
        print_line(plain(event))


def close_in(client: Client, events: Iterable[Event]) -> None:
    """The client is closed while the watch waits for the answer to a question."""
    for event in events:
        print_line(plain(event))
        if isinstance(event.kind, InputRequested):
            threading.Thread(target=client.__exit__, args=(None, None, None)).start()


def print_line(record: object) -> None:
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
