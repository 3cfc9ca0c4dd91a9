"""The installed service reads its configuration again."""

import json

import pytest

from tests.support.installed_service import (
    MEMBER,
    OUTSIDER,
    Service,
    aeonctl,
    journal,
    records,
    shown,
    systemctl,
    until,
)

pytestmark = pytest.mark.systemd


def said(kind: str) -> list[str]:
    """Records of this kind since the service's last start."""
    invocation = systemctl("show", "--value", "--property", "InvocationID", "aeond").strip()
    found = records(f"_SYSTEMD_INVOCATION_ID={invocation}", f"KIND={kind}")
    return [record["MESSAGE"] for record in found]


def test_a_reload_puts_in_force_what_can_change(service: Service) -> None:
    """After `systemctl reload` the same process works by the new file, and names what needs a restart."""
    systemctl("start", "aeond")
    pid = shown("MainPID")
    service.configure(extra='[runs]\nmax_running = 9\n[daemon]\nstate_dir = "/var/lib/aeond/other"\n')
    systemctl("reload", "aeond")
    until(lambda: bool(said("config_reloaded")), "the reload")
    assert said("config_reloaded") == [
        "the configuration was reloaded: changed runs.max_running; needs a restart: daemon.state_dir"
    ]
    until(lambda: shown("ActiveState") == "active", "the end of the reload")
    assert json.loads(aeonctl(MEMBER, "status", "--json").stdout)["max_running_runs"] == 9
    assert (shown("MainPID"), shown("NRestarts")) == (pid, "0")


def test_a_wrong_file_keeps_what_was_and_says_why(service: Service) -> None:
    """A reload with a wrong file changes nothing and ends nothing; the log has key, file and line."""
    systemctl("start", "aeond")
    service.configure(extra="[runs]\nmax_runing = 9\n")
    systemctl("reload", "aeond")
    until(lambda: bool(said("config_refused")), "the refusal")
    (why,) = said("config_refused")
    assert "/etc/aeond/aeond.toml:" in why
    assert "unknown key runs.max_runing" in why
    until(lambda: shown("ActiveState") == "active", "the end of the reload")
    assert aeonctl(MEMBER, "status").returncode == 0
    assert shown("NRestarts") == "0"


def test_a_client_has_the_configuration_read_again(service: Service) -> None:
    """`aeonctl reload` does the same, and tells the client what came of it."""
    systemctl("start", "aeond")
    service.configure(extra='[log]\nlevel = "warning"\n')
    completed = aeonctl("root", "reload", "--json")
    assert json.loads(completed.stdout) == {"changed_keys": ["log.level"], "restart_keys": []}, journal()
    service.configure(extra='[log]\nlevel = "loud"\n')
    refused = aeonctl("root", "reload")
    assert refused.returncode == 2
    assert "log.level is 'loud'" in " ".join(refused.stderr.split())


def test_who_may_connect_changes_live(service: Service) -> None:
    """A user whom the new file does not name is refused from then on, without a restart."""
    systemctl("start", "aeond")
    assert aeonctl(MEMBER, "status").returncode == 0
    service.configure(extra=f'[socket]\nallow_users = ["{OUTSIDER}"]\n')
    assert aeonctl("root", "reload").returncode == 0
    assert aeonctl(MEMBER, "status").returncode == 7


def test_a_name_that_this_machine_lacks_is_refused(service: Service) -> None:
    """A file that names a user who does not exist changes nothing at all."""
    systemctl("start", "aeond")
    service.configure(extra='[socket]\nallow_users = ["nobody-7321"]\n[runs]\nmax_running = 9\n')
    refused = aeonctl("root", "reload")
    assert (refused.returncode, "unknown user 'nobody-7321'" in refused.stderr) == (2, True)
    assert json.loads(aeonctl(MEMBER, "status", "--json").stdout)["max_running_runs"] == 8
