"""Programs as the process in the sandbox runs them."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aeond.capabilities.hands.inside import programs
from aeond.capabilities.hands.inside.programs import TOOLS, Kept
from aeond.capabilities.sandbox.live_output import deliver_with
from tests.support.tools import CONTEXT, within


@pytest.fixture
def shown() -> Iterator[list[str]]:
    pieces: list[str] = []
    deliver_with(pieces.append)
    yield pieces
    deliver_with(lambda _text: None)


async def ran(folder: Path, *argvs: list[str], merged: bool = True, seconds: float = 50.0) -> Any:
    arguments: dict[str, Any] = {
        "argvs": list(argvs),
        "seconds": seconds,
        "kept_bytes": 100,
        "environment": {"COLOUR": "blue"},
        "merged": merged,
    }
    return await TOOLS[0].execute(arguments, within(CONTEXT, folder))


def test_beginning_and_end_are_kept() -> None:
    """Of a long output the first and the last bytes are kept, and the gap says how many are missing."""
    kept = Kept(10)
    for piece in (b"abc", b"defgh", b"ijklmnop", b"q"):
        kept.add(piece)
    assert kept.text() == "abcde\n[... 7 bytes left out ...]\nmnopq"


def test_a_short_output_is_kept_whole() -> None:
    """An output within the limit is kept as it is, wherever its characters are divided."""
    kept = Kept(20)
    for byte in "a\u00e9\U0001f366".encode():
        kept.add(bytes([byte]))
    assert kept.text() == "a\u00e9\U0001f366"


async def test_outputs_can_be_apart(tmp_path: Path, shown: list[str]) -> None:
    """Output and error output come apart or together; both are shown while they come."""
    argv = ["sh", "-c", "echo $COLOUR; echo no >&2"]
    (apart,) = await ran(tmp_path, argv, merged=False)
    assert (apart["output"], apart["errors"]) == ("blue\n", "no\n")
    (together,) = await ran(tmp_path, argv)
    assert (together["output"], together["errors"]) == ("blue\nno\n", "")
    assert sorted("".join(shown).split()) == ["blue", "blue", "no", "no"]


async def test_shown_output_is_bounded(
    tmp_path: Path, shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond a bound output is not shown any more, and is kept all the same."""
    monkeypatch.setattr(programs, "MAX_SHOWN_BYTES", 10)
    monkeypatch.setattr(programs, "READ_BYTES", 8)
    (done,) = await ran(tmp_path, ["seq", "40"])
    assert len("".join(shown)) == 16
    assert done["output"].endswith("40\n")


async def test_the_first_failure_ends_the_row(tmp_path: Path) -> None:
    """Programs run one after the other, until one fails; a signal and a missing program are failures."""
    codes = [one["exit_code"] for one in await ran(tmp_path, ["true"], ["false"], ["true"])]
    assert codes == [0, 1]
    assert (await ran(tmp_path, ["sh", "-c", "kill -15 $$"]))[0]["exit_code"] == 143
    (missing,) = await ran(tmp_path, ["/nowhere/program"])
    assert (missing["exit_code"], "No such file" in missing["errors"]) == (127, True)


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The time of a program is up as soon as it has written something."""
    passed = [0.0]
    monkeypatch.setattr(programs, "_now", lambda: time.monotonic() + passed[0])
    deliver_with(lambda _text: passed.__setitem__(0, 1_000.0))
    yield
    deliver_with(lambda _text: None)


@pytest.mark.usefixtures("late")
async def test_a_late_program_can_clean_up(tmp_path: Path) -> None:
    """A program whose time is up is asked to end, and what it does then counts; the ones after it are not run."""
    script = "trap 'echo bye; exit 0' TERM; echo ready; sleep 600 & wait"
    (done,) = await ran(tmp_path, ["sh", "-c", script], ["touch", "next"])
    assert (done["output"], done["exit_code"], done["stopped"]) == ("ready\nbye\n", 0, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("late")
async def test_a_late_program_that_stays_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that ignores the request to end is killed a little later."""
    monkeypatch.setattr(programs, "ENDING_SECONDS", 0.1)
    (done,) = await ran(tmp_path, ["sh", "-c", "trap '' TERM; echo ready; exec sleep 600"])
    assert (done["exit_code"], done["stopped"]) == (137, True)


@pytest.mark.usefixtures("late")
async def test_a_late_program_that_never_stops_writing_is_ended(tmp_path: Path) -> None:
    """A program whose time is up is ended although there is always output to read; its result says that some is missing."""
    (done,) = await ran(tmp_path, ["yes"])
    assert (done["exit_code"], done["stopped"], done["clipped"]) == (143, True, True)


async def test_a_program_ends_although_others_hold_its_output(tmp_path: Path) -> None:
    """The end of the program is the end of the call, even if a process that it left keeps the output open."""
    (done,) = await ran(tmp_path, ["sh", "-c", "sleep 600 & echo $!"])
    os.kill(int(done["output"]), 9)
    assert (done["exit_code"], done["stopped"]) == (0, False)


async def test_a_program_that_closes_its_output_is_awaited(tmp_path: Path) -> None:
    """A program without any output left open is awaited to its end, and its exit code is the result."""
    (done,) = await ran(tmp_path, ["sh", "-c", "exec >&- 2>&-; sleep 0.1; exit 5"])
    assert done["exit_code"] == 5
