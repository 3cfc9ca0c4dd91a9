"""`python -m benchmarks.recording [REQUEST]`: records a request to the default model as docs/recording.svg.

Everything in the picture is the output of the real command with a real daemon, in a folder with the files of
`aeond demo`. If the run takes long, time is scaled, and the picture says by how much.
"""

import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import Final

import anyio

from aeond.daemon.commands.demo import SAMPLES
from benchmarks.measuring import ROOT
from benchmarks.rates import default_daemon
from tests.support.screens import Terminal, terminal

PICTURE: Final = ROOT / "docs" / "recording.svg"
REQUEST: Final = "Which file in this folder is the largest?"
MODEL: Final = "[model]\nyields_memory = false\n"
COLUMNS: Final = 88
KEY_SECONDS: Final = 0.04
RUN_SECONDS: Final = 600.0
# A shell that reads one command: bash with a prompt would draw with control sequences of its own.
SHELL: Final = """cd {folder}; printf '$ '; read -r line; eval "$line"; printf '$ '; read -r line"""

PLAYED_SECONDS: Final = 16.0
HELD_SECONDS: Final = 4.0  # for which the last frame stays
FRAME_SECONDS: Final = 0.2  # as played: a frame that is replaced sooner is left out
CHARACTER, LINE, MARGIN, SIZE = 8.4, 20, 16, 14
BACKGROUND, FOREGROUND, FAINT = "#1e2127", "#d5d8df", "#8b93a1"
# By the numbers of the terminal's control sequences.
COLOURS: Final = {
    "31": "#ef7680",
    "32": "#8fcf73",
    "33": "#e2bd6b",
    "34": "#6cb4f2",
    "36": "#5cc3d0",
    "2": FAINT,
}

Cells = tuple[tuple[tuple[str, str], ...], ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """What the screen showed from this second on."""

    seconds: float
    cells: Cells


def main() -> None:
    request = " ".join(sys.argv[1:]) or REQUEST
    with default_daemon(MODEL) as socket, tempfile.TemporaryDirectory(prefix="aeond-") as folder:
        for name, text in SAMPLES.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        frames = anyio.run(record, socket, folder, request)
    PICTURE.write_text(picture(frames, f"aeonctl ask {shlex.quote(request)}"), encoding="utf-8")
    print(f"Wrote {PICTURE.relative_to(ROOT)}: {frames[-1].seconds:.0f} s")


async def record(socket: Path, folder: str, request: str) -> list[Frame]:
    """The screen while a person types the request and reads the answer: a frame for each change of it."""
    environment = {
        "AEOND_SOCKET": str(socket),
        "LC_ALL": "C.UTF-8",
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "TERM": "xterm-256color",
    }
    frames: list[Frame] = []
    shell = ("bash", "-c", SHELL.format(folder=shlex.quote(folder)))
    async with terminal(shell, environment=environment, columns=COLUMNS) as shown:
        began = perf_counter()
        with anyio.fail_after(RUN_SECONDS):
            await shown.read_until("$")
            async with anyio.create_task_group() as group:
                group.start_soon(_type, shown, f'aeonctl ask "{request}"\n')
                while not shown.screen.text.endswith("\n$"):
                    await shown.read_once()
                    if not frames or frames[-1].cells != shown.screen.cells:
                        frames.append(Frame(perf_counter() - began, shown.screen.cells))
        shown.press("\n")
        await shown.read_to_end()
    return frames


async def _type(shown: Terminal, keys: str) -> None:
    for key in keys:
        await anyio.sleep(KEY_SECONDS)
        shown.press(key)


def picture(frames: Sequence[Frame], title: str) -> str:
    """An animated SVG that shows one frame after the other, in the rhythm of the recording but within 20 seconds."""
    real = frames[-1].seconds
    faster = max(real / PLAYED_SECONDS, 1.0)
    total = real / faster + HELD_SECONDS
    frames = _lasting(frames, FRAME_SECONDS * faster)
    rows = max(len(frame.cells) for frame in frames)
    width, height = COLUMNS * CHARACTER + 2 * MARGIN, (rows + 1) * LINE + 2 * MARGIN
    steps = "".join(
        f"{frame.seconds / faster / total:.2%}{{transform:translateY(-{number * height}px)}}"
        for number, frame in enumerate(frames)
    )
    note = f"recorded in {real:.0f} s" + (f", played {faster:.1f} times as fast" if faster > 1 else "")
    place = f'class="c2 note" x="{width - MARGIN:g}" y="{height - MARGIN / 2:g}" text-anchor="end"'
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>@keyframes play{{0%{{transform:none}}{steps}}}",
            f"#film{{transform:translateY(-{(len(frames) - 1) * height}px);animation:play {total:.1f}s step-end infinite}}",
            f"text{{font:{SIZE}px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre;fill:{FOREGROUND}}}",
            *(f".c{number}{{fill:{colour}}}" for number, colour in COLOURS.items()),
            ".c1{font-weight:bold}.note{font-size:11px}</style>",
            f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
            '<g id="film">',
            *(_drawn(frame, number * height) for number, frame in enumerate(frames)),
            "</g>",
            f"<text {place}>{note}</text>",
            "</svg>\n",
        )
    )


def _lasting(frames: Sequence[Frame], seconds: float) -> list[Frame]:
    """The last frame of each interval of so many seconds."""
    last = {int(frame.seconds / seconds): frame for frame in frames}
    return list(last.values())


def _drawn(frame: Frame, top: float) -> str:
    return "".join(
        f'<text x="{MARGIN + column * CHARACTER:g}" y="{top + MARGIN + SIZE + row * LINE:g}"'
        f' textLength="{width * CHARACTER:g}" class="{_classes(colour)}">{escape(text)}</text>'
        for row, cells in enumerate(frame.cells)
        for column, width, text, colour in _spans(cells)
    )


def _spans(cells: Sequence[tuple[str, str]]) -> Iterator[tuple[int, int, str, str]]:
    """Column, width, text and colour of each part of a row that has one colour, without blanks at its ends."""
    column = 0
    for colour, part in groupby(cells, key=lambda cell: cell[1]):
        letters = [letter for letter, _ in part]
        seen = [place for place, letter in enumerate(letters) if letter.strip()]
        if seen:
            kept = letters[seen[0] : seen[-1] + 1]
            # SVG joins blanks, except those that do not break.
            yield column + seen[0], len(kept), "".join(kept).replace(" ", "\u00a0"), colour
        column += len(letters)


def _classes(colour: str) -> str:
    return " ".join(f"c{number}" for number in colour.split(";"))


if __name__ == "__main__":
    main()
