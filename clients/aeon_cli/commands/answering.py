"""`answer`: what a run asks a person."""

import sys
from typing import TYPE_CHECKING

import click

from aeon_cli.completing import complete_answer, complete_run
from aeon_cli.connecting import connect, json_option, print_json, waiting_run_named

if TYPE_CHECKING:
    from aeon_cli.exits import Exit
    from aeond_client.client import Client
    from aeond_client.runs import Run


@click.command()
@click.argument("run_id", metavar="RUN", shell_complete=complete_run)
@click.argument("words", nargs=-1, metavar="[QUESTION] [ANSWER]", shell_complete=complete_answer)
@json_option
@click.pass_context
def answer(context: click.Context, /, run_id: str, words: tuple[str, ...], as_json: bool) -> int:
    """Answer what a run asks.

    RUN is a run's id, or last for the newest one or the run below it that asks. With one word that is the
    answer to its only open question; with two the first is the question's id. Without an answer the open questions are asked at
    the terminal; with --json they are printed, one a line. An option is chosen by its words or its number; where something else than text is
    wanted, the answer is JSON; "" is the default, if there is one. The first answer counts.

    \b
    aeonctl answer last yes
    aeonctl answer last s2.1 "the blue one"
    """  # noqa: D301 - click's mark for lines that stay as they are
    from aeon_cli.exits import Exit
    from aeon_cli.questions import value_of
    from aeond_client.errors import WrongStateError
    from aeond_client.runs import RunState

    if len(words) > 2:
        raise click.UsageError("An answer is one word: put quotes around it.")
    with connect(context) as client:
        run = client.get_run(waiting_run_named(client, run_id, RunState.AWAITING_INPUT))
        named = [question for question in run.questions if words[:-1] in ((), (question.question_id,))]
        if len(words) == 1 and not run.questions:
            raise WrongStateError(f"Run {run.run_id} asks nothing.", reason="QUESTION_NOT_OPEN")
        if not words and as_json:
            for question in run.questions:
                print_json(question)
            return Exit.WAITING if run.questions else Exit.ANSWERED
        if not words:
            return _ask_all(client, run)
        if len(named) > 1:
            names = ", ".join(question.question_id for question in named)
            raise click.UsageError(f"The run asks several things: name one of {names}.")
        if not named:
            raise WrongStateError(
                f"Run {run.run_id} does not ask {words[0]!r} (any more).", reason="QUESTION_NOT_OPEN"
            )
        run = client.answer_run(run.run_id, value_of(named[0], words[-1]), named[0].question_id)
    if as_json:
        print_json(run)
    else:
        print(f"Answered. The run is {run.state.replace('_', ' ')}.")
    return Exit.ANSWERED


def _ask_all(client: "Client", run: "Run") -> "Exit":
    """Asks each open question at the terminal, or says how to answer where there is none."""
    from aeon_cli.exits import Exit
    from aeon_cli.questions import ask_person, can_ask, lines_to_answer
    from aeond_client.following import PATIENCE_SECONDS

    if not run.questions:
        print("The run asks nothing.", file=sys.stderr)
        return Exit.ANSWERED
    for question in run.questions:
        if not can_ask():
            print("\n".join(lines_to_answer(run.run_id, question)), file=sys.stderr)
        elif not ask_person(client, run.run_id, question, PATIENCE_SECONDS):
            return Exit.WAITING
    return Exit.ANSWERED if can_ask() else Exit.WAITING
