"""Secrets under the real systemd: credentials are taken, and what lies open is refused."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.installed_service import ETC, Service, journal, run, shown, systemctl

pytestmark = pytest.mark.systemd

DROP_IN = Path("/run/systemd/system/aeond.service.d/secrets.conf")
KEY = ETC / "hub-key"
HUB = '[model]\nengine = "llama_cpp"\nload_at_start = false\nhub_url = "https://hub.example"\n'


@pytest.fixture
def secretive(service: Service) -> Iterator[Service]:
    """The service with a token that only root can read."""
    KEY.write_text("value-quokka\n", encoding="utf-8")
    KEY.chmod(0o600)
    yield service
    for file in (KEY, DROP_IN):
        file.unlink(missing_ok=True)
    systemctl("daemon-reload")


def unit_has(line: str) -> None:
    DROP_IN.write_text(f"[Service]\n{line}\n", encoding="utf-8")
    systemctl("daemon-reload")


def started(configured: str) -> bool:
    (ETC / "aeond.toml").write_text(HUB + configured, encoding="utf-8")
    return run("systemctl", "start", "aeond", check=False).returncode == 0


def refused(said: str) -> bool:
    """Whether the start ended for a secret's sake, once, with these words, and without the secret itself."""
    ended = (shown("Result"), shown("ExecMainStatus"), shown("NRestarts"))
    return ended == ("exit-code", "6", "0") and said in journal() and "quokka" not in journal()


@pytest.mark.usefixtures("secretive")
def test_a_credential_is_taken() -> None:
    """A token of root's arrives as a credential of the service, which cannot read the file itself."""
    assert not started('hub_credential = "hub"\n')
    assert refused("add LoadCredential=hub:FILE to the unit")
    unit_has(f"LoadCredential=hub:{KEY}")
    assert started('hub_credential = "hub"\n'), journal()


@pytest.mark.usefixtures("secretive")
def test_an_encrypted_credential_is_taken() -> None:
    """A token that is encrypted on the disk arrives as a credential as well."""
    if run("systemd-creds", "setup", check=False).returncode != 0:
        pytest.skip("this systemd makes no key of the machine")
    encrypted = ETC / "hub.cred"
    run("systemd-creds", "encrypt", "--with-key=host", "--name=hub", KEY, encrypted)
    assert "quokka" not in encrypted.read_text(encoding="utf-8")
    unit_has(f"LoadCredentialEncrypted=hub:{encrypted}")
    assert started('hub_credential = "hub"\n'), journal()
    encrypted.unlink()


@pytest.mark.usefixtures("secretive")
def test_a_secret_in_the_environment_is_refused() -> None:
    """A token in the unit's environment ends the start with exit code 6, and its name says what to take out."""
    unit_has("Environment=HF_TOKEN=value-quokka")
    assert not started("")
    assert refused("HF_TOKEN in the environment")


@pytest.mark.usefixtures("secretive")
def test_a_file_that_others_can_read_is_refused() -> None:
    """A token's file is taken with mode 0600 and refused with any other."""
    shutil.chown(KEY, "aeond", "aeond")
    KEY.chmod(0o644)
    assert not started(f'hub_token_file = "{KEY}"\n')
    assert refused("other users may read it: run chmod 0600 on it")
    KEY.chmod(0o600)
    assert started(f'hub_token_file = "{KEY}"\n'), journal()


@pytest.mark.usefixtures("secretive")
def test_a_secret_in_the_configuration_is_refused() -> None:
    """A token written into aeond.toml is refused, and not repeated."""
    assert not started('hub_token = "value-quokka"\n')
    assert shown("ExecMainStatus") == "2"
    assert "model.hub_token looks like a secret" in journal()
    assert "quokka" not in journal()
