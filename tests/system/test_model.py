"""The installed service with a small real model: the hardened unit leaves the engine all that it needs."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from aeond.capabilities.llm.models.catalogue import SMOLLM2_135M
from tests.support.engine import MODELS
from tests.support.installed_service import MEMBER, Service, aeonctl, run, shown, systemctl, until

pytestmark = [pytest.mark.systemd, pytest.mark.model]

MODEL = Path("/srv/small-model.gguf")
WATCHDOG_SECONDS = 10
HELLO = {"step_id": "s1", "agent": "llm", "description": "Say hello to the reader in one short sentence."}


@pytest.fixture
def service(service: Service) -> Iterator[Service]:
    """With a small real model at a place that the service can read."""
    kept = MODELS / f"{SMOLLM2_135M.digest}.gguf"
    if not kept.is_file():
        pytest.skip(f"there is no model at {kept}, and no network here: make check fetches it")
    MODEL.touch()
    run("mount", "--bind", kept, MODEL)
    service.configure(
        model=f'file = "{MODEL}"\ncontext_tokens = 1024\nparallel_requests = 2\nyields_memory = false\n'
    )
    service.change(f"WatchdogSec={WATCHDOG_SECONDS}")
    yield service
    systemctl("stop", "aeond.socket", "aeond.service")
    run("umount", MODEL)


def greeting(service: Service) -> str:
    """The model's output in a run of one step."""
    asked = aeonctl(MEMBER, "ask", "-q", "--json", "--workspace", "", "--plan", service.plan("hello", HELLO))
    assert asked.returncode == 0, asked.stderr + service.said()
    run_of_it = json.loads(aeonctl(MEMBER, "show", "last", "--json").stdout)
    assert run_of_it["state"] == "succeeded"
    return str(run_of_it["steps"][0]["output"])


def test_a_real_model_answers_in_the_hardened_unit(service: Service) -> None:
    """The engine loads and answers under all of the unit's restrictions, and its state is in the status."""
    systemctl("start", "aeond")
    assert greeting(service).strip()
    until(lambda: "ready" in shown("StatusText"), "the engine in the line of status")


def test_a_hung_engine_is_no_reason_to_restart(service: Service) -> None:
    """With its engine stopped dead the daemon answers and gives signs of life as before."""
    systemctl("start", "aeond")
    assert greeting(service)
    main = shown("MainPID")
    systemctl("kill", "--signal", "STOP", "aeond-engine.service")
    asked = aeonctl(MEMBER, "ask", "--detach", "--workspace", "", "--plan", service.plan("hello", HELLO))
    assert asked.returncode == 0, asked.stderr
    began = int(shown("WatchdogTimestampMonotonic"))
    periods = 2 * WATCHDOG_SECONDS * 1_000_000
    until(lambda: int(shown("WatchdogTimestampMonotonic")) > began + periods, "signs of life")
    assert aeonctl(MEMBER, "status").returncode in {0, 1}
    assert (shown("MainPID"), shown("NRestarts")) == (main, "0")
    systemctl("kill", "--signal", "KILL", "aeond-engine.service")
    assert aeonctl(MEMBER, "watch", "-q", asked.stdout.strip()).returncode == 0, service.said()
    assert (shown("MainPID"), shown("NRestarts")) == (main, "0")
