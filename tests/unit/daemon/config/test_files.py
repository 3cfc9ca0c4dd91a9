"""Reading and writing configuration files."""

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from aeond.daemon.config.files import documented_defaults, load_config
from aeond.daemon.config.model_sections import AdapterSection
from aeond.daemon.config.schema import BudgetLimitSection, BudgetSection, Config
from aeond.daemon.config.section import Section, named_sections
from aeond.errors import InvalidInputError
from tests.support.repository import ROOT


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "aeond.toml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(tmp_path: Path, text: str) -> str:
    """The error for an invalid file, without its folder."""
    with pytest.raises(InvalidInputError) as raised:
        load_config(written(tmp_path, text), required=True)
    assert raised.value.reason == "CONFIG_INVALID"
    return raised.value.message.replace(f"{tmp_path}/", "")


def keys_of(section: Section, *names: str) -> Iterator[str]:
    for name, key in type(section).model_fields.items():
        value = getattr(section, name)
        if isinstance(value, Section):
            yield from keys_of(value, *names, name)
        elif not named_sections(key):  # those that the user names are not in the file of defaults
            yield ".".join((*names, name))


def sections_of(section: type[Section]) -> list[type[Section]]:
    """The section and all within it, those of lists as well."""
    found = [section]
    for key in section.model_fields.values():
        for kind in (key.annotation, *get_args(key.annotation)):
            if isinstance(kind, type) and issubclass(kind, Section):
                found += sections_of(kind)
    return found


def test_the_shipped_file_is_the_defaults() -> None:
    """systemd/aeond.toml is what `aeond check-config --defaults` prints, and means what an empty file means."""
    shipped = ROOT / "systemd" / "aeond.toml"
    assert shipped.read_text(encoding="utf-8") == documented_defaults()
    assert load_config(shipped, required=True) == Config()


def test_the_shipped_file_shows_every_key() -> None:
    """No key has to be looked up elsewhere."""
    tables = tomllib.loads(documented_defaults())

    def shown(table: dict[str, object], *names: str) -> Iterator[str]:
        for name, value in table.items():
            if isinstance(value, dict) and value:
                yield from shown(value, *names, name)
            else:
                yield ".".join((*names, name))

    assert set(shown(tables)) == set(keys_of(Config()))


@pytest.mark.parametrize("section", sections_of(Config))
def test_every_key_is_described(section: type[Section]) -> None:
    """Each key says what it means, and so does each section."""
    assert section.__doc__
    assert [
        name
        for name, key in section.model_fields.items()
        if not key.description and key.annotation not in sections_of(section)
    ] == []


def test_every_section_is_looked_at() -> None:
    """Sections within sections and in lists are found."""
    assert {BudgetSection, BudgetLimitSection, AdapterSection} < set(sections_of(Config))


def test_no_file_means_defaults(tmp_path: Path) -> None:
    """A daemon without a configuration file runs with the defaults."""
    assert load_config(tmp_path / "none.toml", required=False) == Config()


def test_a_named_file_has_to_be_there(tmp_path: Path) -> None:
    """A file that was asked for by name and is missing is an error."""
    with pytest.raises(InvalidInputError, match=r"file .*none\.toml does not exist"):
        load_config(tmp_path / "none.toml", required=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[log]\nlevel = 'loud'\n",
            "aeond.toml:2: log.level is 'loud': input should be 'debug', 'info', 'warning' or 'error'",
        ),
        (
            "\n[runs]\nmax_runing = 3\n",
            (
                "aeond.toml:3: unknown key runs.max_runing; valid keys are max_running, max_running_per_user,"
                " max_waiting, max_waiting_per_user, keep_days, budget, budget_limit"
            ),
        ),
        (
            "[sokcet]\npath = ''\n",
            (
                "aeond.toml:1: unknown key sokcet; valid keys are daemon, log, socket, runs, sessions,"
                " workspaces, approvals, model, engine, remote, vllm, embedding, tools, aider, agents, policy, metrics, traces, egress, mcp"
            ),
        ),
        (
            "[runs]\nmax_running = '8'\n",
            "aeond.toml:2: runs.max_running is '8': input should be a valid integer",
        ),
        (
            "[runs]\nmax_running = 0\n",
            "aeond.toml:2: runs.max_running is 0: input should be greater than or equal to 1",
        ),
        (
            "[runs.budget]\nwall_seconds = inf\n",
            "aeond.toml:2: runs.budget.wall_seconds is inf: input should be a finite number",
        ),
        (
            "[runs]\n[runs.budget]\nttl = -1\n",
            "aeond.toml:3: runs.budget.ttl is -1: input should be greater than or equal to 1",
        ),
        (
            "runs.budget.ttl = -1\n",
            "aeond.toml: runs.budget.ttl is -1: input should be greater than or equal to 1",
        ),
        (
            "[daemon]\nstate_dir = 'here'\n",
            (
                "aeond.toml:2: daemon.state_dir is 'here': it must be an absolute path, start with ~,"
                " or be empty"
            ),
        ),
        (
            "[daemon]\nstate_dir = '~no-such-user/x'\n",
            (
                "aeond.toml:2: daemon.state_dir is '~no-such-user/x': there is no such user, or the"
                " user has no home folder"
            ),
        ),
        (
            '[daemon]\nstate_dir = "/a\\u0000b"\n',
            (
                "aeond.toml:2: daemon.state_dir is '/a\\x00b': it must be an absolute path, start with"
                " ~, or be empty"
            ),
        ),
        (
            "[socket]\nmode = '777'\n",
            "aeond.toml:2: socket.mode is '777': it must be file permissions in octal, such as \"0660\"",
        ),
        ("daemon = 3\n", "aeond.toml:1: daemon is 3: input should be an object"),
    ],
)
def test_a_mistake_is_reported_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    """An error names file, line and key, the problem, and the value that would be right."""
    assert refusal(tmp_path, text) == said


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    """A file with several mistakes is not a guessing game."""
    said = refusal(tmp_path, "[log]\nlevel = 1\nformat = 2\n[runs]\nmax_waiting = -3\n").splitlines()
    assert [line.split(": ")[0] for line in said] == ["aeond.toml:2", "aeond.toml:3", "aeond.toml:5"]


