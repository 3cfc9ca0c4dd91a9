"""`answer` and `approvals`: commands for what runs ask people."""

import sys
from typing import TYPE_CHECKING

import click

from aeon_cli.completion import complete_answer, complete_approval, run_argument
from aeon_cli.connection import connect, print_json, print_outcome, waiting_run_named
from aeon_cli.exits import Exit
from aeon_cli.options import InOrder, json_option
from aeon_cli.text.tables import print_table
from aeon_cli.text.timestamps import how_long_ago
from aeond_client.errors import WrongStateError

if TYPE_CHECKING:
    from aeond_client.client import Client
    from aeond_client.records.judgements import ApprovalRequest
    from aeond_client.records.runs import Run

_MOST_RUNS = 100


@click.command()
@run_argument
@click.argument("words", nargs=-1, metavar="[QUESTION] [ANSWER]", shell_complete=complete_answer)
@json_option
@click.pass_context
def answer(context: click.Context, /, run_id: str, words: tuple[str, ...], as_json: bool) -> int:
    """Answer the questions of a run.

    RUN is a run id, or `last` for the newest run or the run below it that is waiting. With one word, the word
    answers the only open question; with two, the first is the question's id. Without words, the open
    questions are asked at the terminal; with --json they are printed, one per line. Choose an option by its
    text or its number. A question that does not expect text takes JSON. "" selects the default, if there is
    one. Only the first answer to a question counts.

    \b
    aeonctl answer last yes
    aeonctl answer last s2.1 "the blue one"
    """  # noqa: D301 - click's mark for lines that stay as they are
    from aeon_cli.runs.questions import value_of
    from aeond_client.records.runs import RunState

    if len(words) > 2:
        raise click.UsageError("Too many words: put quotes around an answer of several words.")
    with connect(context) as client:
        run = client.get_run(waiting_run_named(client, run_id, RunState.AWAITING_INPUT))
        named = [question for question in run.questions if words[:-1] in ((), (question.question_id,))]
        if len(words) == 1 and not run.questions:
            raise WrongStateError(f"Run {run.run_id} has no open question.", reason="QUESTION_NOT_OPEN")
        if not words and as_json:
            print_json(*run.questions)
            return Exit.WAITING if run.questions else Exit.ANSWERED
        if not words:
            return _ask_all(client, run)
        if len(named) > 1:
            names = ", ".join(question.question_id for question in named)
            raise click.UsageError(f"The run has several open questions; name one of {names}.")
        if not named:
            raise WrongStateError(
                f"Run {run.run_id} has no open question {words[0]!r}.", reason="QUESTION_NOT_OPEN"
            )
        run = client.answer_run(run.run_id, value_of(named[0], words[-1]), named[0].question_id)
    print_outcome(run, f"Answered. The run is {run.state.replace('_', ' ')}.", as_json=as_json)
    return Exit.ANSWERED


def _ask_all(client: "Client", run: "Run") -> Exit:
    """Asks each open question at the terminal; without a terminal, prints the command that answers it."""
    from aeon_cli.runs.questions import ask_person, can_ask, lines_to_answer
    from aeond_client.watching.following import PATIENCE_SECONDS

    if not run.questions:
        print("The run has no open question.", file=sys.stderr)
        return Exit.ANSWERED
    for question in run.questions:
        if not can_ask():
            print("\n".join(lines_to_answer(run.run_id, question)), file=sys.stderr)
        elif not ask_person(client, run.run_id, question, PATIENCE_SECONDS):
            return Exit.WAITING
    return Exit.ANSWERED if can_ask() else Exit.WAITING


@click.group(cls=InOrder)
def approvals() -> None:
    """Allow or deny tool calls that wait for approval.

    A call that the policy does not allow by itself waits until a person decides about exactly that call. The first
    decision counts, also among several clients.
    """


_approval_argument = click.argument(
    "approval_id", metavar="[APPROVAL]", default="", shell_complete=complete_approval
)


