"""`fork` and `replay`: what can be made of what a run did."""

import sys
from typing import TYPE_CHECKING

import click

from aeon_cli.completing import complete_model, complete_run, complete_step_begun
from aeon_cli.connecting import connect, json_option, print_json, run_named

if TYPE_CHECKING:
    from aeond_client.client import Client


@click.command()
@click.argument("run_id", metavar="RUN", shell_complete=complete_run)
@click.option(
    "--after",
    "after_seq",
    type=click.IntRange(min=1),
    default=1,
    metavar="SEQ",
    help="The last event that both share; without it and --step only the request is shared.",
)
@click.option(
    "--step",
    "step_id",
    default="",
    metavar="ID",
    shell_complete=complete_step_begun,
    help="Fork where this step first began.",
)
@click.option(
    "--plan",
    "plan_file",
    type=click.Path(),
    metavar="FILE",
    help="Another plan from there on (see ask --plan).",
)
@click.option(
    "--model",
    default="",
    metavar="NAME",
    shell_complete=complete_model,
    help="Another model from there on.",
)
@click.option("--detach", is_flag=True, help="Print the fork's id and leave it alone.")
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
    """Do a run differently from some point on, as a run of its own.

    The run itself stays as it is. What was in flight at that point is begun again; a step with effects
    that may have been cut waits for a decision. In a session a fork knows what was said before the run's
    request, and is not written into it. RUN is a run's id, or last for the newest one.

    A fork is allowed what new runs are: its workspace is the run's and has to be allowed still, or a new,
    empty one where the run had one of the daemon's own. Its bounds are the run's, what was used by then
    included: who needs more asks anew.

    \b
    aeonctl fork last --step s2
    aeonctl fork last --plan better.toml
    """  # noqa: D301 - click's mark for lines that stay as they are
    from aeon_cli.plans import read_plan
    from aeon_cli.watching import Showing, follow
    from aeond_client.following import PATIENCE_SECONDS
    from aeond_client.run_calls import ForkOptions

    placed = context.get_parameter_source("after_seq") is click.core.ParameterSource.COMMANDLINE
    if step_id and placed:
        raise click.UsageError("A fork has one place: give --after or --step.")
    with connect(context) as client:
        run_id = run_named(client, run_id)
        if step_id:
            after_seq = _before_step(client, run_id, step_id)
        options = ForkOptions(plan=read_plan(plan_file) if plan_file else None, model=model)
        forked = client.fork_run(run_id, after_seq, options)
        if detach:
            if as_json:
                print_json(forked)
            else:
                print(forked.run_id)
            return 0
        return follow(client, forked.run_id, Showing(PATIENCE_SECONDS, as_json=as_json))


@click.command()
@click.argument("run_id", metavar="RUN", shell_complete=complete_run)
@click.option(
    "--until", "until_seq", type=click.IntRange(min=0), default=0, metavar="SEQ", help="Up to this event."
)
@json_option
@click.pass_context
def replay(context: click.Context, /, run_id: str, until_seq: int, as_json: bool) -> None:
    """Run a run again from its record, with neither model nor tools.

    Every decision is taken anew and compared with the record; nothing is touched. Fails with exit code 1
    at the first event that comes out otherwise. RUN is a run's id, or last for the newest one.
    """
    from aeon_cli.showing import event_line
    from aeon_cli.titles import counted

    with connect(context) as client:
        count = 0
        for event in client.replay_run(run_named(client, run_id), until_seq):
            count += 1
            if as_json:
                print_json(event)
            else:
                print(event_line(event))
    print(f"{counted(count, 'event')} came out as recorded.", file=sys.stderr)


def _before_step(client: "Client", run_id: str, step_id: str) -> int:
    """The last event before the step first began."""
    from aeon_cli.showing import events_so_far
    from aeond_client.events import StepStarted

    for event in events_so_far(client, client.get_run(run_id)):
        if isinstance(event.kind, StepStarted) and event.kind.step.step_id == step_id:
            return event.seq - 1
    raise click.UsageError(f"Run {run_id} has begun no step {step_id}.")
