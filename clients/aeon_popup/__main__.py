"""The program `aeon-popup`. Actions for a running popup are sent without importing Qt."""

import os
import sys
from typing import TYPE_CHECKING

from aeon_popup.toggle import ACTIONS, NoBusError, send_action

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from aeon_popup.hotkey import chord

_EPILOG = """Without a hotkey of its own, as on desktops that have neither X11 nor the shortcuts portal, bind a key of your
desktop to:  aeon-popup --toggle"""
_THEMES = ("auto", "dark", "light")


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
        help="add the popup to this user's desktop: entry, autostart, activation; they start it with the hotkey, the theme"
        " and the socket that are given here",
    )
    action.add_argument("--uninstall", action="store_true", help="remove what --install added")
    parser.add_argument("--background", action="store_true", help="start without opening the window")
    parser.add_argument(
        "--hotkey",
        metavar="KEYS",
        help=f"the global hotkey, or none (default: that of AEON_POPUP_HOTKEY, or {chord.DEFAULT})",
    )
    parser.add_argument(
        "--theme", choices=_THEMES, help="colours (default: those of AEON_POPUP_THEME, or the desktop's)"
    )
    parser.add_argument("--socket", metavar="PATH", help="the daemon's socket (default: as aeonctl)")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Runs the program and returns its exit code: 0, 1 after an error, 2 for wrong arguments."""
    words = sys.argv[1:] if arguments is None else arguments
    if len(words) == 1 and words[0].startswith("--") and words[0][2:] in ACTIONS:
        return _send(words[0][2:])
    parser = command_line()
    options = parser.parse_args(words)
    if options.action:
        return _send(options.action)
    if options.uninstall:
        return _integrate(None)
    try:
        keys, theme = chosen(options)
        if options.install:
            return _integrate(_given(options))
    except ValueError as error:
        parser.error(str(error))
    from aeon_popup.footprint import leave_out_openssl

    leave_out_openssl()
    try:
        from aeon_popup.app import Options, run
    except ModuleNotFoundError as error:
        print(f"aeon-popup needs {error.name}: pip install '.[popup]'", file=sys.stderr)
        return 1
    return run(Options(keys, options.socket or "", theme, show=not options.background))


def chosen(
    options: "argparse.Namespace", environment: "Mapping[str, str]" = os.environ
) -> "tuple[chord.Chord | None, str]":
    """The hotkey, None if none is wanted, and the theme: given ones, else those of the environment, else the defaults. Raises ValueError."""
    from aeon_popup.hotkey import chord

    theme = options.theme or environment.get("AEON_POPUP_THEME") or "auto"
    if theme not in _THEMES:
        raise ValueError(f"unknown theme {theme!r} in AEON_POPUP_THEME: use {', '.join(_THEMES)}")
    keys = options.hotkey or environment.get("AEON_POPUP_HOTKEY") or chord.DEFAULT
    return chord.wanted(keys), theme


def _given(options: "argparse.Namespace") -> list[str]:
    """The given options, as words that mean the same in any folder. Raises ValueError for a path that is no socket's."""
    from aeond_client.connection.sockets import candidates
    from aeond_client.errors import InvalidInputError

    try:
        socket = candidates(options.socket)[0].path if options.socket else ""
    except InvalidInputError as error:
        raise ValueError(str(error)) from error
    given = {"--hotkey": options.hotkey, "--theme": options.theme, "--socket": socket}
    return [word for name, value in given.items() if value for word in (name, value)]


def _integrate(given: list[str] | None) -> int:
    """Adds the popup, started with these options, to the user's desktop; removes it without a list."""
    from pathlib import Path

    from aeon_popup.integration import install, uninstall

    program = str(Path(sys.argv[0]).absolute())
    try:
        changed = uninstall() if given is None else install(program, options=given)
    except OSError as error:
        print(f"aeon-popup: {error}", file=sys.stderr)
        return 1
    for path in changed:
        print(f"{'removed' if given is None else 'written'}: {path}")
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
