"""Shell completion of ids and names, answered by the daemon, and the parameters that use it."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from aeon_cli.connection import connect, run_named, waiting_run_named
from aeon_cli.text.printable import fit, one_line
from aeond_client.errors import AeondError

if TYPE_CHECKING:
    from aeond_client.client import Client
    from aeond_client.records.runs import Step

_MOST = 50
_LARGEST_SEQ = (1 << 63) - 1

Names = Callable[["Client", click.Context, str], Iterable[tuple[str, str]]]
"""The known names, each with a few words about it; the last argument is the text typed so far."""

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _completing(names: Names) -> Completer:
    """Offers the known names that start with the typed text. Empty on any failure: completion must neither
    stall the shell nor print into it.
    """

    @wraps(names)
    def complete(
        context: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        try:
            with connect(context, at_once=True) as client:
                found = list(names(client, context, incomplete))
        except (AeondError, click.UsageError):
            return []
        return [
            CompletionItem(name, help=fit(one_line(about), 60))
            for name, about in found
            if name.startswith(incomplete)
        ]

    return complete


@_completing
def complete_run(client: "Client", _context: click.Context, _typed: str) -> Iterable[tuple[str, str]]:
    yield "last", "the newest run"
    for run in client.list_runs(limit=_MOST):
        yield run.run_id, run.text


complete_step_begun = _completing(
    lambda client, context, _typed: _steps(client, context, lambda step: step.attempt > 0)
)
complete_step_unknown = _completing(
    lambda client, context, _typed: _steps(client, context, lambda step: step.state == "unknown")
)


def _steps(
    client: "Client", context: click.Context, fits: Callable[["Step"], bool]
) -> Iterable[tuple[str, str]]:
    """The steps of the run named earlier on the command line."""
    from aeon_cli.text.titles import title_of

    # While an option has no value yet, click leaves the preceding words among the remaining arguments.
    typed = context.params.get("run_id") or next(iter(context.args), "")
    for step in client.get_run(run_named(client, typed)).steps:
        if fits(step):
            yield step.step_id, title_of(step.plan_step)


@_completing
def complete_answer(client: "Client", context: click.Context, _typed: str) -> Iterable[tuple[str, str]]:
    """Completes question ids of the run; after a question, or if there is only one, completes its options."""
    from aeond_client.records.runs import RunState

    named = context.params.get("words") or ()
    run_id = waiting_run_named(client, context.params["run_id"], RunState.AWAITING_INPUT)
    questions = client.get_run(run_id).questions
    for question in questions:
        if not named:
            yield question.question_id, question.prompt
        if named == (question.question_id,) or (not named and len(questions) == 1):
            yield from ((option, "") for option in question.options)


@_completing
def complete_approval(client: "Client", context: click.Context, _typed: str) -> Iterable[tuple[str, str]]:
    for approval in client.get_run(run_named(client, context.params["run_id"])).approvals:
        yield approval.approval_id, ", ".join(call.tool for call in approval.calls)


@_completing
def complete_session(client: "Client", _context: click.Context, _typed: str) -> Iterable[tuple[str, str]]:
    yield "last", "the session changed last"
    for session in client.list_sessions(limit=_MOST):
        yield session.session_id, session.title


complete_tool = _completing(
    lambda client, _context, _typed: ((tool.name, tool.description) for tool in client.list_tools())
)
complete_model = _completing(
    lambda client, _context, _typed: ((model.name, model.description) for model in client.list_models())
)
complete_key = _completing(
    lambda client, _context, typed: ((key, "") for key, _ in client.search_memory(typed, limit=_MOST))
)


# ---------------------------------------------------------------- parameters of several commands

run_argument = click.argument("run_id", metavar="RUN", shell_complete=complete_run)


class _EventNumber(click.IntRange):
    """A number that the API can carry; the help shows the lower limit only."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if number > _LARGEST_SEQ:
            self.fail(f"{number} is larger than the number of any event.", param, ctx)
        return number


def seq_option(flag: str, name: str, least: int, text: str) -> Callable[[Any], Any]:
    """An option that takes the number of an event."""
    return click.option(flag, name, type=_EventNumber(min=least), default=least, metavar="SEQ", help=text)
