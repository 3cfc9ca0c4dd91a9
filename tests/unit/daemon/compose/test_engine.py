"""How the engine is put together."""

import socket
from pathlib import Path

import pytest

from aeond.daemon.compose.engine import _started, models_of
from aeond.daemon.config import paths as places
from aeond.daemon.config.model_sections import EngineRun
from aeond.daemon.config.paths import paths_of
from aeond.daemon.config.schema import Config
from tests.support.outsiders import as_outsider, open_folder


def test_a_unit_runs_the_engine_where_it_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system service's unit is for who may connect to it; a user's own daemon starts a child beside it."""
    paths = paths_of(Config(), Path("/etc/aeond/aeond.toml"))
    with open_folder() as folder, socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.setattr(places, "SERVICE_SOCKETS", folder)
        assert _started(EngineRun.AUTO, paths) == {}
        listener.bind(str(paths.engine_unit))
        assert "start" in _started(EngineRun.AUTO, paths)
        with as_outsider(paths.engine_unit):
            assert _started(EngineRun.AUTO, paths) == {}
            assert "start" in _started(EngineRun.UNIT, paths)


@pytest.mark.parametrize(
    ("keys", "name", "parser"),
    [
        ({}, "qwen2.5-coder-1.5b-instruct", ""),
        ({"name": "qwen2.5-7b-instruct"}, "qwen2.5-7b-instruct", "hermes"),
        ({"name": "qwen2.5-7b-instruct", "tool_parser": "none"}, "qwen2.5-7b-instruct", ""),
        ({"name": "qwen2.5-7b-instruct", "tool_parser": "qwen3_json"}, "qwen2.5-7b-instruct", "qwen3_json"),
        ({"file": "/m.gguf", "tool_parser": "hermes", "chat_template": "/t.jinja"}, "own", "hermes"),
    ],
)
def test_the_configured_model_has_the_configured_parser(keys: dict[str, str], name: str, parser: str) -> None:
    """The catalogue's parser applies unless the configuration names one, or none; other models keep theirs."""
    config = Config.model_validate({"model": keys})
    catalogue, _ = models_of(config.model, paths_of(config, Path("/etc/aeond/aeond.toml")))
    entry = catalogue.get("")
    assert (entry.name, entry.tool_parser) == (name, parser)
    assert entry.chat_template == (Path(keys["chat_template"]) if "chat_template" in keys else None)
    assert catalogue.get("qwen2.5-14b-instruct").tool_parser == "hermes"
