"""`ask` and `watch`: the commands that follow a run."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from aeon_cli.completion import complete_model, run_argument, seq_option
from aeon_cli.connection import connect, print_outcome, run_named, session_named
from aeon_cli.options import json_option, patience_option, session_option, tools_workspace_option

if TYPE_CHECKING:
    from aeond_client.client import Client

_quiet = click.option("--quiet", "-q", is_flag=True, help="Print only the answer and errors, no progress.")
_stay = click.option("--stay", is_flag=True, help="Keep watching while the run waits for a person.")


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
    help="Run this plan (JSON or TOML; - for stdin).",
)
@tools_workspace_option
@click.option("--detach", is_flag=True, help="Print the run id and exit; the run continues.")
@json_option
@_quiet
@_stay
@patience_option
@click.option(
    "--cancel-on-interrupt", is_flag=True, help="Ctrl-C cancels the run instead of detaching from it."
)
@session_option("Session that the run belongs to: an id, or last. Default: $AEOND_SESSION, else none.")
@click.option("--model", default="", metavar="NAME", shell_complete=complete_model, help="Use this model.")
@click.option(
    "--unattended",
    is_flag=True,
    help="Suspend the run as soon as a call needs approval; no question is asked.",
)
@click.option(
    "--tool",
    "tools",
    multiple=True,
    metavar="PATTERN",
    help="Use only the tools whose names match, with * and ?; may be given several times.",
)
@click.option(
    "--tool-profile",
    default="",
    metavar="NAME",
    help="Use the tools of this profile in the daemon's configuration.",
)
@click.option("--new-session", is_flag=True, help="Start a new session with this run.")
@click.option(
    "--parallel",
    "parallel_steps",
    type=click.IntRange(0, 16),
    default=0,
    metavar="N",
    help="Number of steps that may run at the same time.",
)
@_bound("--max-steps", "ttl", "step executions")
@_bound("--max-llm-calls", "llm_calls", "model calls")
@_bound("--max-tokens", "tokens", "tokens")
@_bound("--max-tool-calls", "tool_calls", "tool calls")
@_bound("--max-passes", "passes", "passes over the plan")
@click.option(
    "--max-seconds",
    "wall_seconds",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Maximum working time.",
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
    unattended: bool,
    tools: tuple[str, ...],
    tool_profile: str,
    parallel_steps: int,
    **bounds: Any,
) -> int:
    """Send a request and follow its run.

    The words form the request; `-` stands for standard input, and so does an empty command line. The answer
    goes to standard output, everything else to standard error. Ctrl-C detaches; the run continues.

    \b
    aeonctl ask What is 17.5% of 2400?
    git diff | aeonctl ask Summarise this change: -
    answer=$(aeonctl ask -q Which file here is the largest?)
    aeonctl ask --plan plan.toml
    aeonctl ask --session last And how much is half of that?
    """  # noqa: D301 - click's mark for lines that stay as they are
    from dataclasses import replace

    from aeon_cli.plans import read_plan
    from aeond_client.calls.run_calls import RunOptions
    from aeond_client.records.runs import Budget

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
        unattended=unattended,
        tools=tools,
        tool_profile=tool_profile,
    )
    named = context.get_parameter_source("session_id") is click.core.ParameterSource.COMMANDLINE
    if new_session and named and session_id:
        raise click.UsageError("A run belongs to one session: give either --session or --new-session.")
    with connect(context) as client:
        session_id = begun_session(client) if new_session else session_named(client, session_id)
        run = client.create_run(request, replace(options, session_id=session_id))
        if detach:
            print_outcome(run, run.run_id, as_json=as_json)
            return 0
        from aeon_cli.runs.following import Showing, follow

        how = Showing(
            patience_seconds,
            as_json=as_json,
            quiet=quiet,
            stay=stay,
            cancel_on_interrupt=cancel_on_interrupt,
        )
        return follow(client, run.run_id, how)


@click.command()
@run_argument
@seq_option("--after", "after_seq", 0, "Show events after this number.")
@click.option("--children", is_flag=True, help="Also show the runs that this run started.")
@json_option
@_quiet
@_stay
@patience_option
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
    """Follow a run: first its past events, then new ones.

    RUN is a run id, or `last` for the newest run. The command ends when the run ends or needs a person.
    Restarts of the daemon do not interrupt it. Ctrl-C detaches; the run continues.
    """
    from aeon_cli.runs.following import Showing, follow

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


def begun_session(client: "Client") -> str:
    """Creates a session and prints its id on standard error, out of the way of the answer."""
    session_id = client.create_session().session_id
    print(f"Session {session_id}: continue it with --session last", file=sys.stderr)
    return session_id


def _request_of(words: tuple[str, ...], *, needed: bool) -> str:
    """Joins the words of the command line, replacing `-` with standard input."""
    from aeon_cli.standard_input import read_text

    if not words and needed:
        if sys.stdin.isatty():
            raise click.UsageError("The request is missing: give it as words or on standard input.")
        words = ("-",)
    request = " ".join(read_text("The request") if word == "-" else word for word in words).strip()
    if needed and not request:
        raise click.UsageError("The request is empty.")
    return request


COMMANDS = {10: ask, 20: watch}
