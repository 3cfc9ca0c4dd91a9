"""Names that the shell offers while a command is typed: asked of the daemon, quickly and quietly."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from aeond_client.client import Client

_MOST = 50


def _offer(
    context: click.Context,
    incomplete: str,
    names: Callable[["Client"], Iterable[tuple[str, str]]],
) -> list[CompletionItem]:
    """What the daemon knows that begins so; nothing when it does not answer: a shell must not stall."""
    from aeon_cli.connecting import connect
    from aeon_cli.printable import fit, one_line
    from aeond_client.errors import AeondError

    try:
        with connect(context, at_once=True) as client:
            found = list(names(client))
    except AeondError:
        return []
    return [
        CompletionItem(name, help=fit(one_line(about), 60))
        for name, about in found
        if name.startswith(incomplete)
    ]


def complete_run(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    def names(client: "Client") -> Iterable[tuple[str, str]]:
        yield "last", "the newest run"
        for run in client.list_runs(limit=_MOST):
            yield run.run_id, run.text

    return _offer(context, incomplete, names)


def complete_session(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    def names(client: "Client") -> Iterable[tuple[str, str]]:
        yield "last", "the session that changed last"
        for session in client.list_sessions(limit=_MOST):
            yield session.session_id, session.title

    return _offer(context, incomplete, names)


def complete_tool(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    return _offer(
        context, incomplete, lambda client: ((tool.name, tool.description) for tool in client.list_tools())
    )


def complete_model(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    return _offer(
        context,
        incomplete,
        lambda client: ((model.name, model.description) for model in client.list_models()),
    )


def complete_key(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    return _offer(
        context,
        incomplete,
        lambda client: ((key, "") for key, _ in client.search_memory(incomplete, limit=_MOST)),
    )
