"""Generates the manual pages from the commands and the configuration: `package/manual.py FOLDER`.

aeonctl(1), aeon-popup(1), aeond.toml(5) and aeond(8) are generated during the installation and not stored, so they are
always current. Their text is that of the programs' own help.
"""
# ruff: noqa: INP001 (a program, not a package)

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from aeon_cli.exits import MEANINGS
from aeon_cli.main import cli
from aeon_popup.__main__ import command_line as popup_command_line
from aeon_popup.integration import APP_ID, UNIT
from aeond import __version__
from aeond.daemon.config.schema import Config
from aeond.daemon.config.section import Section, named_sections
from aeond.daemon.main import EXITS, command_line

SEE_ALSO = {
    "aeonctl.1": "aeond(8), aeon-popup(1)",
    "aeon-popup.1": "aeond(8), aeonctl(1)",
    "aeond.toml.5": "aeond(8), aeonctl(1)",
    "aeond.8": "aeonctl(1), aeon-popup(1), aeond.toml(5), systemctl(1), journalctl(1)",
}
PLACES = (
    ("/etc/aeond/aeond.toml", "the configuration of the system's daemon; see aeond.toml(5)"),
    ("~/.config/aeond/aeond.toml", "the configuration of a user's own daemon"),
    ("/var/lib/aeond", "the state of the system's daemon: journal, memory, models, workspaces of runs"),
    ("~/.local/state/aeond", "the state of a user's own daemon; its models are in ~/.cache/aeond/models"),
    ("/run/aeond/aeond.sock", "the socket of the system's daemon"),
    ("$XDG_RUNTIME_DIR/aeond/aeond.sock", "the socket of a user's own daemon"),
)
UNITS = (
    ("aeond.service", "the daemon; also a unit of systemctl --user, for a daemon of one user"),
    ("aeond.socket", "its socket: the first connection starts the daemon"),
    ("aeond-admin.socket", "its administrative socket"),
    ("aeond-engine.service", "the model's engine, started by aeond-engine.socket when the daemon needs it"),
    ("aeond-tool@.service", "one call of an untrusted tool, started by aeond-tool.socket"),
    (
        "aeond-facade@.service",
        "a unit of systemctl --user alone: the façade mcp or openai, with OPTIONS of ~/.config/aeond/facade-NAME.env",
    ),
)


def pages() -> dict[str, str]:
    """Each page by its file name."""
    made = {
        "aeonctl.1": _aeonctl(),
        "aeon-popup.1": _aeon_popup(),
        "aeond.toml.5": _configuration(),
        "aeond.8": _aeond(),
    }
    return {name: "\n".join([*lines, *_see_also(name)]) + "\n" for name, lines in made.items()}


def escaped(text: str) -> str:
    """Text with roff's special characters escaped."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def _head(name: str, section: int, what: str) -> list[str]:
    title = f'.TH "{name.upper()}" "{section}" "" "aeond {__version__}" "aeond manual"'
    return [title, ".SH NAME", f"{escaped(name)} \\- {escaped(what)}"]


def _see_also(name: str) -> list[str]:
    named = re.sub(r"([a-z.-]+)\((\d)\)", r"\\fB\1\\fR(\2)", SEE_ALSO[name])
    return [".SH SEE ALSO", named]


def _terms(terms: Sequence[tuple[str, str]]) -> Iterator[str]:
    for term, meaning in terms:
        yield from (".TP", f"\\fB{escaped(term)}\\fR", escaped(meaning))


def _prose(text: str) -> Iterator[str]:
    """Paragraphs; one that starts with click's mark keeps its lines."""
    for paragraph in text.split("\n\n"):
        kept = paragraph.lstrip("\n").startswith("\b")
        lines = escaped(paragraph.strip("\b\n"))
        yield from (".PP", *([".nf", lines, ".fi"] if kept else [lines]))


# The following functions generate aeonctl(1).


def _aeonctl() -> Iterator[str]:
    yield from _head(
        "aeonctl", 1, "send requests to the AI daemon aeond, follow its work, inspect the results"
    )
    context = click.Context(cli, info_name="aeonctl", **cli.context_settings)
    yield from (".SH SYNOPSIS", f"\\fBaeonctl\\fR {escaped(' '.join(cli.collect_usage_pieces(context)))}")
    yield from (".SH DESCRIPTION", *_prose((cli.help or "").partition("\b\nExit codes")[0]))
    yield from (".SH OPTIONS", *_terms(_options(cli, context)), ".SH COMMANDS")
    yield from _commands(cli, context)
    yield from (
        ".SH EXIT STATUS",
        *_terms([(str(code.value), meaning) for code, meaning in MEANINGS.items()]),
    )
    yield from (
        ".SH ENVIRONMENT",
        *_terms([("AEOND_SOCKET", "the daemon's socket if --socket is not given")]),
    )


def _commands(group: click.Group, parent: click.Context) -> Iterator[str]:
    for word in group.list_commands(parent):
        command = group.get_command(parent, word)
        assert command is not None
        context = click.Context(command, parent, word)
        if isinstance(command, click.Group):
            yield from _commands(command, context)
            continue
        pieces = " ".join(command.collect_usage_pieces(context))
        yield f'.SS "{escaped(f"{context.command_path} {pieces}")}"'
        yield from _prose(command.help or "")
        yield from _terms(_options(command, context))


