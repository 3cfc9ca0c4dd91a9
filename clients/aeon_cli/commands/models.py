"""`models`: which there are, which one is resident, and whether it rests."""

import sys
import time
from typing import TYPE_CHECKING

import click

from aeon_cli.completing import complete_model
from aeon_cli.connecting import connect, json_option, print_json
from aeon_cli.grouping import InOrder

if TYPE_CHECKING:
    from aeon_cli.exits import Exit
    from aeond_client.client import Client
    from aeond_client.models import Engine, EngineMetrics, ModelInfo

_POLL_SECONDS = 0.3


@click.group(cls=InOrder)
def models() -> None:
    """The models that this daemon knows, and the one that is loaded."""


@models.command("list")
@json_option
@click.pass_context
def list_models(context: click.Context, /, as_json: bool) -> None:
    """List the models of the catalogue. With --json one a line."""
    from aeon_cli.tables import print_table
    from aeon_cli.titles import size_in_words

    with connect(context) as client:
        found = client.list_models()
        engine = client.get_status().engine
    if as_json:
        for model in found:
            print_json(model)
        return
    print_table(
        ("MODEL", "STATE", "SIZE", "LICENCE", "WHAT IT IS"),
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
@click.option("--wait", is_flag=True, help="Wait until it is ready, showing how far it is.")
@json_option
@click.pass_context
def load(context: click.Context, /, name: str, wait: bool, as_json: bool) -> int:
    """Load the model NAME, or the default one.

    A model that is not on this machine is fetched first.
    """
    with connect(context) as client:
        return _begun(client, client.load_model(name), wait=wait, as_json=as_json)


@models.command("unload")
@json_option
@click.pass_context
def unload(context: click.Context, /, as_json: bool) -> None:
    """Unload the model and give all of its memory back.

    Requests at work have 20 seconds to end. The next request loads it again.
    """
    with connect(context) as client:
        _tell(client.unload_model(), as_json=as_json)


@models.command("sleep")
@json_option
@click.pass_context
def sleep(context: click.Context, /, as_json: bool) -> None:
    """Put the model to sleep: its memory is free, and it wakes faster than it loads.

    Where an engine frees no memory by sleeping it is unloaded, and cold. The next request wakes it.
    """
    with connect(context) as client:
        _tell(client.sleep_model(), as_json=as_json)


@models.command("wake")
@click.option("--wait", is_flag=True, help="Wait until it is ready, showing how far it is.")
@json_option
@click.pass_context
def wake(context: click.Context, /, wait: bool, as_json: bool) -> int:
    """Wake the model before somebody asks it, whether it sleeps or is unloaded."""
    with connect(context) as client:
        return _begun(client, client.wake_model(), wait=wait, as_json=as_json)


def _begun(client: "Client", engine: "Engine", *, wait: bool, as_json: bool) -> "Exit":
    """Tells of an engine that was told to start; fails when it will not."""
    from aeon_cli.exits import Exit

    if wait:
        engine = _wait_for(client, engine)
    _tell(engine, as_json=as_json)
    return Exit.ANSWERED if engine.state in {"starting", "ready"} else Exit.FAILED


def _tell(engine: "Engine", *, as_json: bool) -> None:
    if as_json:
        print_json(engine)
    else:
        print(engine_in_words(engine))


def _place_of(model: "ModelInfo", engine: "Engine") -> str:
    """Where a model is, or what its engine does with it."""
    if model.name == engine.model and engine.state in {"starting", "asleep", "dead"}:
        return engine.state
    return "loaded" if model.loaded else "here" if model.present else "not here"


_IN_WORDS = {
    "cold": "cold: the next request loads a model",
    "asleep": "asleep: the next request wakes it",
}


def engine_in_words(engine: "Engine") -> str:
    """The engine's state on one line, and what it means where that is not plain."""
    from aeon_cli.printable import one_line

    words = one_line(f"{engine.model} {_IN_WORDS.get(engine.state, engine.state)}".strip())
    if engine.activity:
        words += f": {one_line(engine.activity)}" + (f" {engine.progress:.0%}" if engine.progress else "")
    return f"{words}: {one_line(engine.error)}" if engine.error else words


def metrics_in_words(metrics: "EngineMetrics | None") -> list[str]:
    """What is measured of an engine, on two lines; nothing where nothing is."""
    from aeon_cli.titles import duration_in_words

    if metrics is None or not metrics.prompt_tokens:
        return []
    work = [f"{metrics.running_requests} at work, {metrics.waiting_requests} waiting"]
    if metrics.tokens_per_second:
        work.append(f"{metrics.tokens_per_second:.0f} tokens/s")
        work.append(f"first after {duration_in_words(metrics.first_token_seconds)}")
    if metrics.cache_fraction:
        work.append(f"cache {metrics.cache_fraction:.0%} full")
    cached = metrics.cached_tokens / metrics.prompt_tokens
    tokens = f"{metrics.prompt_tokens} tokens of prompts, {cached:.0%} from before"
    return [", ".join(work), f"{tokens}; {metrics.completion_tokens} written"]


def _wait_for(client: "Client", engine: "Engine") -> "Engine":
    """The engine once it starts no more: ready, dead, or unloaded by somebody else. Each new thing that it does
    meanwhile is said on standard error."""
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
