"""Where secrets may lie."""

import os
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from aeond.daemon.config.files import load_config
from aeond.daemon.config.secrets import looks_secret, read_secret, refuse_secrets_in_environment
from aeond.errors import InvalidInputError, RefusedError

HARMLESS = {
    "PATH": "/usr/bin", "HF_HOME": "/x", "OPENAI_BASE_URL": "u", "MY_TOKEN": "not a service of ours", "HF_TOKEN": "",
    "VLLM_NO_USAGE_STATS": "1", "TOKEN": "x", "SSH_AUTH_SOCK": "/s",
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "VLLM_API_KEY",
     "AEOND_HUB_PASSWORD", "ANTHROPIC_AUTH_TOKEN", "MISTRAL_CLIENT_SECRET", "openai_api_key"],
)  # fmt: skip
def test_a_secret_in_the_environment_is_refused(name: str) -> None:
    """A variable that would hold a secret is named, with what to do, and its value is not."""
    with pytest.raises(RefusedError, match=f"{name} in the environment.*LoadCredential=") as caught:
        refuse_secrets_in_environment({**HARMLESS, name: "value-7321"})
    assert caught.value.reason == "SECRET_IN_ENVIRONMENT"
    assert "7321" not in caught.value.message


def test_other_variables_are_ignored() -> None:
    """Empty, unknown and non-secret variables do not prevent a start."""
    refuse_secrets_in_environment(HARMLESS)


def test_a_credential_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A credential that systemd gave to the service is its line of text; an unknown one is asked for."""
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    (tmp_path / "hub").write_text("value-7321\n", encoding="utf-8")
    assert read_secret("hub", "") == "value-7321"
    for name in ("other", "../hub", "/etc/passwd"):
        with pytest.raises(RefusedError) as caught:
            read_secret(name, "")
        assert caught.value.reason == "SECRET_MISSING"
    monkeypatch.delenv("CREDENTIALS_DIRECTORY")
    with pytest.raises(RefusedError, match="add LoadCredential=hub:FILE to the unit"):
        read_secret("hub", "")


def test_nothing_named_is_no_secret() -> None:
    """Without a credential and a file there is no secret and no error."""
    assert read_secret("", "") == ""


@pytest.mark.parametrize(
    ("mode", "good"), [(0o600, True), (0o400, True), (0o640, False), (0o604, False), (0o644, False)]
)
def test_only_the_owner_may_read_a_secret_s_file(tmp_path: Path, mode: int, good: bool) -> None:
    """A file that others may read is refused and named."""
    file = tmp_path / "key"
    file.write_text("value-7321\n", encoding="utf-8")
    file.chmod(mode)
    if good:
        assert read_secret("", str(file)) == "value-7321"
        return
    with pytest.raises(RefusedError, match="chmod 0600") as caught:
        read_secret("", str(file))
    assert caught.value.reason == "SECRET_READABLE"
    assert "7321" not in caught.value.message


@pytest.mark.parametrize(("content", "reason"), [
    (b"", "SECRET_MISSING"), (b" \n", "SECRET_MISSING"), (b"a\nb", "SECRET_BROKEN"), (b"\xff\x00", "SECRET_BROKEN"),
    (b"a" * 70_000, "SECRET_BROKEN"),
])  # fmt: skip
def test_a_secret_must_be_one_line_of_text(tmp_path: Path, content: bytes, reason: str) -> None:
    """A secret that could not go into a header is refused before it is used."""
    file = tmp_path / "key"
    file.write_bytes(content)
    file.chmod(0o600)
    with pytest.raises(RefusedError) as caught:
        read_secret("", str(file))
    assert caught.value.reason == reason


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    """A file that is not there ends the start with its name."""
    with pytest.raises(RefusedError, match="key is missing"):
        read_secret("", str(tmp_path / "key"))


@pytest.mark.parametrize("kind", ["fifo", "folder"])
async def test_a_secret_must_be_a_regular_file(tmp_path: Path, kind: str) -> None:
    """A path that is not a regular file is rejected at once, without blocking on a FIFO."""
    place = tmp_path / "key"
    if kind == "fifo":
        os.mkfifo(place, 0o600)
    else:
        place.mkdir(mode=0o700)
    with (
        anyio.fail_after(60),
        pytest.raises(RefusedError, match="key is missing: it cannot be read") as caught,
    ):
        await anyio.to_thread.run_sync(read_secret, "", str(place), abandon_on_cancel=True)
    assert caught.value.reason == "SECRET_MISSING"


def test_keys_that_would_hold_secrets_are_known() -> None:
    """Keys that would contain secrets are distinguished from keys that refer to one."""
    assert all(
        map(looks_secret, ["api_key", "key", "token", "hub_token", "password", "client_secret", "apikey"])
    )
    variables = ["PGPASSWORD", "MYSQL_PWD", "DB_PASS", "GITHUB_PAT", "SSH_PASSPHRASE", "LDAP_PASSWD"]
    assert all(map(looks_secret, variables))
    assert not any(
        map(looks_secret, ["key_file", "hub_credential", "tokens", "context_tokens", "allow_users"])
    )
    harmless = [
        "PATH",
        "PWD",
        "OLDPWD",
        "PATTERN",
        "COMPASS",
        "NO_BYPASS",
        "PGPASSFILE",
        "KEYBOARD",
        "COMPAT",
    ]
    assert not any(
        map(looks_secret, [*harmless, "GOOGLE_APPLICATION_CREDENTIALS", "PYTHONPATH", "DATABASE_URL"])
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('hub_token = "value-7321"', "model.hub_token looks like a secret"),
        ('hub_url = "https://me:value-7321@hub.example"', "name and password"),
    ],
)
def test_a_secret_in_the_configuration_is_refused(tmp_path: Path, line: str, said: str) -> None:
    """A secret written into the file is refused with what to do in its place, and is not repeated."""
    file = tmp_path / "aeond.toml"
    file.write_text(f"[model]\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidInputError) as caught:
        load_config(file, required=True)
    assert said in caught.value.message
    assert "7321" not in caught.value.message