def test_a_file_that_is_no_toml_says_where(tmp_path: Path) -> None:
    """A syntax error is reported with its line."""
    assert "line 2" in refusal(tmp_path, "[log]\nlevel = \n")


@pytest.mark.parametrize("content", [b"\xff\xfe[log]", b"\x00"])
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, content: bytes) -> None:
    """Bytes that are no TOML give an error, not a trace."""
    path = tmp_path / "aeond.toml"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError):
        load_config(path, required=True)


def test_a_file_that_others_can_write_to_is_refused(tmp_path: Path) -> None:
    """A configuration that other users can write is refused, because it names programs that the daemon runs."""
    path = tmp_path / "aeond.toml"
    path.touch()
    path.chmod(0o666)
    with pytest.raises(InvalidInputError, match="writable by all users: run chmod o-w"):
        load_config(path, required=True)
    path.chmod(0o644)
    assert load_config(path, required=True) == Config()


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    """A path that cannot be read says why."""
    with pytest.raises(InvalidInputError, match="cannot be read"):
        load_config(tmp_path, required=True)


@pytest.mark.parametrize("kind", ["FIFO", "device", "folder", "huge file"])
def test_only_a_bounded_regular_file_is_read(tmp_path: Path, kind: str) -> None:
    """A FIFO, a device without end, a folder or a huge file as configuration is refused at once; reading it used to
    hang or end the daemon."""
    path = tmp_path / "aeond.toml"
    if kind == "FIFO":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(1 << 40)
    with pytest.raises(InvalidInputError, match=r"cannot be read|is larger than 256 KiB") as refused:
        load_config(path, required=False)
    assert refused.value.reason == "CONFIG_INVALID"


@pytest.mark.parametrize("text", ["a = " + "[" * 50_000, "a = " + "9" * 5_000, "[a]\nb = 0x" + "f" * 9_000])
def test_a_file_that_breaks_the_parser_is_refused(tmp_path: Path, text: str) -> None:
    """Nesting and numbers beyond the limits of Python are errors of the file, not of the daemon."""
    assert "is not valid TOML" in refusal(tmp_path, text)


def test_a_long_wrong_value_is_cut(tmp_path: Path) -> None:
    """An error repeats only the beginning of a wrong value."""
    assert len(refusal(tmp_path, f'[log]\nlevel = "{"x" * 10_000}"\n')) < 1_000


def test_adapters_are_for_the_engine_that_takes_them(tmp_path: Path) -> None:
    """LoRA adapters are read as tables, and refused where the engine cannot change them by request."""
    table = '[{name = "terse", base = "small", path = "/models/terse"}]'
    path = written(tmp_path, f'[model]\nengine = "vllm"\nadapters = {table}\n')
    (adapter,) = load_config(path, required=True).model.adapters
    assert (adapter.name, adapter.base, adapter.path) == ("terse", "small", "/models/terse")
    assert 'need engine = "vllm"' in refusal(tmp_path, f"[model]\nadapters = {table}\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[mcp.a]\ncommand = "x"\nurl = "http://localhost/mcp"\n', "give either command or url"),
        ("[mcp.a]\n", "give either command or url"),
        ('[mcp.a]\ncommand = "x"\nenvironment = ["GITHUB_TOKEN"]\n', "it looks like a secret"),
        (
            '[mcp.a]\ncommand = "x"\ncolour = "red"\n',
            "unknown key mcp.a.colour; valid keys are command, args",
        ),
        ('[mcp.A-b]\ncommand = "x"\n', "mcp.A-b"),
    ],
)
def test_mistakes_in_the_section_of_a_server_are_reported(tmp_path: Path, text: str, said: str) -> None:
    """A server needs one way to reach it, a name in small letters, and no secrets."""
    assert said in refusal(tmp_path, text)
