"""`runs`, `show`, `cancel`, `decide`, `delete`: commands for existing runs."""

import sys

import click

from aeon_cli.completion import complete_run, complete_session, complete_step_unknown, run_argument
from aeon_cli.connection import (
    connect,
    print_json,
    print_outcome,
    run_named,
    session_named,
    waiting_run_named,
)
from aeon_cli.exits import Exit
from aeon_cli.options import json_option, limit_option
from aeon_cli.text.tables import print_table
from aeon_cli.text.timestamps import how_long_ago
from aeond_client.errors import NotFoundError, WrongStateError

_MOST_BELOW = 100
_STATES = ["pending", "running", "awaiting_input", "suspended", "succeeded", "failed", "cancelled", "expired"]


@click.command()
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice(_STATES),
    metavar="STATE",
    help=f"Only runs in this state: {', '.join(_STATES)}.",
)
@click.option(
    "--session",
    "session_id",
    default="",
    metavar="ID",
    shell_complete=complete_session,
    help="Only runs of this session; last for the most recently changed one.",
)
@click.option(
    "--parent",
    "parent",
    default="",
    metavar="RUN",
    shell_complete=complete_run,
    help="Only runs started by this run.",
)
@limit_option(20)
@json_option
@click.pass_context
def runs(
    context: click.Context,
    /,
    states: tuple[str, ...],
    session_id: str,
    parent: str,
    limit: int,
    as_json: bool,
) -> None:
    """List runs, newest first. With --json, one per line.

    An arrow marks the request of a run that another run started.
    """
    from aeon_cli.text import symbols
    from aeon_cli.text.terminals import look_at
    from aeond_client.records.runs import RunState

    with connect(context) as client:
        found = client.list_runs(
            states=[RunState(state) for state in states],
            session_id=session_named(client, session_id),
            parent_run_id=run_named(client, parent) if parent else "",
            limit=limit,
        )
    if as_json:
        print_json(*found)
        return
    unicode = look_at(sys.stdout).unicode
    below = "↳ " if unicode else "-> "
    print_table(
        ("RUN", "STATE", "WHEN", "REQUEST"),
        [
            (
                run.run_id,
                f"{symbols.OF_RUN[run.state].shown(unicode=unicode)} {run.state.replace('_', ' ')}",
                how_long_ago(run.created_time),
                f"{below if run.parent_run_id else ''}{run.text}",
            )
            for run in found
        ],
        nothing="No run matches.",
    )


@click.command()
@run_argument
@click.option("--events", is_flag=True, help="Include all events so far.")
@json_option
@click.pass_context
def show(context: click.Context, /, run_id: str, events: bool, as_json: bool) -> None:
    """Show a run: its request, its steps and its answer.

    Each step is shown with its output. RUN is a run id, or `last` for the newest run. With --json the run is
    printed as one object; with --events --json, one event per line.
    """
    from aeon_cli.runs.details import events_so_far, print_events, print_run

    with connect(context) as client:
        run = client.get_run(run_named(client, run_id))
        so_far = events_so_far(client, run) if events else ()
        below = client.list_runs(parent_run_id=run.run_id, limit=_MOST_BELOW)
    if as_json and events:
        print_json(*so_far)
    elif as_json:
        print_json(run)
    else:
        print_run(run, below)
        print_events(so_far)


@click.command()
@run_argument
@click.option("--reason", default="", metavar="TEXT", help="Reason, kept in the record.")
@json_option
@click.pass_context
def cancel(context: click.Context, /, run_id: str, reason: str, as_json: bool) -> None:
    """Cancel a run. A running tool with side effects is allowed to finish."""
    with connect(context) as client:
        run = client.cancel_run(run_named(client, run_id), reason)
    words = f"The run has already ended: {run.state}." if run.state.ended else "Cancelling the run."
    print_outcome(run, words, as_json=as_json)


@click.command()
@run_argument
@click.argument("resolution", type=click.Choice(["retry", "done", "abort"]))
@click.option(
    "--step",
    "step_id",
    default="",
    metavar="ID",
    shell_complete=complete_step_unknown,
    help="Step to decide; required if several are unknown.",
)
@json_option
@click.pass_context
def decide(context: click.Context, /, run_id: str, resolution: str, step_id: str, as_json: bool) -> None:
    """Decide how to continue after a crash interrupted a step or run.

    `retry` runs the step again, `done` marks it as succeeded, `abort` marks it as failed. For a run that was
    suspended after crashes or because its workspace changed, `retry` resumes it and `abort` ends it.
    """
    from aeond_client.records.runs import Resolution, RunState, StepState

    with connect(context) as client:
        run_id = waiting_run_named(client, run_id, RunState.SUSPENDED)
        if not step_id:
            unknown = [
                step.step_id for step in client.get_run(run_id).steps if step.state is StepState.UNKNOWN
            ]
            if len(unknown) > 1:
                raise click.UsageError(
                    f"Several steps are in state unknown; choose one with --step: {', '.join(unknown)}."
                )
            step_id = unknown[0] if unknown else ""
        run = client.decide_run(run_id, Resolution(resolution), step_id)
    subject = f" for step {step_id}" if step_id else ""
    words = f"Decided: {resolution}{subject}. The run is {run.state.replace('_', ' ')}."
    print_outcome(run, words, as_json=as_json)


@click.command()
@click.argument("run_ids", metavar="RUN...", nargs=-1, required=True, shell_complete=complete_run)
@click.pass_context
def delete(context: click.Context, /, run_ids: tuple[str, ...]) -> int:
    """Delete ended runs with their events and the runs that they started.

    Files that a run wrote in a workspace of yours remain; a private workspace goes with its run. A run of a session can
    be deleted once the session is deleted. RUN is a run id, or `last` for the newest run. A run that cannot be deleted is
    reported, the others are deleted, and the exit code is 1.

    \b
    aeonctl delete last
    """  # noqa: D301 - click's mark for lines that stay as they are
    from aeon_cli.text.wrapping import print_flowing

    code = Exit.ANSWERED
    with connect(context) as client:
        # Resolve all names first: after a deletion, `last` means another run.
        for run_id in dict.fromkeys([run_named(client, name) for name in run_ids]):
            try:
                client.delete_run(run_id)
            except (NotFoundError, WrongStateError) as error:
                print_flowing(f"aeonctl: {error.message}", sys.stderr)
                code = Exit.FAILED
            else:
                print(f"Deleted {run_id}.", file=sys.stderr)
    return code


COMMANDS = {30: runs, 40: show, 50: cancel, 70: decide, 97: delete}
