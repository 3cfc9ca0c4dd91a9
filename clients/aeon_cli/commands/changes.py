"""`changes`: lists what the steps of a run changed."""

import click

from aeon_cli.completion import run_argument
from aeon_cli.connection import connect, json_option, print_json, run_named


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
    from aeon_cli.text.tables import print_table
    from aeon_cli.text.timestamps import when
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


COMMANDS = {45: changes}