def _options(command: click.Command, context: click.Context) -> list[tuple[str, str]]:
    records = (parameter.get_help_record(context) for parameter in command.get_params(context))
    return [record for record in records if record is not None]


# The following function generates aeon-popup(1).


def _aeon_popup() -> Iterator[str]:
    parser = popup_command_line()
    yield from _head("aeon-popup", 1, "the desktop window of the AI daemon aeond")
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    yield from (".SH SYNOPSIS", escaped(usage))
    yield from (".SH DESCRIPTION", *_prose(parser.description or ""), *_prose(parser.epilog or ""))
    yield from (".SH OPTIONS", *_terms(_arguments(parser)))
    yield from (
        ".SH EXIT STATUS",
        *_terms([("0", "success"), ("1", "an error"), ("2", "wrong arguments")]),
        ".SH ENVIRONMENT",
        *_terms(
            [
                ("AEON_POPUP_HOTKEY", "the global hotkey, or none, if --hotkey is not given"),
                ("AEON_POPUP_THEME", "auto, dark or light, if --theme is not given"),
                ("AEON_POPUP_MOTION", "reduced turns animations off"),
                ("AEOND_SOCKET", "the daemon's socket if --socket is not given"),
            ]
        ),
        ".SH FILES",
        *_terms(
            [
                (f"/etc/xdg/autostart/{APP_ID}.desktop", "starts the program in the background at login"),
                (UNIT, "the unit of systemctl --user that D-Bus activation starts"),
            ]
        ),
    )


# The following functions generate aeond(8).


def _aeond() -> Iterator[str]:
    parser = command_line()
    yield from _head("aeond", 8, "a local AI daemon")
    yield from (".SH SYNOPSIS", "\\fBaeond\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]...")
    yield from (".SH DESCRIPTION", *_prose(parser.description or ""), ".SH COMMANDS")
    yield from _subcommands(parser)
    statuses = [(line.split()[0], " ".join(line.split()[1:])) for line in EXITS.splitlines()]
    yield from (".SH EXIT STATUS", *_terms(statuses))
    yield from (".SH FILES", *_terms(PLACES), ".SH UNITS", *_terms(UNITS))


def _subcommands(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The commands that have no commands of their own, at any depth."""
    for commands in parser._actions:  # noqa: SLF001 - argparse shows its commands nowhere else
        if not isinstance(commands, argparse._SubParsersAction):  # noqa: SLF001 - the same
            continue
        meanings = {action.dest: action.help or "" for action in commands._choices_actions}  # noqa: SLF001 - the same
        for name, command in commands.choices.items():
            inner = list(_subcommands(command))
            if inner:
                yield from inner
                continue
            usage = command.format_usage().removeprefix("usage: ").split()
            yield f'.SS "{escaped(" ".join(usage))}"'
            yield from _prose(f"{meanings[name][:1].upper()}{meanings[name][1:]}.")
            yield from _terms(_arguments(command))


def _arguments(command: argparse.ArgumentParser) -> list[tuple[str, str]]:
    shown = [action for action in command._actions if action.help]  # noqa: SLF001 - the same
    formatter = command._get_formatter()  # noqa: SLF001 - argparse fills in defaults nowhere else
    return [
        (", ".join(action.option_strings) or str(action.dest), formatter._expand_help(action))  # noqa: SLF001 - the same
        for action in shown
    ]


# The following functions generate aeond.toml(5).


def _configuration() -> Iterator[str]:
    yield from _head("aeond.toml", 5, "configuration of the AI daemon aeond")
    yield from (".SH SYNOPSIS", "/etc/aeond/aeond.toml", ".br", escaped("~/.config/aeond/aeond.toml"))
    yield from (
        ".SH DESCRIPTION",
        *_prose(
            "A TOML file. Omitted keys have their default values, and without a file all keys do; an"
            " unknown key or an invalid value prevents a start. `aeond check-config` validates a file,"
            " `aeond check-config --defaults` prints one with every key.\n\nThe file contains no"
            " secrets: it refers to a systemd credential or to a file that only its owner can read."
        ),
        ".SH KEYS",
    )
    yield from _section(Config(), ())


def _section(section: Section, names: tuple[str, ...]) -> Iterator[str]:
    inner: list[tuple[Section, tuple[str, ...]]] = []
    for name, field in type(section).model_fields.items():
        value: Any = getattr(section, name)
        if isinstance(value, Section):
            inner.append((value, (*names, name)))
        elif named := named_sections(field):
            inner.append((named.model_construct(), (*names, name, "NAME")))
        else:
            shown = _shown(value)
            yield from _terms([(f"{name} = {shown}", field.description or "")])
    for one, path in inner:
        yield f'.SS "[{escaped(".".join(path))}]"'
        yield from (escaped((type(one).__doc__ or "").strip()), *_section(one, path))


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return (
        str(value).lower()
        if isinstance(value, bool)
        else f'"{value}"'
        if isinstance(value, str)
        else str(value)
    )


if __name__ == "__main__":
    for file, text in pages().items():
        Path(sys.argv[1], file).write_text(text, encoding="utf-8")
