"""The configuration read again."""

import logging
import re
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from aeond.daemon.config.files import load_config
from aeond.daemon.config.reloading import LIVE, LiveConfig, values_of
from aeond.daemon.config.schema import Config
from aeond.domain.daemons import ConfigChanges
from aeond.errors import InvalidInputError
from tests.support.doubles import ManualClock
from tests.support.notifications import Notifications


@dataclass
class Stage:
    """A file, the configuration that was read from it, and who adopts new ones."""

    file: Path
    manager: Notifications = field(default_factory=Notifications)
    adopted: list[Config] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.write("")
        self.live = LiveConfig(Config(), self._read, self.manager, ManualClock())
        self.live.adopt_by(self.adopted.append)

    def write(self, text: str) -> None:
        self.file.write_text(text, encoding="utf-8")

    def _read(self) -> Config:
        return load_config(self.file, required=True)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "aeond.toml")


def test_live_keys_change_and_others_are_named(stage: Stage) -> None:
    """Keys that change live are in force at once; those that cannot are named and stay as they were."""
    stage.write('[daemon]\nstop_seconds = 3.0\n[runs.budget]\nttl = 7\n[model]\nname = "another"\n')
    assert stage.live.reload() == ConfigChanges(("daemon.stop_seconds", "runs.budget.ttl"), ("model.name",))
    (adopted,) = stage.adopted
    assert adopted == stage.live.config
    assert (adopted.daemon.stop_seconds, adopted.runs.budget.ttl, adopted.model.name) == (3.0, 7, "")


def test_a_repeat_changes_nothing(stage: Stage) -> None:
    """Reading an unchanged file changes nothing, and goes on naming what needs a restart."""
    stage.write('[runs]\nmax_running = 9\n[socket]\nmode = "0600"\n')
    assert stage.live.reload().changed_keys == ("runs.max_running",)
    assert stage.live.reload() == ConfigChanges((), ("socket.mode",))


def test_a_key_that_is_taken_out_has_its_default_again(stage: Stage) -> None:
    """A key removed from the file returns to its default."""
    stage.write("[runs]\nmax_running = 9\n")
    stage.live.reload()
    stage.write("")
    assert stage.live.reload().changed_keys == ("runs.max_running",)
    assert stage.live.config == Config()


