"""The examples of README work: its tool in the real daemon, its program against it."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.support.daemon_process import running_daemon
from tests.support.repository import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
TOOL, PROGRAM = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
SECONDS = 60

PLAN = {"steps": [{"tool": "count_words", "arguments": {"text": "to be or not to be"}}]}
SCRIPT = {
    "rules": [
        {"contains": "reply only: @tools", "text": "@tools"},
        {"contains": "You plan how to fulfil a request", "json": PLAN},
        {"contains": '{"words": 6}', "text": "There are 6 words."},
        {"text": "I see no count."},
    ]
}


def test_the_tool_of_the_readme_is_the_one_of_the_page() -> None:
    """README and the page on adding a tool show the same file."""
    assert TOOL in (ROOT / "docs" / "adding-a-tool.md").read_text(encoding="utf-8")


def test_the_tool_and_the_program_of_the_readme_work(tmp_path: Path) -> None:
    """A daemon with README's tool answers README's program: the request is planned, the words are counted and
    the answer is given."""
    tool_file = tmp_path / "count_words.py"
    tool_file.write_text(TOOL, encoding="utf-8")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    with running_daemon({"tools": {"files": [str(tool_file)]}}) as daemon:
        daemon.script.write_text(json.dumps(SCRIPT), encoding="utf-8")
        daemon.restart()
        finished = subprocess.run(
            [sys.executable, str(program)],
            env={"AEOND_SOCKET": str(daemon.socket), "PATH": ""},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    assert finished.stderr == ""
    assert finished.stdout.splitlines() == ["s1 succeeded {'words': 6}", "There are 6 words."]
