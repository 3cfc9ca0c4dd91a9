"""Starts vLLM's own server, and sees to it that nothing of it is left when it ends, however it ends.

The engine's environment knows nothing of aeond: this file is a program of that environment's Python, and
imports nothing but the standard library and, in the server's process, vLLM.

Three kinds of processes run it. The guard is what the daemon starts; it leads a session of its own, starts
the server in it, tells its progress, and ends the whole session with the server, with the daemon, or when
its standard input closes. The server is vLLM's. Its engine core and workers load this file once more, for
that is how Python starts them, and ask to die with who started them: a killed server leaves them alive else.
"""

import argparse
import contextlib
import ctypes
import http.client
import importlib.metadata
import importlib.util
import io
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

PR_SET_PDEATHSIG = 1  # from <linux/prctl.h>
LOOK_SECONDS = 0.1
MOMENT_SECONDS = 0.01
ANSWER_SECONDS = 5.0
TRACKER_SECONDS = 2.0  # less than the daemon gives the guard to end
ON_CPU = "VLLM_CPU_OMP_THREADS_BIND"  # is set where there is no GPU
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  # looked through for what this engine left there
MAX_ERROR = 600  # characters


def die_with_parent(parent: int, number: int = signal.SIGKILL) -> None:
    """Has the kernel send this process a signal when its parent dies; leaves if that is gone already."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, number, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) was refused")
    if os.getppid() != parent:
        os._exit(0)


def stand_back() -> None:
    """Where memory runs out the engine goes before the daemon, and it leaves no core file of gigabytes."""
    Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.umask(0o077)


# ---------------------------------------------------------------------- the server


def answer_for_vllm() -> None:
    """The package for CPUs is called vllm-cpu; the server asks for the version of one called vllm."""
    asked = importlib.metadata.version

    def version(distribution_name: str) -> str:
        try:
            return asked(distribution_name)
        except importlib.metadata.PackageNotFoundError:
            if distribution_name != "vllm":
                raise
            return asked("vllm-cpu") + "+cpu"

    importlib.metadata.version = version


def rewind_on_a_cpu() -> None:
    """Gives CPU generators the offset that vLLM needs in order to rewind them.

    vLLM takes back a token that it drew before a prompt was read to its end, by the offset of the request's generator;
    a CPU generator has none, and the core dies of the call. No token that was kept can have been drawn by then, so setting
    the offset restarts the generator from its seed; only a request that was preempted for lack of room and is read
    again repeats its random numbers."""
    import torch

    class Generator(torch.Generator):  # type: ignore[misc]  # known only in the engine's environment
        def get_offset(self) -> int:
            return 0

        def set_offset(self, _offset: int) -> None:
            self.manual_seed(self.initial_seed())

    torch.Generator = Generator


def offer(name: str) -> None:
    """Has vLLM find the module of that name that lies beside this file, and nothing else that does."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def serve(arguments: list[str]) -> None:
    """Becomes `vllm` with these arguments."""
    answer_for_vllm()
    from vllm.entrypoints.cli.main import main as vllm_main

    sys.argv = ["vllm", *arguments]
    sys.exit(vllm_main())


# ---------------------------------------------------------------------- what the server logs


# What a line of the log shows, what to call it, and how far it is; a percentage in the line is the better guess.
STAGES = (
    (re.compile(r"Resolved architecture"), "starting", 0.3),
    (re.compile(r"Initializing a V1 LLM engine"), "starting", 0.7),
    (re.compile(r"Starting to load model"), "loading", 0.0),
    (re.compile(r"Loading \w+ checkpoint shards: +(\d+)%"), "loading", 0.0),
    (re.compile(r"Loading weights took"), "loading", 1.0),
    (re.compile(r"GPU KV cache size|Warming up|Capturing CUDA graphs?"), "warming", 0.3),
    (re.compile(r"init engine .* took"), "warming", 0.8),
    (re.compile(r"Downloading .*?(\d+)%"), "downloading", 0.0),
)
MEMORY = re.compile(
    r"out of memory|OutOfMemory|MemoryError|can't allocate memory|Cannot allocate memory"
    r"|[Nn]o available memory for the cache|KV cache is needed|less than desired (GPU|CPU)? ?memory"
    r"|exceeds? the available memory|larger than the available KV cache"
)
ROOM = (
    "Make room: lower vllm.kv_cache_gib, model.context_tokens or model.parallel_requests, choose a smaller model, on "
    "a GPU set vllm.gpu_memory_utilization to the share that is free, or vllm.tensor_parallel to use more of them."
)
RAISED = re.compile(r"(?:^|\s)((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit))(?:: (.*))?$")
KILLED_CORE = re.compile(r"Failed core proc\(s\): \{.*: -9")
ARGUMENT = re.compile(r"error: (.*)$")


