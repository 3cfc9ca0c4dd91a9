"""The guard's reading of vLLM's log and the end of its processes, without vLLM."""

import importlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import psutil
import pytest

from aeond.capabilities.llm.vllm import launcher
from aeond.capabilities.llm.vllm.launcher import cause_in, offer, plain, stage_of

pytestmark = pytest.mark.slow

# Replaces vLLM's package: a server that has a child, shared memory of both kinds, and answers or fails on request.
FAKE = """
import os, socket, subprocess, sys, time
from multiprocessing import get_context, shared_memory

def main():
    how, path = sys.argv[1], sys.argv[2]
    if how == "fails":
        print("(EngineCore pid=7) ERROR 11-22 05:13:17 [core.py:1] ValueError: 0.5 GiB KV cache is needed", flush=True)
        return 1
    segment = shared_memory.SharedMemory(create=True, size=64)
    lock = get_context("spawn").Lock()
    semaphore = "sem." + lock._semlock.name.lstrip("/")
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print("Loading safetensors checkpoint shards:  50% Completed", flush=True)
    print("shared", segment.name, semaphore, flush=True)
    time.sleep(0.5)  # a server that takes a moment
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    while True:
        connection, _ = listener.accept()
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 200 OK\\r\\ncontent-length: 0\\r\\n\\r\\n")
        connection.close()
"""


