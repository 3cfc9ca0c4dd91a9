"""`models`: lists, loads, unloads, suspends and wakes models."""

import sys
import time
from typing import TYPE_CHECKING

import click

from aeon_cli.completion import complete_model
from aeon_cli.connection import connect, print_json, print_outcome
from aeon_cli.exits import Exit
from aeon_cli.options import InOrder, json_option
from aeon_cli.text.printable import one_line
from aeon_cli.text.tables import print_table

if TYPE_CHECKING:
    from aeond_client.client import Client
    from aeond_client.records.models import Engine, EngineMetrics, ModelInfo

_POLL_SECONDS = 0.3


@click.group(cls=InOrder)
def models() -> None:
    """List the known models and manage the loaded one."""


@models.command("list")
@json_option
@click.pass_context
def list_models(context: click.Context, /, as_json: bool) -> None:
    """List the models of the catalogue. With --json, one per line."""
    from aeon_cli.text.titles import size_in_words

    with connect(context) as client:
        found = client.list_models()
        engine = client.get_status().engine
    if as_json:
        print_json(*found)
        return
    print_table(
        ("MODEL", "STATE", "SIZE", "LICENCE", "DESCRIPTION"),
        [
            (
                model.name + (" (default)" if model.default else ""),
                _place_of(model, engine),
                size_in_words(model.size_bytes),
                model.licence,
                model.description,
            )
            for model in found
        ],
    )


@models.command("load")
@click.argument("name", default="", shell_complete=complete_model)
@click.option("--wait", is_flag=True, help="Wait until the model is ready and show progress.")
@json_option
@click.pass_context
def load(context: click.Context, /, name: str, wait: bool, as_json: bool) -> int:
    """Load the model NAME, or the default model.

    The daemon downloads the model first if it is not present.
    """
    with connect(context, administers=True) as client:
        return _begun(client, client.load_model(name), wait=wait, as_json=as_json)


@models.command("unload")
@json_option
@click.pass_context
def unload(context: click.Context, /, as_json: bool) -> None:
    """Unload the model and free all its memory.

    Running requests have 20 seconds to finish. The next request loads the model again.
    """
    with connect(context, administers=True) as client:
        _print_engine(client.unload_model(), as_json=as_json)


@models.command("sleep")
@json_option
@click.pass_context
def sleep(context: click.Context, /, as_json: bool) -> None:
    """Put the model to sleep: frees its memory; waking is faster than loading.

    An engine that cannot free memory by sleeping is unloaded instead. The next request wakes the model.
    """
    with connect(context, administers=True) as client:
        _print_engine(client.sleep_model(), as_json=as_json)


@models.command("wake")
@click.option("--wait", is_flag=True, help="Wait until the model is ready and show progress.")
@json_option
@click.pass_context
def wake(context: click.Context, /, wait: bool, as_json: bool) -> int:
    """Wake or load the model before a request needs it."""
    with connect(context, administers=True) as client:
        return _begun(client, client.wake_model(), wait=wait, as_json=as_json)


def _begun(client: "Client", engine: "Engine", *, wait: bool, as_json: bool) -> Exit:
    """Reports that an engine is starting; fails if it cannot start."""
    if wait:
        engine = _wait_for(client, engine)
    _print_engine(engine, as_json=as_json)
    return Exit.ANSWERED if engine.state in {"starting", "ready"} else Exit.FAILED


def _print_engine(engine: "Engine", *, as_json: bool) -> None:
    print_outcome(engine, engine_in_words(engine), as_json=as_json)


def _place_of(model: "ModelInfo", engine: "Engine") -> str:
    """Where the model is stored, or its state in the engine."""
    if model.name == engine.model and engine.state in {"starting", "asleep", "dead"}:
        return engine.state
    return "loaded" if model.loaded else "here" if model.present else "not downloaded"


_IN_WORDS = {
    "cold": "cold: the next request loads a model",
    "asleep": "asleep: the next request wakes it",
}


def engine_in_words(engine: "Engine") -> str:
    """The state of the engine on one line, with its meaning where the name alone is unclear."""
    words = one_line(f"{engine.model} {_IN_WORDS.get(engine.state, engine.state)}".strip())
    if engine.activity:
        words += f": {one_line(engine.activity)}" + (f" {engine.progress:.0%}" if engine.progress else "")
    return f"{words}: {one_line(engine.error)}" if engine.error else words


def metrics_in_words(metrics: "EngineMetrics | None") -> list[str]:
    """The metrics of an engine on two lines; empty if there are none."""
    from aeon_cli.text.titles import duration_in_words

    if metrics is None or not metrics.prompt_tokens:
        return []
    work = [f"{metrics.running_requests} running, {metrics.waiting_requests} waiting"]
    if metrics.tokens_per_second:
        work.append(f"{metrics.tokens_per_second:.0f} tokens/s")
        work.append(f"first token after {duration_in_words(metrics.first_token_seconds)}")
    if metrics.cache_fraction:
        work.append(f"cache {metrics.cache_fraction:.0%} full")
    cached = metrics.cached_tokens / metrics.prompt_tokens
    tokens = f"{metrics.prompt_tokens} prompt tokens, {cached:.0%} from cache"
    return [", ".join(work), f"{tokens}; {metrics.completion_tokens} generated"]


def _wait_for(client: "Client", engine: "Engine") -> "Engine":
    """Waits until the engine is no longer starting: ready, dead, or unloaded by another client. Prints each
    change of activity on standard error.
    """
    said = ""
    while engine.state == "starting":
        words = engine.activity or engine.state
        if engine.progress:
            words += f" {int(engine.progress * 10) * 10}%"
        if words != said:
            print(words, file=sys.stderr)
            said = words
        time.sleep(_POLL_SECONDS)
        engine = client.get_status().engine
    return engine


COMMANDS = {140: models}
