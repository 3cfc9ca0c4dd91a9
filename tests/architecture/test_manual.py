"""The manual pages are complete."""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from aeon_cli.main import cli
from aeon_popup.__main__ import command_line as popup_command_line
from aeond.daemon.config.schema import Config
from aeond.daemon.config.section import Section, named_sections
from aeond.daemon.exits import Exit
from aeond.daemon.main import command_line
from tests.support.repository import ROOT

PAGES = ("aeon-popup.1", "aeonctl.1", "aeond.8", "aeond.toml.5")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages as an installation makes them."""
    made = tmp_path_factory.mktemp("manual")
    subprocess.run([sys.executable, ROOT / "package" / "manual.py", made], check=True, cwd=ROOT)
    assert sorted(os.listdir(made)) == sorted(PAGES)
    return made


def words_of(page: Path) -> str:
    """The approximate visible text of a page: without requests, fonts and escapes."""
    text = re.sub(r"\\f[BIR]", "", page.read_text(encoding="utf-8"))
    return text.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")


def keys_of(section: Section) -> Iterator[str]:
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if isinstance(value, Section):
            yield from keys_of(value)
        elif named := named_sections(field):
            yield from (f"\n{key} = " for key in named.model_fields)
        else:
            yield f"\n{name} = "


def commands_of(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        assert command is not None
        below = click.Context(command, context, word)
        if isinstance(command, click.Group):
            yield from commands_of(command, below)
        else:
            yield below.command_path, command


def programs_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The commands of aeond that have no commands of their own."""
    inner = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    for commands in inner:
        for command in commands.choices.values():
            yield from programs_of(command)
    if not inner:
        yield parser.prog, parser


def test_every_key_is_in_the_manual(folder: Path) -> None:
    """aeond.toml(5) has each key of the configuration with its default."""
    page = words_of(folder / "aeond.toml.5")
    assert [key for key in keys_of(Config()) if key not in page] == []


def test_the_reference_of_the_configuration_is_current() -> None:
    """docs/configuration.md equals the generated page; `python package/configuration.py > docs/configuration.md`
    writes it.
    """
    program = [sys.executable, str(ROOT / "package" / "configuration.py")]
    page = subprocess.run(program, check=True, cwd=ROOT, capture_output=True, text=True).stdout
    assert (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8") == page


def test_every_command_of_aeonctl_is_in_the_manual(folder: Path) -> None:
    """aeonctl(1) has each command with each of its options."""
    page = words_of(folder / "aeonctl.1")
    for path, command in commands_of(cli, click.Context(cli, info_name="aeonctl", **cli.context_settings)):
        _, found, after = page.partition(f'.SS "{path} ')
        part = after.partition(".SS")[0]
        options = [
            name
            for one in command.params
            if isinstance(one, click.Option) and not one.hidden
            for name in one.opts
        ]
        assert found, path
        assert [name for name in options if name not in part] == [], path


def test_every_option_of_the_window_is_in_the_manual(folder: Path) -> None:
    """aeon-popup(1) has each option of the program with its meaning."""
    page = words_of(folder / "aeon-popup.1")
    actions = popup_command_line()._actions
    assert len(actions) > 8
    assert [option for one in actions for option in one.option_strings if option not in page] == []
    assert [one.help for one in actions if one.help and one.help.partition(" (")[0] not in page] == []
    assert "%(" not in page


def test_every_command_of_aeond_is_in_the_manual(folder: Path) -> None:
    """aeond(8) has each command, also those of commands, with each of its options, and each exit code of the daemon."""
    page = words_of(folder / "aeond.8")
    commands = dict(programs_of(command_line()))
    assert {"aeond facade mcp", "aeond facade openai", "aeond models list", "aeond serve"} <= commands.keys()
    for path, command in commands.items():
        _, found, after = page.partition(f'.SS "{path} ')
        part = after.partition(".SS")[0]
        assert found, path
        options = [name for one in command._actions for name in one.option_strings]
        assert [name for name in options if name not in part] == [], path
    assert [code for code in Exit if f"\n{code.value}\n" not in page] == []


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed here")
@pytest.mark.parametrize("page", PAGES)
def test_man_has_nothing_to_say_of_a_page(folder: Path, page: str) -> None:
    """A page is formatted without a warning and shows its name."""
    shown = subprocess.run(
        ["man", "--warnings=w", "--local-file", folder / page],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8", "MANPAGER": "cat", "MANWIDTH": "100"},
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.splitlines()[0].startswith(page.upper().rpartition(".")[0])
