"""What a sandboxed call costs, and what each of its parts adds."""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import anyio

from aeond.capabilities.sandbox.bubblewrap import Bubblewrap
from aeond.capabilities.sandbox.cgroups import find_group_home
from aeond.capabilities.sandbox.sandboxed_tool import SandboxedTool, sandboxed_file
from aeond.domain.tools import ToolContext
from benchmarks.measuring import ROOT, Sample
from benchmarks.page import Section, milliseconds

TURNS = 21
MEMORY_BYTES = 1 << 30
_CONTEXT = ToolContext(run_id="run", step_id="s1", call_id="call", workspace="")
_IMPORTS = (
    "import aeond.capabilities.sandbox.runner as r; from aeond.capabilities.sandbox.messages import Limits\n"
)
_CONFINE = "r.confine(Limits(60, 1 << 30), '')\n"
_PLAIN_BWRAP = ("bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev")
_TOOL = """
from aeond.domain.tools import Effect, ToolSpec
class Same:
    spec = ToolSpec("same", "Gives back.", {"type": "object"}, {}, Effect.PURE)
    async def execute(self, arguments, context):
        return 1
TOOLS = [Same()]
"""


def measure(_folder: Path) -> Section:
    python = (sys.executable, "-I", "-B", "-c")
    commands: dict[str, Sequence[str]] = {
        "a process": ("/bin/true",),
        "bubblewrap with a process": (*_PLAIN_BWRAP, "/bin/true"),
        "the runner's imports": (*python, _IMPORTS),
        "the same, confined (limits, Landlock, seccomp)": (*python, _IMPORTS + _CONFINE),
    }
    rows = [(name, *_shown(_command(words))) for name, words in commands.items()]
    with tempfile.TemporaryDirectory(dir=ROOT) as place:
        file = Path(place, "same.py")
        file.write_text(_TOOL, encoding="utf-8")
        file.chmod(0o644)
        rows.append(("a whole call in bubblewrap", *_shown(anyio.run(_calls, file, Bubblewrap()))))
        if (home := find_group_home()) is not None:
            grouped = anyio.run(_calls, file, Bubblewrap(groups=home))
            rows.append(("the same, in a control group", *_shown(grouped)))
    return Section(
        "Sandboxed calls",
        f"{TURNS} runs each. A call starts Python, imports the runner, confines itself and runs a tool without other"
        " imports. The median depends on the other load of the machine, the fastest hardly.",
        ("what", "median", "fastest"),
        tuple(rows),
    )


def _shown(sample: Sample) -> tuple[str, str]:
    return milliseconds(sample.median), milliseconds(min(sample.seconds))


def _command(words: Sequence[str]) -> Sample:
    seconds = []
    for _ in range(TURNS):
        begun = perf_counter()
        subprocess.run(words, check=True, env={})
        seconds.append(perf_counter() - begun)
    return Sample(tuple(seconds))


async def _calls(file: Path, sandbox: Bubblewrap) -> Sample:
    tool: SandboxedTool
    (tool,) = await sandboxed_file(file, sandbox, MEMORY_BYTES)
    seconds = []
    for _ in range(TURNS):
        begun = perf_counter()
        await tool.execute({}, _CONTEXT)
        seconds.append(perf_counter() - begun)
    return Sample(tuple(seconds))
