"""The entry of `aeonctl`: its commands, and what happens when one cannot do its work."""

import os
import signal
import sys
import threading
from typing import Any

import click

from aeon_cli.commands.answering import answer
from aeon_cli.commands.asking import ask, watch
from aeon_cli.commands.completion import completion
from aeon_cli.commands.daemon import reload, status
from aeon_cli.commands.history import fork, replay
from aeon_cli.commands.memory import memory
from aeon_cli.commands.models import models
from aeon_cli.commands.runs import cancel, decide, runs, show
from aeon_cli.commands.sessions import sessions
from aeon_cli.commands.tools import call, tools
from aeon_cli.exits import MEANINGS, Exit
from aeon_cli.grouping import InOrder
from aeond_client import errors

_HOW_TO_START = """\
Start one:
  aeond serve                     in another terminal
  systemctl --user start aeond    where it is installed as a service of yours
  sudo systemctl start aeond      where it is one of the machine's
Is it elsewhere? Name its socket with --socket or in AEOND_SOCKET."""


def _exit_codes() -> str:
    lines = [f"{code.value:>3}  {meaning}" for code, meaning in MEANINGS.items()]
    return "\b\nExit codes:\n" + "\n".join(lines)


class _PipeClosedError(Exception):
    """The reader of our output went away. Not an OSError, for which click has an exit code of its own."""


class _Aeonctl(InOrder):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError as error:
            raise _PipeClosedError from error
        return result


def _print_version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from importlib.metadata import version

        print(f"aeonctl {version('aeond')}")
        context.exit()


@click.group(
    cls=_Aeonctl,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_exit_codes(),
)
@click.option(
    "--socket",
    metavar="PATH",
    help="The daemon's socket. Without it: AEOND_SOCKET, then yours, then the system's.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and leave.",
)
def cli(socket: str | None) -> None:
    """Ask aeond for something, watch it work, look at what it did."""


for _command in (
    ask,
    watch,
    runs,
    show,
    cancel,
    answer,
    decide,
    fork,
    replay,
    sessions,
    tools,
    call,
    memory,
    models,
    status,
    reload,
    completion,
):
    cli.add_command(_command)


def main(arguments: list[str] | None = None) -> int:
    """Runs a command and returns its exit code; says in plain words what went wrong."""
    _make_streams_forgiving()
    _end_in_order_when_told()
    try:
        result = cli.main(arguments, prog_name="aeonctl", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return Exit.USAGE
    except (click.Abort, KeyboardInterrupt):
        print("\nInterrupted. What was begun goes on: aeonctl runs", file=sys.stderr)
        return Exit.INTERRUPTED
    except _PipeClosedError:
        _forget_output()
        return Exit.PIPE_CLOSED
    except errors.AeondError as error:
        return _explain(error)
    except UnicodeEncodeError as error:  # a name as it was typed, which may be any bytes
        words = f"{error.object[:60]!a} is no UTF-8: see its character {error.start + 1}."
        return _explain(errors.InvalidInputError(words, reason="NOT_UTF_8"))
    return int(result or 0)


def _explain(error: errors.AeondError) -> int:
    from aeon_cli.flowing import print_flowing
    from aeon_cli.printable import printable

    print_flowing(f"aeonctl: {error.message}", sys.stderr)
    if error.field and error.field != "socket":
        print(f"  see: {printable(error.field)} ({printable(error.reason)})", file=sys.stderr)
    if error.error_id:
        print(f"  the daemon's log says more under error id {printable(error.error_id)}", file=sys.stderr)
    match error:
        case errors.NoDaemonError():
            print(_HOW_TO_START, file=sys.stderr)
            return Exit.NO_DAEMON
        case errors.UnavailableError() | errors.TimedOutError():
            return Exit.NO_DAEMON
        case errors.InvalidInputError():
            return Exit.USAGE
        case errors.RefusedError():
            return Exit.REFUSED
        case errors.OverloadedError():
            return Exit.BUSY
        case _:
            return Exit.FAILED


def _make_streams_forgiving() -> None:
    """What the user's encoding lacks is printed as an escape, not as a crash."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _end_in_order_when_told() -> None:
    """SIGTERM ends the program like an exception, so that the terminal gets its cursor back."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _end)


def _end(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


def _forget_output() -> None:
    """The reader has gone: what is still buffered must not complain at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
