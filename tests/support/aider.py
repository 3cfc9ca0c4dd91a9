"""Aider's tools over a folder of a test, in the real sandbox, with a stand-in for Aider where the real one is not needed."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from aeond.capabilities.aider.environment import BUILT, is_built, mark
from aeond.capabilities.aider.tools import Editor
from aeond.capabilities.aider.workbench import Workbench
from aeond.capabilities.llm.adapters.scripted import Script, ScriptedLLM
from aeond.capabilities.tools.files.changes import FileChanges
from aeond.capabilities.tools.served.terminals import RunTerminals
from aeond.daemon.config.paths import usual_build
from aeond.domain.runs.budgets import Grant
from aeond.domain.tools import ToolCall, ToolResult
from aeond.orchestration.budget.metered_model import MeteredModel
from tests.support.doubles import ManualClock
from tests.support.hands import Hands, repository
from tests.support.tools import invoker_of

needs_aider = pytest.mark.skipif(
    not is_built(usual_build("aider")), reason="Aider is not installed: make aider-setup"
)

TEST: Final = ("python3", "-m", "unittest", "-q")
TASK: Final = "Let add return the sum."
WRONG: Final = "def add(a, b):\n    return a - b\n"
RIGHT: Final = "def add(a, b):\n    return a + b\n"
CHECK: Final = """import unittest

from calc import add


class TestCalc(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 3), 5)
"""
SAID: Final = f"The sign is wrong.\n\ncalc.py\n```\n{RIGHT}```\n"

# Speaks to the model as Aider does, and writes the files of its answers: to one message, or to each line that is typed.
STAND_IN: Final = r"""#!/usr/bin/python3
import json, os, re, sys, urllib.request
given = sys.argv
alone = "--message-file" in given


def ask(message):
    body = {"model": "aeond", "messages": [{"role": "user", "content": message}], "temperature": 0}
    request = urllib.request.Request(
        os.environ["OPENAI_API_BASE"] + "/chat/completions",
        json.dumps({**body, "stream": not alone}).encode(),
        {"content-type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            if alone:
                said = json.load(answer)["choices"][0]["message"]["content"]
            else:
                said = ""
                for line in answer:
                    if line.startswith(b"data: {"):
                        said += json.loads(line[6:])["choices"][0]["delta"].get("content", "")
    except urllib.error.HTTPError as error:
        sys.exit(f"the model says: {error.read().decode()}")
    print(said)
    for path, content in re.findall(r"^(\S+)\n```\n(.*?)^```$", said, re.M | re.S):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)


if alone:
    with open(given[given.index("--message-file") + 1], encoding="utf-8") as file:
        ask(file.read())
else:
    noted = open(given[given.index("--input-history-file") + 1], "a", encoding="utf-8")
    print(os.environ["TERM"], "has", *reversed(os.get_terminal_size()), "at", os.ttyname(0), flush=True)
    print("ready> ", end="", flush=True)
    for line in sys.stdin:
        text = re.sub("\\x1b\\[20[01]~", "", line).strip()
        print(f"\n# now\n+{text}", file=noted, flush=True)
        if text == "/exit":
            break
        if text == "/size":
            print("now", *reversed(os.get_terminal_size()))
        elif text.startswith("/run "):
            os.system(text[5:])
        elif text == "/attack":
            print("\x1b]52;c;b3duZWQ=\x07drawn\x1b[31m\x1b[21t")
        else:
            ask(text)
        print("ready> ", end="", flush=True)
"""


def stand_in(folder: Path) -> Path:
    """An environment whose Python is the stand-in."""
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(STAND_IN, encoding="utf-8")
    python.chmod(0o755)
    (folder / BUILT).write_text(mark(), encoding="utf-8")
    return folder


def failing_project(folder: Path) -> Path:
    """A repository with a function that is wrong, and a test that fails."""
    folder.mkdir(exist_ok=True)
    (folder / "calc.py").write_text(WRONG, encoding="utf-8")
    (folder / "test_calc.py").write_text(CHECK, encoding="utf-8")
    repository(folder)
    return folder


class Desk:
    """Calls the tools in the folder `project`; `rules` are what the model answers. `hidden` are paths in the project of the
    daemon's own files."""

    def __init__(
        self,
        folder: Path,
        rules: Sequence[Any],
        environment: Path | None = None,
        hidden: Sequence[str] = (),
    ) -> None:
        self.project = failing_project(folder / "project")
        self.state = folder / "state"
        self.hands = Hands(self.project)
        self.llm = ScriptedLLM(Script.model_validate({"rules": list(rules)}))
        self.grant: Grant | None = None
        workshop = self.hands.workshop
        self.terminals = RunTerminals()
        own = [self.state, *(self.project / path for path in hidden)]
        self.editor = Editor(
            Workbench(environment or stand_in(folder / "environment"), own, None, 1 << 30),
            workshop,
            FileChanges(workshop.files, self.hands.log, workshop.threads, ManualClock()),
            self.state,
            lambda grant: MeteredModel(self.llm, grant),
            300.0,
            self.terminals,
        )
        self.invoker = invoker_of(*self.editor.tools())

    async def call(self, tool: str, call_id: str = "call1", **arguments: Any) -> ToolResult:
        context = replace(self.hands.context, grant=self.grant, call_id=call_id)
        return await self.invoker.invoke(ToolCall(tool, arguments, call_id), context)

    async def done(self, tool: str, call_id: str = "call1", **arguments: Any) -> Any:
        """The data of a call that succeeds."""
        result = await self.call(tool, call_id, **arguments)
        assert result.success, f"{result.reason}: {result.error}"
        return result.data

    @property
    def copies(self) -> list[str]:
        """The private copies that are left."""
        return os.listdir(self.state / "copies")
