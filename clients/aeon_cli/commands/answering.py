"""`answer`: answers the questions of a run."""

import sys
from typing import TYPE_CHECKING

import click

from aeon_cli.completion import complete_answer, run_argument
from aeon_cli.connection import connect, json_option, print_json, waiting_run_named

if TYPE_CHECKING:
    from aeon_cli.exits import Exit
    from aeond_client.client import Client
    from aeond_client.runs import Run


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
    from aeon_cli.exits import Exit
    from aeon_cli.runs.questions import value_of
    from aeond_client.errors import WrongStateError
    from aeond_client.runs import RunState

    if len(words) > 2:
        raise click.UsageError("Too many words: put quotes around an answer of several words.")
    with connect(context) as client:
        run = client.get_run(waiting_run_named(client, run_id, RunState.AWAITING_INPUT))
        named = [question for question in run.questions if words[:-1] in ((), (question.question_id,))]
        if len(words) == 1 and not run.questions:
            raise WrongStateError(f"Run {run.run_id} has no open question.", reason="QUESTION_NOT_OPEN")
        if not words and as_json:
            for question in run.questions:
                print_json(question)
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
    if as_json:
        print_json(run)
    else:
        print(f"Answered. The run is {run.state.replace('_', ' ')}.")
    return Exit.ANSWERED


def _ask_all(client: "Client", run: "Run") -> "Exit":
    """Asks each open question at the terminal; without a terminal, prints the command that answers it."""
    from aeon_cli.exits import Exit
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


COMMANDS = {60: answer}
