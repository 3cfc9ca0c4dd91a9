"""The program `aeon-popup`. Actions for a running popup are sent without importing Qt."""

import sys
from typing import TYPE_CHECKING

from aeon_popup.toggle import ACTIONS, NoBusError, send_action

if TYPE_CHECKING:
    import argparse

_EPILOG = """Without a hotkey of its own, as on desktops that have neither X11 nor the shortcuts portal, bind a key of your
desktop to:  aeon-popup --toggle"""


def command_line() -> "argparse.ArgumentParser":
    """The arguments of the program."""
    import argparse

    from aeon_popup.hotkey import chord

    parser = argparse.ArgumentParser(
        prog="aeon-popup",
        description="The desktop window of aeond: press the hotkey, type a request, see it done.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    action = parser.add_mutually_exclusive_group()
    for name, help_text in (
        ("toggle", "open or close the window of the running popup, and start one if there is none"),
        ("show", "open the window of the running popup"),
        ("hide", "close the window of the running popup"),
        ("new", "open the window with the prompt of a new session"),
        ("quit", "end the running popup; its runs continue"),
    ):
        action.add_argument(f"--{name}", dest="action", action="store_const", const=name, help=help_text)
    action.add_argument(
        "--install",
        action="store_true",
        help="add the popup to this user's desktop: entry, autostart, activation",
    )
    action.add_argument("--uninstall", action="store_true", help="remove what --install added")
    parser.add_argument("--background", action="store_true", help="start without opening the window")
    parser.add_argument(
        "--hotkey", default=chord.DEFAULT, metavar="KEYS", help="the global hotkey (default: %(default)s)"
    )
    parser.add_argument(
        "--theme", choices=("auto", "dark", "light"), default="auto", help="colours (default: the desktop's)"
    )
    parser.add_argument(
        "--socket", default="", metavar="PATH", help="the daemon's socket (default: as aeonctl)"
    )
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Runs the program and returns its exit code: 0, 1 after an error, 2 for wrong arguments."""
    words = sys.argv[1:] if arguments is None else arguments
    if len(words) == 1 and words[0].startswith("--") and words[0][2:] in ACTIONS:
        return _send(words[0][2:])
    from aeon_popup.hotkey import chord

    parser = command_line()
    options = parser.parse_args(words)
    if options.action:
        return _send(options.action)
    if options.install or options.uninstall:
        return _integrate(remove=options.uninstall)
    try:
        keys = chord.parse(options.hotkey)
    except ValueError as error:
        parser.error(str(error))
    from aeon_popup.footprint import leave_out_openssl

    leave_out_openssl()
    try:
        from aeon_popup.app import Options, run
    except ModuleNotFoundError as error:
        print(f"aeon-popup needs {error.name}: pip install '.[popup]'", file=sys.stderr)
        return 1
    return run(Options(keys, options.socket, options.theme, show=not options.background))


def _integrate(*, remove: bool) -> int:
    from pathlib import Path

    from aeon_popup.integration import install, uninstall

    program = str(Path(sys.argv[0]).absolute())
    try:
        changed = uninstall() if remove else install(program)
    except OSError as error:
        print(f"aeon-popup: {error}", file=sys.stderr)
        return 1
    for path in changed:
        print(f"{'removed' if remove else 'written'}: {path}")
    return 0


def _send(action: str) -> int:
    try:
        send_action(action)
    except NoBusError as error:
        print(f"aeon-popup: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