@approvals.command("list")
@json_option
@click.pass_context
def list_approvals(context: click.Context, /, as_json: bool) -> None:
    """List what waits for approval, newest run first. With --json, one per line with its run_id."""
    from aeon_cli.text.encoding import plain
    from aeond_client.records.runs import RunState

    with connect(context) as client:
        waiting = client.list_runs(states=[RunState.AWAITING_INPUT, RunState.SUSPENDED], limit=_MOST_RUNS)
        found = [
            (run, one) for line in waiting for run in [client.get_run(line.run_id)] for one in run.approvals
        ]
    if as_json:
        for run, approval in found:
            print_json({"run_id": run.run_id, **plain(approval)})
        return
    rows = [
        (
            run.run_id,
            approval.approval_id,
            how_long_ago(approval.requested_time),
            ", ".join(call.tool for call in approval.calls),
            run.text,
        )
        for run, approval in found
    ]
    print_table(("RUN", "APPROVAL", "WHEN", "CALLS", "REQUEST"), rows, nothing="Nothing waits for approval.")


@approvals.command("show")
@run_argument
@_approval_argument
@json_option
@click.pass_context
def show_approval(context: click.Context, /, run_id: str, approval_id: str, as_json: bool) -> None:
    """Show exactly what the calls would do.

    RUN is a run id, or `last` for the newest run or the run below it that is waiting. APPROVAL is needed if
    several are open.
    """
    from aeon_cli.runs.approvals import lines_to_decide

    with connect(context) as client:
        run, approval = _approval_named(client, run_id, approval_id)
    if as_json:
        print_json(approval)
    else:
        print("\n".join(lines_to_decide(run, approval)))


@approvals.command("allow")
@run_argument
@_approval_argument
@click.option(
    "--scope",
    type=click.Choice(["once", "run", "folder", "host"]),
    default="once",
    show_default=True,
    help="Allow exactly these calls, or more calls of the same tools in this run: any, those in the folders"
    " shown, or those to the hosts shown.",
)
@click.option(
    "--digest", default="", metavar="DIGEST", help="Allow only what has this digest (see show --json)."
)
@json_option
@click.pass_context
def allow(
    context: click.Context, /, run_id: str, approval_id: str, scope: str, digest: str, as_json: bool
) -> None:
    """Allow the calls that were shown; they are carried out at once.

    RUN and APPROVAL are as in `approvals show`.
    """
    _decide(context, run_id, approval_id, approved=True, scope=scope, digest=digest, as_json=as_json)


@approvals.command("deny")
@run_argument
@_approval_argument
@click.option(
    "--digest", default="", metavar="DIGEST", help="Deny only what has this digest (see show --json)."
)
@json_option
@click.pass_context
def deny(context: click.Context, /, run_id: str, approval_id: str, digest: str, as_json: bool) -> None:
    """Deny the calls: their steps fail, and the run goes on without them.

    RUN and APPROVAL are as in `approvals show`.
    """
    _decide(context, run_id, approval_id, approved=False, scope="once", digest=digest, as_json=as_json)


def _decide(
    context: click.Context,
    run_id: str,
    approval_id: str,
    *,
    approved: bool,
    scope: str,
    digest: str,
    as_json: bool,
) -> None:
    with connect(context) as client:
        asking, approval = _approval_named(client, run_id, approval_id)
        run = client.decide_approval(
            asking.run_id, approval.approval_id, digest or approval.digest, approved, scope
        )
    words = f"{'Allowed' if approved else 'Denied'}. The run is {run.state.replace('_', ' ')}."
    print_outcome(run, words, as_json=as_json)


def _approval_named(client: "Client", name: str, approval_id: str) -> "tuple[Run, ApprovalRequest]":
    from aeond_client.records.runs import RunState

    run_id = waiting_run_named(client, name, RunState.AWAITING_INPUT)
    run = client.get_run(run_id)
    if not run.approvals and name == "last":
        run = client.get_run(waiting_run_named(client, name, RunState.SUSPENDED))
    found = [one for one in run.approvals if approval_id in ("", one.approval_id)]
    if len(found) > 1:
        names = ", ".join(one.approval_id for one in found)
        raise click.UsageError(f"The run waits for several approvals; name one of {names}.")
    if not found:
        which = f"approval {approval_id!r}" if approval_id else "approval"
        raise WrongStateError(f"Run {run.run_id} waits for no {which}.", reason="NOTHING_TO_DECIDE")
    return run, found[0]


COMMANDS = {60: answer, 65: approvals}
