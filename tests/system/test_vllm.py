"""The installed service with vLLM: the engine's hardened unit leaves it all that it needs."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from aeond.capabilities.llm.models.catalogue import SMOLLM2_135M
from aeond_client.client import Client
from tests.support.engine import MODELS
from tests.support.installed_service import (
    ETC,
    SOCKET,
    STATE,
    Service,
    journal,
    run,
    shown,
    systemctl,
    until,
)
from tests.support.vllm import ENVIRONMENT as BUILT
from tests.support.vllm import START_SECONDS

pytestmark = [pytest.mark.systemd, pytest.mark.vllm]

ENVIRONMENT = Path("/opt/aeond-engine")
ENGINE = "aeond-engine.service"


@pytest.fixture
def service(service: Service) -> Iterator[Service]:
    """With vLLM where it is looked for, on a Python that the service can reach, and a small model."""
    libraries = next(BUILT.glob("lib/python3.*/site-packages"), None)
    kept = MODELS / f"{SMOLLM2_135M.digest}.gguf"
    if libraries is None or not kept.is_file():
        pytest.skip("needs vLLM and a model: make engine-setup and make accept get them")
    run("/usr/bin/python3", "-m", "venv", "--without-pip", ENVIRONMENT)
    place = ENVIRONMENT / libraries.resolve().relative_to(BUILT.resolve())
    run("mount", "--bind", libraries.resolve(), place)
    models = STATE / "models"
    models.mkdir(parents=True)
    shutil.copy(kept, models)
    run("chown", "--recursive", "aeond:aeond", STATE)
    STATE.chmod(0o700)
    (ETC / "aeond.toml").write_text(
        f'[model]\nengine = "vllm"\nname = "{SMOLLM2_135M.name}"\ncontext_tokens = 1024\n'
        "parallel_requests = 2\n[vllm]\nenforce_eager = true\n",
        encoding="utf-8",
    )
    yield service
    systemctl("stop", "aeond.socket", "aeond.service")
    run("umount", "--lazy", place)
    shutil.rmtree(ENVIRONMENT)


def processes() -> list[str]:
    """The processes of the engine's unit."""
    group = systemctl("show", "--value", "--property", "ControlGroup", ENGINE).strip()
    return Path("/sys/fs/cgroup", group.lstrip("/"), "cgroup.procs").read_text().split() if group else []


def test_vllm_answers_in_the_engine_s_unit(service: Service) -> None:
    """vLLM converts its model, loads and answers under the unit's restrictions, and nothing of it outlives a stop."""
    systemctl("start", "aeond")
    until(lambda: "ready" in shown("StatusText"), "vLLM", START_SECONDS)
    with Client(f"unix:{SOCKET}") as client:
        said = "".join(
            piece.text for piece in client.generate("Say hello.", max_tokens=4, timeout_seconds=60)
        )
    assert said != "", journal()
    held = processes()
    assert held != []
    systemctl("stop", "aeond.socket", "aeond.service")
    until(lambda: not any(Path("/proc", one).exists() for one in held), "the end of vLLM")
    assert systemctl("show", "--value", "--property", "Result", ENGINE).strip() == "success"
