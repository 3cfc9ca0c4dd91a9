"""The clients of the conformance suite, in every language: what they need, how they are built, and their commands."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from tests.support.aeonctl import command
from tests.support.repository import ROOT

BUILD_SECONDS = 500.0
CLIENTS = ROOT / "clients"
BUILT = ROOT / ".cache" / "clients"
EXAMPLES = ("ask", "follow", "serve")

Words = tuple[str, ...]


def _words(verb: str, *operands: str) -> Words:
    """The command line that the driver of every client has."""
    return (verb, *operands)


def _words_of_aeonctl(verb: str, *operands: str) -> Words:
    """The same for aeonctl, which reads a plan from a file and prints an answer's run."""
    match verb, operands:
        case "ask", (request,):
            wanted = json.loads(request)
            plan = {"steps": [_step_of_aeonctl(step) for step in wanted["plan"]["steps"]]}
            text = json.dumps(plan)
            file = BUILT / "plans" / f"{sha256(text.encode()).hexdigest()}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            words = ("ask", "--json", "--stay", "--workspace", "", "--plan", str(file))
            return (*words, wanted["request"]["text"])
        case "watch", (run_id, after_seq):
            return ("watch", "--json", "--stay", "--after", after_seq, run_id)
        case "cancel", (run_id, reason):
            return ("cancel", "--reason", reason, run_id)
        case _:
            return (verb, *(json.loads(word) if word.startswith('"') else word for word in operands))


def _step_of_aeonctl(step: dict[str, Any]) -> dict[str, Any]:
    call = step["toolCall"]
    return {
        "step_id": step["stepId"],
        "tool": call["tool"],
        "arguments": json.loads(call["argumentsJson"]),
        "depends_on": step["dependsOn"],
    }


@dataclass(frozen=True)
class Stub:
    """A client. `build` is run once and must be quick if nothing changed; `programs` must be installed. `page` is its README,
    `sources` the texts of its examples and `examples` their commands, each with the name of an example for `{}`. `copy` is the
    name that its page gives to the first example in a project of one's own.

    `serves_as` names the client whose driver serves tools with this one, which is not run once more for that. `failures` are the reasons of failed
    calls of its tools, if those cannot choose one. With `kills` a cancelled call is a program that is killed. One that `closes`
    can be closed while a watch of it goes on.

    With `has_reasons` it prints the reason of an error; otherwise its exit status tells errors apart.
    """

    name: str
    program: Words
    build: Path | None = None
    programs: Words = ()
    page: Path | None = None
    sources: str = ""
    examples: Words = ()
    copy: str = ""
    words: Callable[..., Words] = field(default=_words)
    has_reasons: bool = True
    serves_as: str = ""
    failures: Words = ()
    kills: bool = False
    closes: bool = True

    def __str__(self) -> str:
        return self.name

    def command(self, verb: str, *operands: str) -> list[str]:
        """The command line of `ask REQUEST`, `watch RUN_ID AFTER_SEQ`, `answer RUN_ID JSON` or `cancel RUN_ID REASON`; or
        `serve`.

        Builds the client first; skips the test if a program that it needs is not installed.
        """
        _prepare(self)
        return [*self.program, *self.words(verb, *operands)]

    def example_command(self, example: str, *operands: str) -> list[str]:
        """The command line of one of EXAMPLES."""
        _prepare(self)
        return [*(word.format(example) for word in self.examples), *operands]

    def source(self, example: str) -> Path:
        """The text of one of EXAMPLES."""
        return ROOT / self.sources.format(example)


PYTHON = Stub(
    "Python",
    (sys.executable, "-m", "tests.support.conformance_driver"),
    page=ROOT / "package/wheels/aeond-client/README.md",
    sources="docs/examples/client/{}.py",
    examples=(sys.executable, str(ROOT / "docs/examples/client/{}.py")),
)
STUBS = (
    PYTHON,
    Stub(
        "aeonctl",
        tuple(command()),
        words=_words_of_aeonctl,
        has_reasons=False,
        serves_as="shell",
        closes=False,
    ),
    Stub(
        "Node",
        ("node", str(CLIENTS / "node/dist/conformance/driver.js")),
        build=CLIENTS / "node/build",
        programs=("node", "npm"),
        page=CLIENTS / "node/README.md",
        sources="clients/node/examples/{}.ts",
        examples=("node", str(CLIENTS / "node/dist/examples/{}.js")),
        copy="ask.mjs",
    ),
    Stub(
        "Go",
        (str(BUILT / "go/driver"),),
        build=CLIENTS / "go/build",
        programs=("go", "protoc", "protoc-gen-go", "protoc-gen-go-grpc"),
        page=CLIENTS / "go/README.md",
        sources="clients/go/examples/{}/main.go",
        examples=(str(BUILT / "go/{}"),),
        copy="ask.go",
    ),
    Stub(
        "C++",
        (str(BUILT / "cpp/driver"),),
        build=CLIENTS / "cpp/build",
        programs=("cmake", "c++", "protoc", "grpc_cpp_plugin"),
        page=CLIENTS / "cpp/README.md",
        sources="clients/cpp/examples/{}.cpp",
        examples=(str(BUILT / "cpp/examples/{}"),),
    ),
    Stub(
        "shell",
        ("bash", str(CLIENTS / "shell/conformance/driver")),
        programs=("bash", "jq"),
        page=CLIENTS / "shell/README.md",
        sources="clients/shell/{}",
        examples=("bash", str(CLIENTS / "shell/{}")),
        failures=("COMMAND_FAILED", "COMMAND_FAILED"),
        kills=True,
        closes=False,
    ),
)


@cache
def _prepare(stub: Stub) -> None:
    lacking = [program for program in stub.programs if which(program) is None]
    if lacking:
        pytest.skip(f"the {stub.name} client needs {', '.join(lacking)}: .ci/run lists the packages")
    if stub.build:
        BUILT.mkdir(parents=True, exist_ok=True)
        # Tests of other files run at the same time: they wait for the build, and find nothing left to do.
        with (BUILT / f"{stub.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            built = subprocess.run(
                [stub.build], check=False, capture_output=True, text=True, timeout=BUILD_SECONDS
            )
        assert built.returncode == 0, built.stdout + built.stderr


def environment(**settings: str) -> dict[str, str]:
    """The environment of a client: `buf` and other programs of this Python's environment are in its path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {name: os.environ[name] for name in ("HOME",) if name in os.environ}
    return {**kept, "PATH": path, "LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT), **settings}
