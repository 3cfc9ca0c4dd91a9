"""A real Prometheus that scrapes every second, and the answers of its own API; and a real node_exporter."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import httpx
import pytest

DEADLINE_SECONDS = 60.0
LOOK_SECONDS = 0.1
_READY = ('"Listening on"', '"Server is ready')
_PROGRAMS = ("prometheus", "promtool")
_MISSING = ", ".join(name for name in _PROGRAMS if shutil.which(name) is None)

NODE_EXPORTER = "prometheus-node-exporter"
needs_node_exporter = pytest.mark.skipif(
    shutil.which(NODE_EXPORTER) is None, reason=f"missing here: {NODE_EXPORTER}"
)
needs_prometheus = pytest.mark.skipif(bool(_MISSING), reason=f"missing here: {_MISSING}")


class Server:
    """A process that writes this log, and what it serves."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path, http: httpx.Client) -> None:
        self._process = process
        self._log = log
        self._http = http

    @property
    def log(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def get(self, path: str, **parameters: str) -> httpx.Response:
        (address,) = re.findall(r'"Listening on" address=(\S+)', self.log)
        return self._http.get(f"http://{address}{path}", params=parameters)

    def wait_until(self, holds: Callable[[], object]) -> None:
        """Returns once the condition holds; AssertionError if the process ends before or the deadline passes."""
        deadline = monotonic() + DEADLINE_SECONDS
        while not holds():
            with suppress(subprocess.TimeoutExpired):
                raise AssertionError(f"it ended with {self._process.wait(LOOK_SECONDS)}")
            assert monotonic() < deadline, f"not within {DEADLINE_SECONDS} s"


class Prometheus(Server):
    """Prometheus, with the answers of its API."""

    def values(self, query: str) -> list[float]:
        """The value of each series that the query has now."""
        return [float(series["value"][1]) for series in self._asked("query", query=query)["result"]]

    def metrics(self) -> dict[str, tuple[str, str]]:
        """Type and meaning of each metric that was scraped, by its name."""
        return {name: (said["type"], said["help"]) for name, (said, *_) in self._asked("metadata").items()}

    def _asked(self, path: str, **parameters: str) -> Any:
        answer = self.get(f"/api/v1/{path}", **parameters).json()
        assert answer["status"] == "success", (parameters, answer)
        return answer["data"]


AnyServer = TypeVar("AnyServer", bound=Server)


@contextmanager
def prometheus(folder: Path, scrape_configs: str) -> Iterator[Prometheus]:
    """A Prometheus that is ready, with this part of its configuration, on a port that the system chose."""
    config = folder / "prometheus.yml"
    config.write_text(f"global:\n  scrape_interval: 1s\n{scrape_configs}", encoding="utf-8")
    # The level of the log is the one at which a failed scrape is reported.
    options = (f"--config.file={config}", f"--storage.tsdb.path={folder / 'prometheus'}", "--log.level=debug")
    with _served(Prometheus, folder, ("prometheus", *options), _READY) as server:
        yield server


@contextmanager
def node_exporter(folder: Path, textfiles: Path) -> Iterator[Server]:
    """A node_exporter that is ready and collects text files alone, besides its own metrics, on a port that the system chose."""
    collectors = ("--collector.disable-defaults", "--collector.textfile")
    command = (NODE_EXPORTER, *collectors, f"--collector.textfile.directory={textfiles}")
    with _served(Server, folder, command, _READY[:1]) as server:
        yield server


@contextmanager
def _served(
    kind: type[AnyServer], folder: Path, command: tuple[str, ...], ready: tuple[str, ...]
) -> Iterator[AnyServer]:
    log = folder / f"{command[0]}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--web.listen-address=127.0.0.1:0"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    with httpx.Client(timeout=DEADLINE_SECONDS, trust_env=False) as http:
        started = kind(process, log, http)
        try:
            started.wait_until(lambda: all(words in started.log for words in ready))
            yield started
        except BaseException:
            print(started.log)  # noqa: T201 - pytest shows it with the failure
            raise
        finally:
            _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(DEADLINE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(DEADLINE_SECONDS)
