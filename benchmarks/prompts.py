"""The share of a run's prompts served from the prefix cache: the real daemon, a real model, the engine's own
counts."""

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from aeond_client import Client, NoAnswerError
from aeond_client.records.models import EngineMetrics
from benchmarks.daemon import running_daemon
from benchmarks.page import Section, verdict
from benchmarks.rates import wait_until_idle
from benchmarks.real_engines import NAMES, is_installed, not_installed

MODEL: Final = """
[model]
engine = "ENGINE"
name = "smollm2-135m-instruct"
context_tokens = 4096
"""
REQUESTS: Final = (
    "What is 17.5% of 2400?",
    "Write a note about the tide into tide.txt, then read it back.",
    "List the files here and say which one is the longest.",
    "Remember that the boat is called Petrel, then tell me its name.",
)


def measure(_folder: Path) -> Section:
    """Several runs of several calls each; the warm-up before them is not counted."""
    rows = [
        _measured(engine, name) if is_installed(engine) else not_installed(engine, 6)
        for engine, name in NAMES.items()
    ]
    return Section(
        "Prompts and the prefix cache",
        f"{len(REQUESTS)} runs, one after another, in the real daemon with SmolLM2-135M, after warm-up."
        " `prompt tokens` counts every token of every prompt, `cached` those found in the engine's"
        " cache, and `read` those that the engine computed by its own metrics page. All calls of a run"
        " count, including the first.",
        ("engine", "prompt tokens", "cached", "read, by the engine's count", "share", "aim"),
        tuple(rows),
    )


def _measured(engine: str, name: str) -> tuple[str, ...]:
    with tempfile.TemporaryDirectory(prefix="aeond-") as own:  # a short path, because it contains sockets
        model = MODEL.replace("ENGINE", engine)
        with running_daemon(Path(own), model=model) as daemon, Client(str(daemon.socket)) as client:
            before = _read_ahead(client)
            for request in REQUESTS:
                with suppress(NoAnswerError):  # a model as small as this one may ask a person, or fail
                    client.run(request)
            after = client.get_status().engine.metrics
    if after is None:
        message = f"{name} reports no metrics"
        raise RuntimeError(message)
    asked = after.prompt_tokens - before.prompt_tokens
    cached = after.cached_tokens - before.cached_tokens
    read = after.read_tokens - before.read_tokens
    share = cached / asked if asked else 0.0
    return name, str(asked), str(cached), str(read), f"{share:.1%}", verdict(share, at_least=0.8)


def _read_ahead(client: Client) -> EngineMetrics:
    """The metrics once the engine is ready and idle."""
    wait_until_idle(client)
    metrics = client.get_status().engine.metrics
    assert metrics is not None
    return metrics
