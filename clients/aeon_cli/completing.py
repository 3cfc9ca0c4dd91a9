"""Names that the shell offers while a command is typed: asked of the daemon, quickly and quietly."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from aeond_client.client import Client
    from aeond_client.runs import Step

_MOST = 50


def _offer(
    context: click.Context,
    incomplete: str,
    names: Callable[["Client"], Iterable[tuple[str, str]]],
) -> list[CompletionItem]:
    """What the daemon knows that begins so; nothing when it does not answer, or there is no such thing: a shell must
    neither stall nor be written into."""
    from aeon_cli.connecting import connect
    from aeon_cli.printable import fit, one_line
    from aeond_client.errors import AeondError

    try:
        with connect(context, at_once=True) as client:
            found = list(names(client))
    except (AeondError, click.UsageError):
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


def complete_step_begun(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    return _offer_steps(context, incomplete, lambda step: step.attempt > 0)


def complete_step_unknown(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    return _offer_steps(context, incomplete, lambda step: step.state == "unknown")


def _offer_steps(
    context: click.Context, incomplete: str, fits: Callable[["Step"], bool]
) -> list[CompletionItem]:
    """Steps of the run that was typed before."""

    def names(client: "Client") -> Iterable[tuple[str, str]]:
        from aeon_cli.connecting import run_named
        from aeon_cli.titles import title_of

        # While an option has no value yet, click leaves what was typed before it among the rest.
        typed = context.params.get("run_id") or next(iter(context.args), "")
        for step in client.get_run(run_named(client, typed)).steps:
            if fits(step):
                yield step.step_id, title_of(step.plan_step)

    return _offer(context, incomplete, names)


def complete_answer(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The open questions of the run that was typed before; behind one, and where there is but one, its options."""

    def names(client: "Client") -> Iterable[tuple[str, str]]:
        from aeon_cli.connecting import waiting_run_named
        from aeond_client.runs import RunState

        named = context.params.get("words") or ()
        run_id = waiting_run_named(client, context.params["run_id"], RunState.AWAITING_INPUT)
        questions = client.get_run(run_id).questions
        for question in questions:
            if not named:
                yield question.question_id, question.prompt
            if named == (question.question_id,) or (not named and len(questions) == 1):
                yield from ((option, "") for option in question.options)

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
