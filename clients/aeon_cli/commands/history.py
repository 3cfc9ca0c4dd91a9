"""`why`, `changes`, `fork`, `replay` and `undo`: commands that work on the record of a run."""

import sys
from typing import TYPE_CHECKING

import click

from aeon_cli.completion import complete_model, complete_step_begun, run_argument, seq_option
from aeon_cli.connection import connect, print_json, print_outcome, run_named
from aeon_cli.options import json_option
from aeon_cli.text.printable import printable
from aeon_cli.text.tables import print_table
from aeon_cli.text.timestamps import when

if TYPE_CHECKING:
    from aeond_client.client import Client


@click.command()
@run_argument
@click.argument("step_id", required=False, metavar="[STEP]", shell_complete=complete_step_begun)
@json_option
@click.pass_context
def why(context: click.Context, /, run_id: str, step_id: str | None, as_json: bool) -> None:
    """Explain why a run did what it did.

    Lists the chain from the record: request, route, plan, decisions of the policy with rule and reason, the results
    that each step used, its effects, and the answer, each with the number of its event, and what an unfinished run does
    now or waits for. With STEP, only what led to that step and followed from it. With --json, one link per line. RUN is a run id, or `last` for the newest run.

    \b
    aeonctl why last
    aeonctl why last s2
    """  # noqa: D301 - click's mark for lines that stay as they are
    from aeon_cli.observing.chain import chain_of, chain_of_step, now_of
    from aeon_cli.observing.chain_text import print_chain
    from aeon_cli.runs.details import events_so_far

    with connect(context) as client:
        run = client.get_run(run_named(client, run_id))
        links = [*chain_of(events_so_far(client, run)), *now_of(run)]
    if step_id is not None:
        if not any(link.step_id == step_id for link in links):
            begun = ", ".join(dict.fromkeys(link.step_id for link in links if link.step_id))
            known = f"choose one of {begun}" if begun else "no step has begun"
            raise click.UsageError(f"The run has no record of a step {step_id!r}: {known}.")
        links = chain_of_step(links, step_id)
    if as_json:
        print_json(*links)
    else:
        print_chain(run.run_id, links)


@click.command()
@run_argument
@json_option
@click.pass_context
def changes(context: click.Context, /, run_id: str, as_json: bool) -> None:
    """List the changes that a run has made, in order.

    The changes are those that tools reported, including those of child runs, each with the step that made it.
    With --json, one change per line. RUN is a run id, or `last` for the newest run.
    """
    from aeon_cli.runs.details import events_so_far
    from aeon_cli.text.encoding import plain
    from aeon_cli.text.titles import effect_in_words
    from aeond_client.events import StepEnded

    with connect(context) as client:
        events = events_so_far(client, client.get_run(run_named(client, run_id)))
    made = [
        (event.time, event.kind.step_id, effect)
        for event in events
        if isinstance(event.kind, StepEnded)
        for effect in event.kind.effects
    ]
    if as_json:
        for time, step_id, effect in made:
            print_json({"time": time, "step_id": step_id, **plain(effect)})
    else:
        rows = [(when(time), step_id, effect_in_words(effect)) for time, step_id, effect in made]
        print_table(("TIME", "STEP", "CHANGE"), rows, nothing="No tool reported a change.")


