"""The conformance suite of the clients: its cases, and the conversation of one client with a server for one of them."""

import json
import subprocess
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Timer
from typing import Any

from google.protobuf import json_format

from aeon_cli.text.encoding import plain
from aeond.api.v1 import events_pb2
from aeond_client.calls import reading
from aeond_client.client import Client
from aeond_client.records.runs import Plan, PlanStep
from tests.support.repository import ROOT
from tests.support.stubs import Stub

# Longer than the patience of a watch, which must end a wait by itself.
DEADLINE_SECONDS = 120.0
ANSWER = "blue"
REASON = "by the suite"
LONG_TEXT = "Much. " * 650

_FILE = tomllib.loads((ROOT / "tests/conformance/cases.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Case:
    """A case as tests/conformance/cases.toml describes it."""

    name: str
    about: str
    command: str
    request: str = ""
    ended: bool = False
    after: int = 0
    run_id: str = ""
    at: Mapping[str, list[str]] = field(default_factory=dict)
    cuts: tuple[int, ...] = ()
    slow: bool = False
    server: str = ""
    socket: str = ""
    transcript: str | None = None
    error: Mapping[str, str] | None = None
    exit: int = 0

    def __str__(self) -> str:
        return self.name

    @property
    def closes(self) -> bool:
        """Whether the client is closed, which not every one can be."""
        return self.command in {"close", "closed"}

    @property
    def text(self) -> str:
        return str(_FILE["requests"][self.request]["text"])

    @property
    def plan(self) -> Plan:
        request = _FILE["requests"][self.request]
        steps = [{"depends_on": (), **step} for step in request["steps"]]
        if repeat := request.get("repeat"):
            first = {**steps[0], "arguments": {"text": LONG_TEXT}}
            steps = [{**first, "step_id": f"s{number}"} for number in range(1, repeat + 1)]
        return Plan("", tuple(PlanStep(description="", **step) for step in steps))

    @property
    def request_json(self) -> str:
        """A CreateRunRequest as protobuf writes it in JSON."""
        steps = [
            {
                "stepId": step.step_id,
                "toolCall": {
                    "tool": step.tool,
                    "argumentsJson": json.dumps(step.arguments, ensure_ascii=False),
                },
                "dependsOn": list(step.depends_on),
            }
            for step in self.plan.steps
        ]
        return json.dumps({"request": {"text": self.text}, "plan": {"steps": steps}}, ensure_ascii=False)


CASES = tuple(Case(**case) for case in _FILE["cases"])


def cases_of(table: str) -> list[dict[str, Any]]:
    """Another table of cases."""
    found: list[dict[str, Any]] = _FILE[table]
    return found


@dataclass
class Conversation:
    """Everything that a client printed: its numbered events in one form for all clients, and its error."""

    events: list[dict[str, Any]] = field(default_factory=list)
    error: dict[str, str] | None = None
    exit_status: int = 0
    stderr: str = ""

    @property
    def run_id(self) -> str:
        return str(self.events[0]["run_id"])

    @property
    def transcript(self) -> list[str]:
        return [f"{event['seq']} {event['kind']} {gist(event)}".rstrip() for event in self.events]


Actions = Mapping[str, Callable[[str], object]]


def converse(
    stub: Stub, case: Case, settings: Mapping[str, str], run_id: str, actions: Actions
) -> Conversation:
    """Runs the client's command to its end. `actions` by name are called with the id of the run."""
    found = Conversation()
    operands = {
        "ask": (case.request_json,) if case.request else (),
        "watch": (run_id, str(case.after)),
        "close": (run_id,),
        "closed": (run_id,),
        "cancel": (run_id, REASON),
    }
    with _program(stub.command(case.command, *operands[case.command]), settings) as (program, stderr):
        assert program.stdout is not None
        for line in program.stdout:
            printed = json.loads(line)
            if "error" in printed and "seq" not in printed:
                found.error = printed["error"]
                continue
            event = normal(printed)
            if not event["seq"]:
                continue
            found.events.append(event)
            if case.slow and len(found.events) == 1:
                actions["end"](event["run_id"])
            for name in case.at.get(event["kind"], ()):
                actions[name](event["run_id"])
        found.exit_status = program.wait(DEADLINE_SECONDS)
        stderr.seek(0)
        found.stderr = stderr.read().decode()
    return found


def call(stub: Stub, settings: Mapping[str, str], verb: str, *operands: str) -> None:
    """One call of the client that must succeed."""
    done = subprocess.run(
        stub.command(verb, *operands),
        env=settings,
        check=False,
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def _program(words: list[str], settings: Mapping[str, str]) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    with tempfile.TemporaryFile() as stderr:
        program = subprocess.Popen(words, env=settings, stdout=subprocess.PIPE, stderr=stderr, text=True)
        watchdog = Timer(DEADLINE_SECONDS, program.kill)
        watchdog.start()
        try:
            yield program, stderr
        finally:
            watchdog.cancel()
            program.kill()
            program.communicate()


def received(client: Client, run_id: str, after_seq: int = 0) -> list[dict[str, Any]]:
    """The numbered events of a run that ends, as the Python client receives them."""
    with client.watch(run_id, after_seq) as events:
        return [normal(plain(event)) for event in events if event.seq]


def normal(printed: dict[str, Any]) -> dict[str, Any]:
    """An event without its time, whether it is in the JSON of aeonctl or in that of the contract."""
    if "data" not in printed:
        printed = plain(reading.event(json_format.ParseDict(printed, events_pb2.Event())))
    event: dict[str, Any] = json.loads(json.dumps(printed))
    del event["time"]
    return event


def gist(event: Mapping[str, Any]) -> str:
    """The part of an event that the transcript of a case has."""
    data = event["data"]
    match event["kind"]:
        case "run_created":
            return str(data["text"])
        case "step_started":
            return str(data["step"]["step_id"])
        case "step_ended":
            output = "" if data["output"] is None else json.dumps(data["output"])
            return f"{data['step_id']} {data['state']} {output}"
        case "input_requested":
            return str(data["question"]["prompt"])
        case "input_answered":
            return json.dumps(data["answer"])
        case "cancel_requested":
            return str(data["reason"])
        case "answer_composed":
            return str(data["answer"]["text"])
        case "run_ended":
            return str(data["state"])
        case _:
            return ""
