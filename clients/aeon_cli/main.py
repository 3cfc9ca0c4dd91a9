"""Entry point of `aeonctl`: the command group and the translation of errors to exit codes."""

import os
import signal
import sys
import threading
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import click

from aeon_cli import commands
from aeon_cli.exits import MEANINGS, Exit
from aeon_cli.options import InOrder
from aeon_cli.text.printable import printable
from aeond_client import errors

_HOW_TO_START = """\
Start one:
  aeond serve                     in another terminal
  systemctl --user start aeond    if it is installed as a user service
  sudo systemctl start aeond      if it is installed as a system service
If it listens elsewhere, give its socket with --socket or AEOND_SOCKET."""


def _exit_codes() -> str:
    lines = [f"{code.value:>3}  {meaning}" for code, meaning in MEANINGS.items()]
    return "\b\nExit codes:\n" + "\n".join(lines)


class _PipeClosedError(Exception):
    """The reader of our output closed the pipe. Not an OSError, which click maps to its own exit code."""


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
        from aeon_cli.release import installed_version

        print(f"aeonctl {installed_version()}")
        context.exit()


@click.group(
    cls=_Aeonctl,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_exit_codes(),
)
@click.option(
    "--socket",
    metavar="PATH",
    help="Socket of the daemon. Default: $AEOND_SOCKET, then your own daemon's, then the system's.",
)
@click.option(
    "--admin",
    is_flag=True,
    help="Use the daemon's administrative socket, as root or the daemon's user: shows what belongs to all users.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def cli(socket: str | None, admin: bool) -> None:
    """Send requests to aeond, follow its work and inspect the results."""


def _add_commands() -> None:
    """Adds the COMMANDS of every module of `commands`, which are numbered by their place in the help."""
    modules = iter_modules(commands.__path__, f"{commands.__name__}.")
    found = [item for module in modules for item in import_module(module.name).COMMANDS.items()]
    for _, command in sorted(found, key=lambda item: item[0]):
        cli.add_command(command)


_add_commands()


def main(arguments: list[str] | None = None) -> int:
    """Runs a command and returns its exit code; prints errors in plain language."""
    _make_streams_forgiving()
    _exit_on_sigterm()
    try:
        result = cli.main(arguments, prog_name="aeonctl", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return Exit.USAGE
    except (click.Abort, KeyboardInterrupt):
        print("\nInterrupted. Started work continues: aeonctl runs", file=sys.stderr)
        return Exit.INTERRUPTED
    except _PipeClosedError:
        _forget_output()
        return Exit.PIPE_CLOSED
    except errors.AeondError as error:
        return _explain(error)
    except UnicodeEncodeError as error:  # a name exactly as typed, which may hold any bytes
        words = f"{error.object[:60]!a} is not valid UTF-8 at character {error.start + 1}."
        return _explain(errors.InvalidInputError(words, reason="NOT_UTF_8"))
    return int(result or 0)


def _explain(error: errors.AeondError) -> int:
    from aeon_cli.text.wrapping import print_flowing

    print_flowing(f"aeonctl: {error.message}", sys.stderr)
    if error.field and error.field != "socket":
        print(f"  field: {printable(error.field)} ({printable(error.reason)})", file=sys.stderr)
    if error.error_id:
        print(
            f"  for details, search the daemon's log for error id {printable(error.error_id)}",
            file=sys.stderr,
        )
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
    """Prints characters that the locale cannot encode as escapes instead of raising."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _exit_on_sigterm() -> None:
    """Turns SIGTERM into an exception, so that the terminal gets its cursor back."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _end)


def _end(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


def _forget_output() -> None:
    """Discards buffered output, so that a closed pipe causes no error at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
