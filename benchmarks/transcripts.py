"""`python -m benchmarks.transcripts`: records a request for each class of failure that assistants with small models are prone to.

The output of the real command with the default model goes into docs/transcripts.md, right or wrong.
"""

import datetime as dt
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Final

from benchmarks.measuring import ROOT
from benchmarks.rates import default_daemon

PAGE: Final = ROOT / "docs" / "transcripts.md"
BEGIN, END = "<!-- recorded: classes -->", "<!-- end: classes -->"
MODEL: Final = "[model]\nyields_memory = false\n"
RUN_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class Recorded:
    """A request in a folder with these files and facts."""

    title: str
    request: str
    files: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)


REQUESTS: Final = (
    Recorded(
        "The answer stands in a file",
        "When is the next choir practice?",
        {"choir/dates.md": "# Practice\n\nNext practice: Thursday 3 December, 19:30, in the chapel.\n"},
    ),
    Recorded(
        "A file whose name is spelled otherwise",
        "Who keeps the keys? It says so in minuts.md",
        {
            "board/minutes.md": "Minutes of 2 November\n\nThe roof is repaired in spring.\nIlse keeps the keys.\n"
        },
    ),
    Recorded(
        "A change is reported only if it happened",
        "Delete old_draft.txt, I don't need it any more",
        {"old_draft.txt": "First try.\n", "final.txt": "Second try.\n"},
    ),
    Recorded(
        "The numbers come from the request",
        "How much is 3.5 percent of 1280 euros?",
    ),
    Recorded(
        "A fact that changes stays one fact",
        "The code of the bike lock is 5518 from today on",
        facts={"bike lock code": "4402"},
    ),
    Recorded(
        "A task of several parts",
        "Read north.txt and south.txt and write the two totals into totals.txt, one per line",
        {"north.txt": "apples 12\npears 30\ntotal 42\n", "south.txt": "apples 5\npears 9\ntotal 14\n"},
    ),
)


def main() -> None:
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    parts = [f"Recorded on {today} by `python -m benchmarks.transcripts`, one try each."]
    with default_daemon(MODEL) as socket:
        parts += [_transcript(socket, recorded) for recorded in REQUESTS]
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    text = "\n\n".join(parts)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")
    print(f"Wrote {len(REQUESTS)} transcripts to {PAGE.relative_to(ROOT)}")


def _transcript(socket: Path, recorded: Recorded) -> str:
    with tempfile.TemporaryDirectory(prefix="aeond-") as folder:
        for name, text in recorded.files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        lines = [_run(socket, folder, ("memory", "set", *fact)) for fact in recorded.facts.items()]
        began = perf_counter()
        lines.append(_run(socket, folder, ("ask", recorded.request)))
        seconds = perf_counter() - began
        if recorded.facts:
            lines.append(_run(socket, folder, ("memory", "list")))
        texts = _texts(folder)
    for name, text in texts.items():
        if text != recorded.files.get(name):
            lines.append(f"$ cat {name}\n{text.rstrip()}")
    if recorded.files.keys() - texts.keys():
        lines.append("\n".join(["$ ls", *texts]))
    shown = "\n".join(lines)
    return f"### {recorded.title}\n\n```\n{shown}\n```\n\n{seconds:.0f} seconds."


def _run(socket: Path, folder: str, arguments: Sequence[str]) -> str:
    """The command and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "aeon_cli.main", *arguments],
        cwd=folder,
        env={**os.environ, "AEOND_SOCKET": str(socket), "LC_ALL": "C.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    return f"$ aeonctl {shlex.join(arguments)}\n{done.stdout.rstrip()}".rstrip()


def _texts(folder: str) -> Mapping[str, str]:
    paths = (path for path in sorted(Path(folder).rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_text("utf-8", "replace") for path in paths}


if __name__ == "__main__":
    main()