@click.command()
@run_argument
@seq_option(
    "--after", "after_seq", 1, "Last event to copy. Without it and --step, only the request is copied."
)
@click.option(
    "--step",
    "step_id",
    default="",
    metavar="ID",
    shell_complete=complete_step_begun,
    help="Fork just before this step first started.",
)
@click.option(
    "--plan",
    "plan_file",
    type=click.Path(),
    metavar="FILE",
    help="Continue with another plan (see ask --plan).",
)
@click.option(
    "--model",
    default="",
    metavar="NAME",
    shell_complete=complete_model,
    help="Continue with another model.",
)
@click.option("--detach", is_flag=True, help="Print the id of the fork and exit.")
@json_option
@click.pass_context
def fork(
    context: click.Context,
    /,
    run_id: str,
    after_seq: int,
    step_id: str,
    plan_file: str | None,
    model: str,
    detach: bool,
    as_json: bool,
) -> int:
    """Repeat a run from a chosen event as a new run.

    The original run stays unchanged. Steps in flight at that event start again; a step with side effects that
    may have been interrupted waits for a decision. A fork sees the session as it was before the original
    request and is not added to the session. RUN is a run id, or `last` for the newest run.

    A fork obeys the limits for new runs. Its workspace is that of the run, which must still be allowed; if
    the run had a private folder of the daemon's, the fork gets a new, empty one. Its budget is that of the
    run, less what the run had used by that event; to get more, send a new request.

    \b
    aeonctl fork last --step s2
    aeonctl fork last --plan better.toml
    """  # noqa: D301 - click's mark for lines that stay as they are
    from aeon_cli.plans import read_plan
    from aeon_cli.runs.following import Showing, follow
    from aeond_client.calls.run_calls import ForkOptions
    from aeond_client.watching.following import PATIENCE_SECONDS

    placed = context.get_parameter_source("after_seq") is click.core.ParameterSource.COMMANDLINE
    if step_id and placed:
        raise click.UsageError("Conflicting options: give either --after or --step.")
    with connect(context) as client:
        run_id = run_named(client, run_id)
        if step_id:
            after_seq = _before_step(client, run_id, step_id)
        options = ForkOptions(plan=read_plan(plan_file) if plan_file else None, model=model)
        forked = client.fork_run(run_id, after_seq, options)
        if detach:
            print_outcome(forked, forked.run_id, as_json=as_json)
            return 0
        return follow(client, forked.run_id, Showing(PATIENCE_SECONDS, as_json=as_json))


@click.command()
@run_argument
@seq_option("--until", "until_seq", 0, "Replay up to this event.")
@json_option
@click.pass_context
def replay(context: click.Context, /, run_id: str, until_seq: int, as_json: bool) -> None:
    """Replay a run from its record, without model or tools.

    Every decision is re-evaluated and compared with the record; nothing is changed. Exits with 1 at the first
    event that differs. RUN is a run id, or `last` for the newest run.
    """
    from aeon_cli.runs.details import event_line
    from aeon_cli.text.titles import counted

    with connect(context) as client:
        count = 0
        for event in client.replay_run(run_named(client, run_id), until_seq):
            count += 1
            if as_json:
                print_json(event)
            else:
                print(event_line(event))
    print(f"{counted(count, 'event')} replayed: identical to the record.", file=sys.stderr)


@click.command()
@run_argument
@json_option
@click.pass_context
def undo(context: click.Context, /, run_id: str, as_json: bool) -> int:
    """Take back what a run changed: files and remembered facts.

    Contents, permissions, moves and deletions are restored, the latest change first. A file or fact that was
    changed since is left alone, and the exit code is then 1. The run must have ended. RUN is a run id, or
    `last` for the newest run.
    """
    with connect(context) as client:
        report = client.undo_run(run_named(client, run_id))
    if as_json:
        print_json(report)
    else:
        for done in report.undone:
            print(printable(f"{done.target}: {done.outcome}"))
        for refusal in report.refused:
            print(printable(f"{refusal.target}: left alone, {refusal.message}"), file=sys.stderr)
        if not report.undone and not report.refused:
            print("Nothing to undo.", file=sys.stderr)
    return 1 if report.refused else 0


def _before_step(client: "Client", run_id: str, step_id: str) -> int:
    """The last event before the step first started."""
    from aeon_cli.runs.details import events_so_far
    from aeond_client.events import StepStarted

    for event in events_so_far(client, client.get_run(run_id)):
        if isinstance(event.kind, StepStarted) and event.kind.step.step_id == step_id:
            return event.seq - 1
    raise click.UsageError(f"Run {run_id} has not started a step {step_id}.")


COMMANDS = {42: why, 45: changes, 80: fork, 90: replay, 95: undo}