def stage_of(line: str) -> tuple[str, float] | None:
    """What the server is doing by this line of its log, and how far it is, 0..1."""
    for pattern, activity, done in STAGES:
        found = pattern.search(line)
        if found:
            return activity, int(found[1]) / 100 if pattern.groups else done
    return None


def cause_in(lines: list[str]) -> dict[str, str]:
    """Why the server did not start, from its log, as it is reported; nothing when it was killed."""
    memory = [line for line in lines if MEMORY.search(line)]
    if memory:
        return {"error": f"{plain(memory[0])} {ROOM}", "reason": "ENGINE_OUT_OF_MEMORY"}
    if any(KILLED_CORE.search(line) for line in lines):
        return {}
    raised = [line for line in lines if RAISED.search(line)] or [
        line for line in lines if ARGUMENT.search(line)
    ]
    return {"error": plain(raised[0] if raised else lines[-1] if lines else "it said nothing")}


def plain(line: str) -> str:
    """A line of the log without the names of process, file and level."""
    return re.sub(r"^(\(.*?\) )?([A-Z]+ [\d-]+ [\d:]+ \[.*?\] )?", "", line).strip()[:MAX_ERROR]


# ---------------------------------------------------------------------- the guard


class Guard:
    """Keeps one server, from its start to the end of the last of its processes."""

    def __init__(self, listening: Path, temporary: Path, arguments: list[str]) -> None:
        self._listening = listening
        self._temporary = temporary
        self._arguments = arguments
        self._log: deque[str] = deque(maxlen=200)
        self._segments: dict[Path, int] = {}
        self._ready = threading.Event()
        self._ending = threading.Lock()

    @property
    def _noted(self) -> Path:
        return self._temporary / "shared-memory"

    def run(self) -> None:
        """Never returns."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda _number, _frame: self._end(0))
        self._clear()
        self._temporary.mkdir(mode=0o700)
        server = subprocess.Popen(
            [sys.executable, "-P", __file__, "--parent", str(os.getpid()), "--", *self._arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for watch in (self._watch_daemon, self._wait_ready, lambda: self._read(server)):
            threading.Thread(target=watch, daemon=True).start()
        code = server.wait()
        if code > 0 and not self._ready.is_set():
            with contextlib.suppress(OSError):
                report(cause_in(list(self._log)))
        self._end(code if code >= 0 else 128 - code)
        threading.Event().wait()  # another thread is ending all of it, and leaves when it has

    def _watch_daemon(self) -> None:
        sys.stdin.buffer.read()  # returns when the daemon closes its end
        self._end(0)

    def _read(self, server: "subprocess.Popen[bytes]") -> None:
        """Hands the log on, and tells what it shows as long as the server starts."""
        assert isinstance(server.stdout, io.BufferedReader)
        for line in lines_of(server.stdout.read1):
            os.write(2, f"{line}\n".encode())
            self._log.append(line)
            if not self._ready.is_set():
                self._remember()
                stage = stage_of(line)
                if stage is not None:
                    report({"activity": stage[0], "progress": stage[1]})

    def _wait_ready(self) -> None:
        report({"activity": "starting", "progress": 0.0})
        while not answers(self._listening):
            self._ready.wait(LOOK_SECONDS)
        self._remember()
        self._ready.set()
        report({"ready": True})

    def _remember(self) -> None:
        """Notes the shared memory of all processes of the session: the dead cannot be asked any more."""
        known = len(self._segments)
        numbers = set[int]().union(*map(shared_by, session()))
        self._segments.update((path, number) for path, number in shared_memory() if number in numbers)
        if len(self._segments) > known:
            # For the next guard, should this one be killed.
            lines = (f"{number} {path.name}" for path, number in list(self._segments.items()))
            with contextlib.suppress(OSError):
                self._noted.write_text("\n".join(lines), encoding="utf-8")

    def _end(self, code: int) -> None:
        """Kills everything but itself, removes what was left behind, and leaves."""
        if not self._ending.acquire(blocking=False):
            return
        self._remember()
        # Python's own tracker knows all shared memory by name, and removes it when it is the last one left.
        end_all(lambda process: not is_tracker(process))
        end_all(is_tracker, patience_seconds=TRACKER_SECONDS)
        self._clear()
        os._exit(code)

    def _clear(self) -> None:
        """Removes the socket, temporary files and shared memory."""
        self._listening.unlink(missing_ok=True)
        with contextlib.suppress(OSError, ValueError):
            for line in self._noted.read_text(encoding="utf-8").splitlines():
                noted, _, name = line.partition(" ")
                self._segments[SHARED_MEMORY / Path(name).name] = int(noted)
        shutil.rmtree(self._temporary, ignore_errors=True)
        for path, number in shared_memory():
            # A name may be another's by now; a number is never given again.
            if self._segments.get(path) == number:
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)


def report(what: Mapping[str, object]) -> None:
    """Tells the daemon, in one write, for threads share the descriptor."""
    os.write(1, json.dumps(what).encode() + b"\n")


def lines_of(read: Callable[[int], bytes]) -> Iterator[str]:
    """Lines of the log; a progress bar's ends with a carriage return. Over-long ones are cut."""
    rest = b""
    while piece := read(1 << 16):
        *complete, rest = re.split(rb"[\r\n]", rest + piece)
        rest = rest[: 1 << 16]
        yield from (line.decode(errors="replace") for line in complete if line.strip())
    if rest.strip():
        yield rest.decode(errors="replace")


