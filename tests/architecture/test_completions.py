"""The completions of aeond and aeon-popup, in the shells themselves."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repository import ROOT

# Sources the script for a program, completes words of which the last one is half typed, and prints what is offered.
SHELLS = {
    "bash": 'source "$1/$2.bash"; COMP_WORDS=("${@:2}"); COMP_CWORD=$(($# - 2)); "_${2//-/_}"; '
    'printf "%s\\n" "${COMPREPLY[@]}"',
    "zsh": "_files() { print files }; compadd() { shift; print -l -- $@ }; _describe() { print -l -- ${(P)2} }; "
    'words=("${@:2}"); CURRENT=$#words; complete() { source "$1/_$2" }; complete "$1" "$2"',
    "fish": 'source $argv[1]/$argv[2].fish; complete --do-complete "$argv[2..-1]"',
}
SECONDS = 60.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts as an installation makes them."""
    made = tmp_path_factory.mktemp("completions")
    subprocess.run([sys.executable, ROOT / "package" / "completions.py", made], check=True, cwd=ROOT)
    return made


@pytest.mark.parametrize("shell", sorted(SHELLS))
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("aeond ser", "serve"),
        ("aeond models rec", "recommend"),
        ("aeond facade openai --ke", "--key-file"),
        ("aeond doctor --js", "--json"),
        ("aeond demo --engine vl", "vllm"),
        ("aeon-popup --tog", "--toggle"),
        ("aeon-popup --theme da", "dark"),
    ],
)
def test_a_shell_offers_commands_options_and_choices(
    folder: Path, shell: str, words: str, offered: str
) -> None:
    """A half-typed command, option or choice is completed, also below another command."""
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    lines = printed(folder, shell, words)
    assert offered in [line.replace("\t", ":").partition(":")[0].strip() for line in lines]


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_only_what_fits_the_command_is_offered(folder: Path, shell: str) -> None:
    """Commands below one command are not offered for another."""
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    lines = [line.partition(":")[0] for line in printed(folder, shell, "aeond models ")]
    assert {"list", "recommend"} <= set(lines)
    assert "serve" not in lines


def printed(folder: Path, shell: str, words: str) -> list[str]:
    start = {"fish": ["fish", "--no-config"], "bash": ["bash", "--norc"], "zsh": ["zsh", "-f"]}[shell]
    name = [] if shell == "fish" else [shell]
    done = subprocess.run(
        [*start, "-c", SHELLS[shell], *name, folder, *words.split(" ")],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
