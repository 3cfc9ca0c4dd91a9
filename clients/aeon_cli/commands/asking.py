"""`ask` and `watch`: the commands that show a run while it goes on."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from aeon_cli.completing import complete_model, complete_run, complete_session
from aeon_cli.connecting import connect, json_option, print_json, run_named, session_named

if TYPE_CHECKING:
    from aeond_client.client import Client

_patience = click.option(
    "--patience",
    "patience_seconds",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for a daemon that went away.",
)
_quiet = click.option("--quiet", "-q", is_flag=True, help="Print the answer and errors, no progress.")
_stay = click.option("--stay", is_flag=True, help="Go on watching while the run waits for a person.")


_F = TypeVar("_F", bound=Callable[..., Any])


def _bound(flag: str, name: str, what: str) -> Callable[[_F], _F]:
    return click.option(flag, name, type=click.IntRange(min=0), metavar="N", help=f"At most N {what}.")


@click.command()
@click.argument("text", nargs=-1, metavar="[REQUEST]...")
@click.option(
    "--plan",
    "plan_file",
    type=click.Path(),
    metavar="FILE",
    help="Run this plan (JSON or TOML, - for stdin).",
)
@click.option(
    "--workspace",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    default=".",
    show_default="the current folder",
    help="The folder that file tools work in; '' for one of the daemon's own.",
)
@click.option("--detach", is_flag=True, help="Print the run's id and leave; the run goes on.")
@json_option
@_quiet
@_stay
@_patience
@click.option("--cancel-on-interrupt", is_flag=True, help="Let Ctrl-C cancel the run, not only leave it.")
@click.option(
    "--session",
    "session_id",
    metavar="ID",
    default="",
    envvar="AEOND_SESSION",
    shell_complete=complete_session,
    help="The session that the run belongs to: an id, or last. Without it: AEOND_SESSION, else none.",
)
@click.option(
    "--model", default="", metavar="NAME", shell_complete=complete_model, help="Have this model do it."
)
@click.option("--new-session", is_flag=True, help="Let the run begin a session of its own.")
@click.option(
    "--parallel", "parallel_steps", type=click.IntRange(0, 16), default=0, metavar="N", help="Steps at once."
)
@_bound("--max-steps", "ttl", "step executions")
@_bound("--max-llm-calls", "llm_calls", "calls of the model")
@_bound("--max-tokens", "tokens", "tokens")
@_bound("--max-tool-calls", "tool_calls", "calls of tools")
@_bound("--max-passes", "passes", "rounds over the plan")
@click.option(
    "--max-seconds",
    "wall_seconds",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="At most so long at work.",
)
@click.pass_context
def ask(
    context: click.Context,
    /,
    text: tuple[str, ...],
    plan_file: str | None,
    workspace: str,
    detach: bool,
    as_json: bool,
    quiet: bool,
    stay: bool,
    patience_seconds: float,
    cancel_on_interrupt: bool,
    session_id: str,
    new_session: bool,
    model: str,
    parallel_steps: int,
    **bounds: Any,
) -> int:
    """Ask for something and watch it happen.

    The request is the words given; a word - stands for standard input, as does no word at all. The
    answer goes to standard output, everything else to standard error. Ctrl-C leaves the run, which
    goes on.

    \b
    aeonctl ask What is 17.5% of 2400?
    git diff | aeonctl ask Summarise this change: -
    answer=$(aeonctl ask -q Which file here is the largest?)
    aeonctl ask --plan plan.toml
    aeonctl ask --session last And how much is half of that?
    """  # noqa: D301 - click's mark for lines that stay as they are
    from dataclasses import replace

    from aeon_cli.plans import read_plan
    from aeond_client.run_calls import RunOptions
    from aeond_client.runs import Budget

    if plan_file == "-" and (not text or "-" in text):
        text = tuple(word for word in text if word != "-")
        request = " ".join(text)
    else:
        request = _request_of(text, needed=plan_file is None)
    plan = read_plan(plan_file) if plan_file else None
    request = request or (plan.goal if plan else "") or "Run the given plan."
    options = RunOptions(
        plan=plan,
        budget=Budget(**bounds),
        workspace=str(Path(workspace).absolute()) if workspace else "",
        parallel_steps=parallel_steps,
        model=model,
    )
    named = context.get_parameter_source("session_id") is click.core.ParameterSource.COMMANDLINE
    if new_session and named and session_id:
        raise click.UsageError("A run belongs to one session: give --session or --new-session.")
    with connect(context) as client:
        session_id = _begun_session(client) if new_session else session_named(client, session_id)
        run = client.create_run(request, replace(options, session_id=session_id))
        if detach:
            if as_json:
                print_json(run)
            else:
                print(run.run_id)
            return 0
        from aeon_cli.watching import Showing, follow

        how = Showing(
            patience_seconds,
            as_json=as_json,
            quiet=quiet,
            stay=stay,
            cancel_on_interrupt=cancel_on_interrupt,
        )
        return follow(client, run.run_id, how)


@click.command()
@click.argument("run_id", metavar="RUN", shell_complete=complete_run)
@click.option(
    "--after",
    "after_seq",
    type=click.IntRange(min=0),
    default=0,
    metavar="SEQ",
    help="Events after this one.",
)
@click.option("--children", is_flag=True, help="Also what the runs do that this one started.")
@json_option
@_quiet
@_stay
@_patience
@click.pass_context
def watch(
    context: click.Context,
    /,
    run_id: str,
    after_seq: int,
    children: bool,
    as_json: bool,
    quiet: bool,
    stay: bool,
    patience_seconds: float,
) -> int:
    """Watch a run: what happened so far, then what happens.

    RUN is a run's id, or last for the newest one. Ends with the run, or where it needs a person. Survives restarts of the daemon. Ctrl-C leaves the
    run alone.
    """
    from aeon_cli.watching import Showing, follow

    with connect(context) as client:
        how = Showing(
            patience_seconds,
            after_seq=after_seq,
            children=children,
            as_json=as_json,
            quiet=quiet,
            stay=stay,
        )
        return follow(client, run_named(client, run_id), how)


def _begun_session(client: "Client") -> str:
    """A new session, whose id goes where it is in nobody's way."""
    session_id = client.create_session().session_id
    print(f"Session {session_id}: go on in it with --session last", file=sys.stderr)
    return session_id


def _request_of(words: tuple[str, ...], *, needed: bool) -> str:
    """The request from the words of the command line, with standard input in place of a `-`."""
    from aeon_cli.standard_input import read_text

    if not words and needed:
        if sys.stdin.isatty():
            raise click.UsageError("What is to be done? Give the request as words, or on standard input.")
        words = ("-",)
    request = " ".join(read_text("The request") if word == "-" else word for word in words).strip()
    if needed and not request:
        raise click.UsageError("The request is empty.")
    return request