class Launched:
    """A guard over a server that only looks like vLLM."""

    def __init__(self, folder: Path, how: str) -> None:
        package = folder / "fake" / "vllm" / "entrypoints" / "cli"
        package.mkdir(parents=True, exist_ok=True)
        (package / "main.py").write_text(FAKE)
        self.socket = folder / "engine.sock"
        self.temporary = folder / "t"
        command = [
            *(sys.executable, "-P", launcher.__file__, "--parent", str(os.getpid())),
            *("--guard", str(self.socket), "--temporary", str(self.temporary), "--", how, str(self.socket)),
        ]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PYTHONPATH": str(folder / "fake"), "PATH": os.environ["PATH"]},
            start_new_session=True,
            text=True,
        )

    def reports(self) -> list[dict[str, object]]:
        """The output until the launcher is ready or has ended."""
        assert self.process.stdout is not None
        said: list[dict[str, object]] = []
        for line in self.process.stdout:
            said.append(json.loads(line))
            if "ready" in said[-1]:
                break
        return said

    def shared(self) -> list[Path]:
        """Its shared memory: a segment and a semaphore."""
        assert self.process.stderr is not None
        line = next(line for line in self.process.stderr if line.startswith("shared"))
        return [Path("/dev/shm") / name for name in line.split()[1:]]

    def others(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def assert_nothing_is_left(self, shared: list[Path], others: list[psutil.Process]) -> None:
        _, alive = psutil.wait_procs(others, timeout=30)
        assert [one for one in alive if one.status() != psutil.STATUS_ZOMBIE] == []
        assert not any(path.exists() for path in shared)
        assert not self.socket.exists()
        assert not self.temporary.exists()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()


@pytest.mark.parametrize("end", ["input closes", "asked to", "server dies"])
def test_nothing_is_left_however_it_ends(tmp_path: Path, end: str) -> None:
    """When the daemon is gone, ends it or the server dies, no process, socket, file or shared memory stays."""
    launched = Launched(tmp_path, "serves")
    try:
        said = launched.reports()
        assert said[0] == {"activity": "starting", "progress": 0.0}
        assert {"activity": "loading", "progress": 0.5} in said
        assert said[-1] == {"ready": True}
        shared, others = launched.shared(), launched.others()
        assert all(path.exists() for path in shared)
        assert len(others) >= 2
        if end == "input closes":
            assert launched.process.stdin is not None
            launched.process.stdin.close()
        elif end == "asked to":
            launched.process.terminate()
        else:
            others[0].send_signal(signal.SIGKILL)
        code = launched.process.wait(30)
        assert code == (128 + signal.SIGKILL if end == "server dies" else 0)
        launched.assert_nothing_is_left(shared, others)
    finally:
        launched.close()


def test_shared_memory_of_a_killed_guard_is_removed(tmp_path: Path) -> None:
    """The next start after a SIGKILL of everything removes the shared memory of the dead processes, but not another's
    segment that has taken one of their names."""
    first = Launched(tmp_path, "serves")
    try:
        first.reports()
        segment, semaphore = first.shared()
        os.killpg(first.process.pid, signal.SIGKILL)
        first.process.wait(30)
        assert segment.exists()
        assert semaphore.exists()
        segment.unlink()
        segment.write_bytes(b"another's")
        second = Launched(tmp_path, "serves")
        try:
            second.reports()
            assert not semaphore.exists()
            assert segment.read_bytes() == b"another's"
            segment.unlink()
            second.process.terminate()
            assert second.process.wait(30) == 0
        finally:
            second.close()
    finally:
        first.close()


def test_a_server_that_fails_says_why(tmp_path: Path) -> None:
    """A server that ends before it is ready is reported with its cause and what to change."""
    launched = Launched(tmp_path, "fails")
    try:
        last = launched.reports()[-1]
        assert last["reason"] == "ENGINE_OUT_OF_MEMORY"
        assert str(last["error"]).startswith(
            "ValueError: 0.5 GiB KV cache is needed Make room: lower vllm.kv_cache_gib"
        )
        assert launched.process.wait(30) == 1
    finally:
        launched.close()


@pytest.mark.parametrize(
    ("line", "stage"),
    [
        (
            "(APIServer pid=1) INFO 11-22 05:06:06 [model.py:733] Resolved architecture: Llama",
            ("starting", 0.3),
        ),
        ("Loading safetensors checkpoint shards:  25% Completed | 1/4", ("loading", 0.25)),
        ("INFO [default_loader.py] Loading weights took 0.34 seconds", ("loading", 1.0)),
        ("INFO [kv_cache_utils.py:1] GPU KV cache size: 23,296 tokens", ("warming", 0.3)),
        (
            "INFO [core.py:1] init engine (profile, create kv cache, warmup model) took 2.3 s",
            ("warming", 0.8),
        ),
        ("something else", None),
    ],
)
def test_the_log_tells_how_far_it_is(line: str, stage: tuple[str, float] | None) -> None:
    """Lines that mark a stage of the start are understood, all others passed over."""
    assert stage_of(line) == stage


@pytest.mark.parametrize(
    ("lines", "reason", "words"),
    [
        (
            ["torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB"],
            "ENGINE_OUT_OF_MEMORY",
            "CUDA out",
        ),
        (
            ["(EngineCore pid=1) ERROR x", "ValueError: no such model type"],
            "",
            "ValueError: no such model type",
        ),
        (["vllm serve: error: unrecognized arguments: --frobnicate"], "", "--frobnicate"),
        ([], "", "it said nothing"),
    ],
)
def test_a_cause_is_found_in_the_log(lines: list[str], reason: str, words: str) -> None:
    """A lack of memory comes with advice, and the error that was raised or refused is quoted."""
    cause = cause_in(lines)
    assert words in cause["error"]
    assert cause.get("reason", "") == reason


def test_a_core_that_was_killed_is_a_death_and_no_cause() -> None:
    """Who was killed while it loaded is not blamed on the model."""
    assert (
        cause_in(["RuntimeError: Engine core initialization failed. Failed core proc(s): {'EngineCore': -9}"])
        == {}
    )


def test_names_of_processes_and_files_are_left_out() -> None:
    """A quoted line has what was said and not who logged it."""
    assert (
        plain("(EngineCore pid=7) ERROR 11-22 05:13:17 [core.py:1] ValueError: so it is")
        == "ValueError: so it is"
    )


def test_vllm_finds_what_it_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module beside the launcher is found by its name, though its folder is none that modules are looked for in."""
    monkeypatch.setitem(sys.modules, "pacing", ModuleType("nothing"))  # and put back afterwards
    offer("pacing")
    assert importlib.import_module("pacing").Pace(0.06, 64).tokens <= 64
    assert str(Path(launcher.__file__).parent) not in sys.path