def answers(listening: Path) -> bool:
    """Whether the server says that it is well."""
    connection = http.client.HTTPConnection("engine", timeout=ANSWER_SECONDS)
    try:
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(ANSWER_SECONDS)
        connection.sock.connect(str(listening))
        connection.request("GET", "/health")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def session() -> Iterator[int]:
    """The processes of this process's session."""
    ours = os.getsid(0)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if os.getsid(int(entry.name)) == ours:
                    yield int(entry.name)


def end_all(which: Callable[[int], bool], patience_seconds: float = 0.0) -> None:
    """Returns when none of these is left of the session but this process; kills them when patience ends."""
    rounds = 0
    while left := [one for one in session() if one != os.getpid() and not is_dead(one) and which(one)]:
        for process in left:
            if rounds * MOMENT_SECONDS >= patience_seconds:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        threading.Event().wait(MOMENT_SECONDS)
        rounds += 1


def is_tracker(process: int) -> bool:
    """Whether it is the process with which Python keeps track of what is shared."""
    with contextlib.suppress(OSError):
        return b"multiprocessing.resource_tracker" in Path(f"/proc/{process}/cmdline").read_bytes()
    return False


def is_dead(process: int) -> bool:
    """Whether nothing is left of it but a name that its parent has not asked for."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in "ZX"


def shared_memory() -> Iterator[tuple[Path, int]]:
    """All shared memory of this machine that has a name, each with its number."""
    for path in SHARED_MEMORY.glob("*"):
        with contextlib.suppress(OSError):
            yield path, path.stat().st_ino


def shared_by(process: int) -> set[int]:
    """The numbers of the shared memory that a process has mapped. Not the names: who makes a semaphore maps it under
    a name that it loses at once, and says of it "deleted" as long as it lives."""
    with contextlib.suppress(OSError):
        maps = Path(f"/proc/{process}/maps").read_text(encoding="utf-8", errors="replace")
        return {int(line.split()[4]) for line in maps.splitlines() if f" {SHARED_MEMORY}/" in line}
    return set()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parent", type=int, required=True, help="pid of who starts this")
    parser.add_argument("--guard", type=Path, metavar="SOCKET", help="guard a server that listens there")
    parser.add_argument("--temporary", type=Path, help="folder for temporary files, made and removed here")
    parser.add_argument("arguments", nargs="*", help="the arguments of vllm, after --")
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    if options.guard is None:
        die_with_parent(options.parent)
        serve(options.arguments)
        return
    stand_back()
    guard = Guard(options.guard, options.temporary, options.arguments)
    # On the daemon's death this process gets SIGTERM and not SIGKILL: it still has to clean up.
    die_with_parent(options.parent, signal.SIGTERM)
    guard.run()


if __name__ == "__mp_main__":  # an engine core or a worker
    die_with_parent(os.getppid())
    answer_for_vllm()
    if ON_CPU in os.environ:
        rewind_on_a_cpu()
        offer("pacing")
if __name__ == "__main__":
    main()