@pytest.mark.parametrize(
    "text",
    ["[runs]\nmax_runing = 3\n", "no TOML", '[log]\nlevel = "loud"\n', "[model]\nfile = '~no-such-user/m'\n"],
)
def test_a_wrong_file_changes_nothing_and_says_why(
    stage: Stage, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    """With a file that is wrong the old configuration stays, and the log says what is wrong where."""
    stage.write(text)
    with pytest.raises(InvalidInputError) as refused:
        stage.live.reload()
    assert refused.value.reason == "CONFIG_INVALID"
    assert (stage.live.config, stage.adopted) == (Config(), [])
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert str(stage.file) in record.getMessage()


def test_an_impossible_configuration_changes_nothing(stage: Stage) -> None:
    """A configuration that is well written and cannot be carried out is refused as a whole."""

    def refuse(_config: Config) -> None:
        raise InvalidInputError("unknown user 'nobody-7321'", reason="CONFIG_INVALID")

    stage.live.adopt_by(refuse)
    stage.write('[socket]\nallow_users = ["nobody-7321"]\n')
    with pytest.raises(InvalidInputError):
        stage.live.reload()
    assert stage.live.config == Config()


@pytest.mark.parametrize("text", ["", "[runs]\nmax_running = 9\n", "[socket]\nallow_users = []\n"])
def test_a_reload_does_not_remove_the_access_list(stage: Stage, text: str) -> None:
    """A file that was emptied or cut keeps the listed users in force: a reload used to admit everyone then."""
    stage.write('[socket]\nallow_users = ["root"]\n')
    stage.live.reload()
    stage.write(text)
    with pytest.raises(InvalidInputError, match="are no longer in the file") as refused:
        stage.live.reload()
    assert refused.value.reason == "CONFIG_INVALID"
    assert stage.live.config.socket.allow_users == ("root",)
    assert stage.live.config.runs == Config().runs
    stage.write('[socket]\nallow_groups = ["root"]\n')
    assert stage.live.reload().changed_keys == ("socket.allow_groups", "socket.allow_users")


@pytest.mark.parametrize("text", ["", "[runs]\nmax_runing = 3\n"])
def test_the_manager_hears_when_it_begins_and_when_it_is_over(stage: Stage, text: str) -> None:
    """RELOADING is always followed by READY, whatever came of it."""
    stage.write(text)
    try:
        stage.live.reload()
    except InvalidInputError:
        assert text
    assert stage.manager.sent == ["reloading since 1000", "ready"]


def test_the_log_s_level_changes_live(stage: Stage) -> None:
    """After a reload the log says as much as the file wants."""
    ours, root = logging.getLogger("aeond"), logging.getLogger()
    before = ours.level, root.level, root.handlers[:]
    try:
        stage.write('[log]\nlevel = "error"\n')
        assert stage.live.reload().changed_keys == ("log.level",)
        assert ours.level == logging.ERROR
    finally:
        level, root_level, root.handlers[:] = before
        ours.setLevel(level)
        root.setLevel(root_level)


def test_every_live_key_is_one() -> None:
    """Each key or section that is said to change live exists."""
    keys = values_of(Config.model_validate({"tools": {"profiles": {"look": ("read_*",)}}}))
    assert [name for name in LIVE if not any(f"{key}.".startswith(f"{name}.") for key in keys)] == []


def test_the_operations_page_names_every_live_key() -> None:
    """The table of keys that change at run time has all of them, as keys or as sections."""
    page = (Path(__file__).parents[4] / "docs" / "operations.md").read_text(encoding="utf-8")
    table = page.partition("| key | takes effect |")[2].partition("\n\n")[0]
    listed = set(re.findall(r"`([a-z_.]+)`", table))
    sections = {"log", "socket", "runs", "model"}
    assert [key for key in sorted(LIVE) if key not in listed | sections] == []
    keys = values_of(Config.model_validate({"tools": {"profiles": {"look": ("read_*",)}}}))
    assert [key for key in sorted(listed) if "." in key and key not in keys and key not in LIVE] == [
        "runs.budget",
        "runs.budget_limit",
    ]


def test_sections_that_the_user_names_come_and_go(stage: Stage) -> None:
    """A server that is added, changed or removed is in force at once, as one key."""
    for text in ('[mcp.a]\ncommand = "x"\n', '[mcp.a]\ncommand = "y"\n[mcp.b]\ncommand = "z"\n', ""):
        stage.write(text)
        assert stage.live.reload() == ConfigChanges(("mcp",), ())
    assert [sorted(config.mcp) for config in stage.adopted] == [["a"], ["a", "b"], []]


def test_a_section_that_names_a_file_to_hide_needs_a_restart(stage: Stage) -> None:
    """A section with a policy file or key file that tools can see, because it is new with the reload, waits for a restart as
    a whole, and other sections do not.
    """
    policy = '[policy]\nprofile = "trusted-folder"\nfile = "~/policy.toml"\n'
    server = '[mcp.a]\nurl = "https://example.org"\nkey_file = "~/key"\n'
    stage.write(f"{policy}{server}[runs]\nmax_running = 9\n")
    restart = ("mcp", "policy.file", "policy.profile")
    assert stage.live.reload() == ConfigChanges(("runs.max_running",), restart)
    assert stage.live.config.policy == Config().policy
    assert stage.live.config.mcp == {}


def test_files_that_are_hidden_come_and_go(tmp_path: Path) -> None:
    """A policy file that the daemon was started with can be removed and set again without a restart."""
    file = tmp_path / "aeond.toml"
    started = Config.model_validate({"policy": {"file": "~/policy.toml"}})
    read = partial(load_config, file, required=True)
    live = LiveConfig(started, read, Notifications(), ManualClock())
    for text in ("", '[policy]\nfile = "~/policy.toml"\n'):
        file.write_text(text, encoding="utf-8")
        assert live.reload() == ConfigChanges(("policy.file",), ())
