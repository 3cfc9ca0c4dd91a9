"""The process in the sandbox, and programs in it that misbehave."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from aeond.capabilities.aider import workbench
from aeond.capabilities.aider.workbench import Order, Workbench
from aeond.capabilities.aider.worktrees import Chosen
from aeond.capabilities.llm.adapters.scripted import Script, ScriptedLLM
from aeond.errors import ToolError
from tests.support.aider import stand_in
from tests.support.bubblewrap import needs_bubblewrap

pytestmark = [needs_bubblewrap, pytest.mark.slow]


def bench(folder: Path, program: str) -> tuple[Workbench, Order]:
    """A workbench whose Aider is this shell script."""
    environment = stand_in(folder / "environment")
    (environment / "bin/python").write_text(f"#!/bin/sh\n{program}\n", encoding="utf-8")
    copy = folder / "copy"
    copy.mkdir()
    (copy / "a.py").write_text("1\n", encoding="utf-8")
    return Workbench(environment, [], None, 1 << 30), Order(copy, "task", Chosen(("a.py",)), (), 300.0)


LLM = ScriptedLLM(Script())


async def test_the_outcome_and_its_files_are_returned(tmp_path: Path) -> None:
    """The exit code, the output and the changed files are reported; files of tools are not."""
    one, order = bench(
        tmp_path,
        "echo said; echo 2 > a.py; touch b.py .aider.x; mkdir __pycache__; touch __pycache__/c; exit 3",
    )
    shown: list[str] = []
    done, said = await one.work(order, LLM, shown.append)
    assert (done.aider.exit_code, done.aider.output, done.changed) == (3, "said\n", ["a.py", "b.py"])
    assert not done.ready
    assert ("".join(shown), said.refusals, done.before) == ("said\n", [], None)


NUMBER = 'echo >> "$HOME/attempts"; n=$(wc -l < "$HOME/attempts")'
"""A line that counts the attempts in a shell script: HOME outlasts them."""


async def test_attempts_go_on_until_the_test_succeeds(tmp_path: Path) -> None:
    """Each attempt begins with the files as they were, and the first one after which the test succeeds is the last."""
    one, order = bench(tmp_path, f'{NUMBER}; cat a.py >> "$HOME/seen"; echo $n > a.py; cp "$HOME/seen" seen')
    done, _ = await one.work(replace(order, test=("grep", "-q", "3", "a.py")), LLM, lambda _text: None)
    assert done.before is not None
    assert done.after is not None
    assert (done.before.exit_code, done.after.exit_code) == (1, 0)
    assert (order.folder / "seen").read_text("utf-8") == "1\n" * 3


async def test_the_best_attempt_is_the_outcome(tmp_path: Path) -> None:
    """A test that never succeeds ends the attempts after so many, and of the attempts the one with the fewest flaws is left in the files."""
    one, order = bench(tmp_path, f'{NUMBER}; [ $n = 2 ] && echo "def kept(): $n" > a.py || echo $n > a.py')
    (order.folder / "a.py").write_text("def kept(): 1\n", encoding="utf-8")
    done, _ = await one.work(replace(order, test=("false",)), LLM, lambda _text: None)
    assert done.after is not None
    assert (done.after.exit_code, done.changed, done.lost, done.ready) == (1, ["a.py"], [], False)
    assert (order.folder / "a.py").read_text("utf-8") == "def kept(): 2\n"


async def test_an_attempt_that_changed_nothing_is_insisted_upon(tmp_path: Path) -> None:
    """After an attempt without a change the message asks for the whole files."""
    one, order = bench(
        tmp_path, f'{NUMBER}; cp "$HOME/aeond.message" message; [ $n = 1 ] && rm message || echo 2 > a.py'
    )
    done, _ = await one.work(order, LLM, lambda _text: None)
    assert done.changed == ["a.py", "message"]
    assert "whole new content" in (order.folder / "message").read_text("utf-8")


@pytest.mark.parametrize(
    ("test", "why"),
    [
        (("sh", "-c", "echo line; echo No module named here; exit 1"), "No module named here"),
        (("sh", "-c", "echo Ran 0 tests"), "Ran 0 tests"),
        (("sh", "-c", "exit 127"), "exit code 127"),
    ],
)
async def test_a_found_test_that_says_nothing_is_left_out(
    tmp_path: Path, test: tuple[str, ...], why: str
) -> None:
    """A test that was found by names, and cannot run here or tests nothing, is not run again, and the reason is reported; one that was given counts, and
    one whose missing module the task names."""
    one, order = bench(tmp_path, "echo 2 > a.py")
    done, _ = await one.work(replace(order, test=test, test_found=True), LLM, lambda _text: None)
    assert (done.before, done.after, done.ready, done.unusable) == (None, None, True, why)
    (tmp_path / "given").mkdir()
    one, order = bench(tmp_path / "given", "echo 2 > a.py")
    done, _ = await one.work(replace(order, test=test), LLM, lambda _text: None)
    assert done.before is not None
    (tmp_path / "asked").mkdir()
    one, order = bench(tmp_path / "asked", "echo 2 > a.py")
    script = ("sh", "-c", "echo No module named \\'fees\\'; grep -q 2 a.py")
    order = replace(order, task="Write fees.py", test=script, test_found=True)
    done, _ = await one.work(order, LLM, lambda _text: None)
    assert done.before is not None


async def test_what_nobody_asked_to_lose_is_another_attempt(tmp_path: Path) -> None:
    """An attempt that leaves out a function of any file is not the last; if all do, the outcome names what is lost, but for what the task has."""
    one, order = bench(tmp_path, f"{NUMBER}; [ $n = 1 ] && echo 'x = 1' > b.py || echo 2 > a.py")
    (order.folder / "b.py").write_text("def kept(): 1\n", encoding="utf-8")
    done, _ = await one.work(order, LLM, lambda _text: None)
    assert (done.lost, done.changed, done.ready) == ([], ["a.py"], True)
    (tmp_path / "other").mkdir()
    one, order = bench(tmp_path / "other", "echo '# a new type system' > a.py")
    (order.folder / "a.py").write_text(
        "def kept(): 1\ndef gone(): 2\n# the class of these\n", encoding="utf-8"
    )
    done, _ = await one.work(replace(order, task="Remove gone"), LLM, lambda _text: None)
    assert (done.lost, done.ready) == (["kept"], False)


@pytest.mark.parametrize(
    ("ending", "limits"), [("exit 3", {}), ("exec sleep 600", {"seconds": 1.0}), ("kill -9 $$", {})]
)
async def test_an_attempt_that_is_cut_off_is_not_ready(
    tmp_path: Path, ending: str, limits: dict[str, float]
) -> None:
    """What Aider has changed when it fails, is killed or has used up its time is not ready."""
    one, order = bench(tmp_path, f"echo 2 > a.py; touch .git/index.lock; {ending}")
    done, _ = await one.work(replace(order, **limits), LLM, lambda _text: None)  # type: ignore[arg-type]
    assert (done.changed, done.ready) == (["a.py"], False)


async def test_files_to_read_are_not_changed(tmp_path: Path) -> None:
    """Changes of files that are only to be read are taken back, as are those of all tests if they fail, files of Aider's own examples, and files
    with a sentence for a name."""
    names = "a.py b.md test_a.py deep/test_b.py show_greeting.py 'Call it so'"
    one, order = bench(tmp_path, f'for f in {names}; do echo 2 > "$f"; done')
    (order.folder / "deep").mkdir()
    for name in ("b.md", "test_a.py", "deep/test_b.py"):
        (order.folder / name).write_text("1\n", encoding="utf-8")
    chosen = Chosen(("a.py",), ("b.md",), ("test_a.py",))
    order = replace(order, chosen=chosen, test=("grep", "-q", "2", "a.py"))
    done, _ = await one.work(order, LLM, lambda _text: None)
    assert done.changed == ["a.py"]
    given = replace(order, chosen=Chosen(("test_a.py",)), task="In 'Call it so'")
    for name in ("a.py", "test_a.py"):
        (order.folder / name).write_text("1\n", encoding="utf-8")
    done, _ = await one.work(given, LLM, lambda _text: None)
    assert {"test_a.py", "Call it so"} <= {*done.changed}


async def test_aider_is_stopped_when_its_time_is_up(tmp_path: Path) -> None:
    """An Aider that does not end is killed, and the call ends in order."""
    one, order = bench(tmp_path, "exec sleep 600")
    done, _ = await one.work(replace(order, seconds=0.1), LLM, lambda _text: None)
    assert (done.aider.stopped, done.changed) == (True, [])


async def test_a_cancelled_call_leaves_no_process(tmp_path: Path) -> None:
    """Cancelling returns once all processes are gone."""
    one, order = bench(tmp_path, "echo started; exec sleep 600")
    begun = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one.work, order, LLM, lambda _text: begun.set())
        with anyio.fail_after(30):
            await begun.wait()
        tasks.cancel_scope.cancel()
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert str(tmp_path) not in entry.read_text()
        except OSError:
            continue


async def test_a_broken_process_is_an_error(tmp_path: Path) -> None:
    """A process that ends without its result fails the call with its last words."""
    one, order = bench(tmp_path, "true")
    (order.folder / ".git").write_text("no repository", encoding="utf-8")
    with pytest.raises(ToolError, match="git init failed") as caught:
        await one.work(order, LLM, lambda _text: None)
    assert caught.value.reason == "SANDBOX_ENDED"


async def test_time_that_is_up_ends_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call whose process exceeds even its last limit fails with AIDER_TIMEOUT."""
    monkeypatch.setattr(workbench, "GRACE_SECONDS", -1_000.0)
    one, order = bench(tmp_path, "exec sleep 600")
    with pytest.raises(ToolError, match="did not end") as caught:
        await one.work(order, LLM, lambda _text: None)
    assert caught.value.reason == "AIDER_TIMEOUT"
