"""Records of the installed service in the real journald."""

import json

import pytest

from aeond.daemon.logs.message_ids import MESSAGE_IDS
from tests.support.installed_service import MEMBER, Service, aeonctl, records, run, systemctl

pytestmark = pytest.mark.systemd

SUM = {"step_id": "s1", "tool": "calculator", "arguments": {"expression": "17.5 / 100 * 2400"}}
LOUD = {"step_id": "s2", "tool": "echo", "arguments": {"text": "again"}, "depends_on": ["s1"]}


def ended_run(service: Service) -> str:
    """The id of a run of two steps that succeeded."""
    asked = aeonctl(MEMBER, "ask", "-q", "--workspace", "", "--plan", service.plan("the bonus", SUM, LOUD))
    assert asked.returncode == 0, asked.stderr
    run_id = json.loads(aeonctl(MEMBER, "show", "last", "--json").stdout)["run_id"]
    assert isinstance(run_id, str)
    return run_id


def test_the_log_tells_a_run_s_story(service: Service) -> None:
    """`journalctl RUN_ID=...` gives the run from its creation to its end, each with number, state and time."""
    systemctl("start", "aeond")
    run_id = ended_run(service)
    story = records(f"RUN_ID={run_id}")
    assert [(record["KIND"], record.get("STEP_ID")) for record in story] == [
        ("run_created", None),
        ("run_started", None),
        ("step_ended", "s1"),
        ("step_ended", "s2"),
        ("run_ended", None),
    ]
    numbers = [int(record["EVENT_SEQ"]) for record in story]
    assert numbers == sorted(set(numbers))
    assert all(record["MESSAGE_ID"] == MESSAGE_IDS[record["KIND"]] for record in story)
    assert all((record["PRIORITY"], record["_SYSTEMD_UNIT"]) == ("6", "aeond.service") for record in story)
    assert "with a plan of 2 steps" in story[0]["MESSAGE"]
    assert story[2]["MESSAGE"].startswith("step ended: succeeded, after ")
    assert story[-1]["MESSAGE"].startswith("run ended: succeeded, after ")


def test_the_catalogue_explains(service: Service) -> None:
    """`journalctl -x` shows words of the catalogue beside a record, with the run's id in them."""
    systemctl("start", "aeond")
    run_id = ended_run(service)
    explained = run("journalctl", "-x", "--no-pager", f"RUN_ID={run_id}").stdout
    assert f"Its answer: aeonctl show {run_id}" in explained


def test_the_life_of_the_daemon_is_reported(service: Service) -> None:
    """Ready, stopping and stopped are records with ids, in that order and of that unit."""
    systemctl("start", "aeond")
    invocation = systemctl("show", "--value", "--property", "InvocationID", "aeond").strip()
    systemctl("stop", "aeond.socket", "aeond.service")
    logged = [record.get("KIND") for record in records(f"_SYSTEMD_INVOCATION_ID={invocation}")]
    assert [kind for kind in logged if kind] == [
        "daemon_ready",
        "engine_changed",
        "daemon_stopping",
        "daemon_stopped",
    ]


def test_the_log_holds_no_content(service: Service) -> None:
    """No field of the log at level info contains requests, plans, results or answers."""
    service.configure(rules=[{"text": "the scripted-answer-quokka"}])
    systemctl("start", "aeond")
    aeonctl(MEMBER, "ask", "--workspace", "", "the asked-question-quokka")
    note = {"step_id": "s1", "tool": "remember", "arguments": {"key": "key-quokka", "value": "value-quokka"}}
    wrong = {"step_id": "s2", "tool": "calculator", "arguments": {"expression": "expression-quokka"}}
    asked = aeonctl(MEMBER, "ask", "--workspace", "", "--plan", service.plan("the goal-quokka", note, wrong))
    assert asked.returncode in {0, 1}, asked.stderr
    invocation = systemctl("show", "--value", "--property", "InvocationID", "aeond").strip()
    systemctl("stop", "aeond.socket", "aeond.service")
    said = records(f"_SYSTEMD_INVOCATION_ID={invocation}")
    assert "run_ended" in {record.get("KIND") for record in said}
    assert [record for record in said if "quokka" in json.dumps(record)] == []
