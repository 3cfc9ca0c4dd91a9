"""Generates the completions of aeond and aeon-popup for bash, zsh and fish: `package/completions.py FOLDER`.

They are generated from the command lines during the installation and not stored, so they are always current. Those of aeonctl
ask the program itself, because it knows names that change: `aeonctl completion`.
"""
# ruff: noqa: INP001 (a program, not a package)

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from aeon_popup.__main__ import command_line as popup_command_line
from aeond.daemon.main import command_line

_FILES = ("FILE", "PATH", "SOCKET", "FOLDER")


@dataclass(frozen=True)
class Option:
    """An option. `values` are its choices, None if it takes no value; with `files` the value is a file."""

    words: tuple[str, ...]
    help: str
    values: tuple[str, ...] | None = None
    files: bool = False


@dataclass(frozen=True)
class Command:
    """A command. `path` has its name after those of the commands above; with `files` its operand is a file."""

    path: tuple[str, ...]
    below: tuple[tuple[str, str], ...] = ()
    options: tuple[Option, ...] = ()
    files: bool = False

    @property
    def route(self) -> str:
        return " ".join(self.path)


def commands_of(parser: argparse.ArgumentParser, path: tuple[str, ...]) -> Iterator[Command]:
    """The command and those below it."""
    options: list[Option] = []
    below: list[tuple[str, str]] = []
    further: list[Command] = []
    files = False
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to see its arguments
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - the same
            helps = {one.dest: one.help or "" for one in action._choices_actions}  # noqa: SLF001 - the same
            for name, one in action.choices.items():
                below.append((name, helps.get(name, "")))
                further += commands_of(one, (*path, name))
        elif action.option_strings:
            options.append(_option(action))
        else:
            files = files or _is_file(action)
    yield Command(path, tuple(below), tuple(options), files)
    yield from further


def _option(action: argparse.Action) -> Option:
    words = tuple(action.option_strings)
    text = (action.help or "") % {"prog": "", **vars(action)}
    if action.nargs == 0:
        return Option(words, text)
    return Option(words, text, tuple(map(str, action.choices or ())), _is_file(action))


def _is_file(action: argparse.Action) -> bool:
    return action.type is Path or action.metavar in _FILES


# ------------------------------------------------------------ the shells


def bash(program: str, commands: list[Command]) -> str:
    """The script for bash."""
    function = f"_{program.replace('-', '_')}"
    lines = [
        f"# Completes {program} in bash.",
        f"{function}() {{",
        "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} word",
        f"  local route={program}",
        "  COMPREPLY=()",
        '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
        *_routes(commands, '    case "$route $word" in', '      {}) route+=" $word" ;;', "    esac"),
        "  done",
        '  case "$route $previous" in',
    ]
    for command in commands:
        for option, words in _with_values(command):
            then = "compopt -o default 2>/dev/null" if option.files else _compgen(option.values or ())
            lines.append(f"    {words}) {then}; return ;;")
    lines += ["  esac", '  case "$route" in']
    for command in commands:
        then = _compgen((*(name for name, _ in command.below), *_words(command)))
        files = "; compopt -o default 2>/dev/null" if command.files else ""
        lines.append(f"    {quote(command.route)}) {then}{files} ;;")
    return "\n".join([*lines, "  esac", "}", f"complete -F {function} {program}", ""])


def _compgen(words: tuple[str, ...]) -> str:
    return f'COMPREPLY=($(compgen -W {quote(" ".join(words))} -- "$current"))'


def zsh(program: str, commands: list[Command]) -> str:
    """The function for zsh, which it loads from a file of its own."""
    lines = [
        f"#compdef {program}",
        f"local route={program} word",
        "local -a offered",
        'for word in "${(@)words[2,CURRENT-1]}"; do',
        *_routes(commands, '  case "$route $word" in', '    ({}) route+=" $word" ;;', "  esac"),
        "done",
        'case "$route $words[CURRENT-1]" in',
    ]
    for command in commands:
        for option, words in _with_values(command):
            then = "_files" if option.files else f"compadd -- {' '.join(map(quote, option.values or ()))}"
            lines.append(f"  ({words}) {then}; return ;;")
    lines += ["esac", 'case "$route" in']
    for command in commands:
        entries = [(name, text) for name, text in command.below]
        entries += [(word, option.help) for option in command.options for word in option.words]
        shown = " ".join(quote(f"{word}:{_plain(text)}") for word, text in entries)
        lines.append(f"  ({quote(command.route)}) offered=({shown}){'; _files' if command.files else ''} ;;")
    return "\n".join([*lines, "esac", f"_describe {program} offered", ""])


def fish(program: str, commands: list[Command]) -> str:
    """The script for fish."""
    lines = [f"# Completes {program} in fish.", f"complete -c {program} -f"]
    for command in commands:
        here = [f"__fish_seen_subcommand_from {name}" for name in command.path[1:]]
        if command.below:
            names = " ".join(name for name, _ in command.below)
            above = "; and ".join([*here, f"not __fish_seen_subcommand_from {names}"])
            lines += [
                f"complete -c {program} -n {quote(above)} -a {name} -d {quote(_plain(text))}"
                for name, text in command.below
            ]
        where = f" -n {quote('; and '.join(here))}" if here else ""
        if command.files:
            lines.append(f"complete -c {program}{where} -F")
        for option in command.options:
            words = " ".join(
                f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}" for word in option.words
            )
            values = "" if option.values is None else " -r -F" if option.files else " -x"
            values += f" -a {quote(' '.join(option.values))}" if option.values else ""
            lines.append(f"complete -c {program}{where} {words}{values} -d {quote(_plain(option.help))}")
    return "\n".join([*lines, ""])


def _routes(commands: list[Command], head: str, line: str, foot: str) -> list[str]:
    """The words that lead from one command to the next, if there are any."""
    found = "|".join(quote(command.route) for command in commands if len(command.path) > 1)
    return [head, line.format(found), foot] if found else ["    :" if head.startswith("    ") else "  :"]


def _with_values(command: Command) -> Iterator[tuple[Option, str]]:
    """The options that take a value, each with the pattern of command and option."""
    for option in command.options:
        if option.values is not None:
            yield option, "|".join(quote(f"{command.route} {word}") for word in option.words)


def _words(command: Command) -> tuple[str, ...]:
    return tuple(word for option in command.options for word in option.words)


def _plain(text: str) -> str:
    return " ".join(text.split())


PROGRAMS = {"aeond": command_line, "aeon-popup": popup_command_line}
SHELLS = {"{}.bash": bash, "_{}": zsh, "{}.fish": fish}


def main(folder: Path) -> None:
    for program, parser in PROGRAMS.items():
        commands = list(commands_of(parser(), (program,)))
        for name, write in SHELLS.items():
            (folder / name.format(program)).write_text(write(program, commands), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
