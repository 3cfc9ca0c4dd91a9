"""Secrets of every kind are planted, runs fail in every way, and no secret is found where it does not belong."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from aeond_client.calls.run_calls import RunOptions
from aeond_client.client import Client
from aeond_client.errors import AeondError, InvalidInputError
from aeond_client.records.runs import Budget, Plan, PlanStep
from tests.support.daemon_process import DaemonProcess

VARIABLES = (
    "AWS_SECRET_ACCESS_KEY",
    "DATABASE_URL",
    "PGPASSWORD",
    "SMTP_PASS",
    "VAULT_ADDR",
    "MY_SESSION_COOKIE",
    "KUBE_BEARER",
    "PROXY_LOGIN",
)
CREDENTIALS = ("hub-token", "model-key", "signing-key", "backup", "mail", "proxy")
FILES = ("hub", "key")


def test_no_planted_secret_is_found(folder: Path) -> None:
    """Of twenty secrets in credentials, key files, the environment and broken configurations, none is in the state, the
    log, an event, a command line or an error after calls and runs that fail in every way, a kill and bad reloads."""
    secrets = [f"planted-{number:02d}-{os.urandom(8).hex()}" for number in range(20)]
    left = iter(secrets)
    places = [folder / "credentials" / name for name in CREDENTIALS]
    places += [folder / "home" / name for name in FILES]
    for place in places:
        place.parent.mkdir(exist_ok=True)
        place.write_text(next(left), encoding="utf-8")
        place.chmod(0o600)
    daemon = DaemonProcess(
        folder,
        {
            "remote": {"key_file": str(folder / "home" / "key")},
            "model": {"hub_token_file": str(folder / "home" / "hub")},
        },
    )
    daemon.environment = {name: next(left) for name in VARIABLES}
    daemon.environment["CREDENTIALS_DIRECTORY"] = str(folder / "credentials")
    ordinary = "planted in an ordinary file of the workspace"
    (folder / "note").write_text(ordinary, encoding="utf-8")
    heard: list[str] = []
    with daemon:
        for path in (*places, Path("/proc/self/environ"), Path(f"/proc/{daemon.pid}/environ")):
            heard += fail(daemon, folder, path)
        for text in (
            '[remote]\nkey = "{}"',
            '[remote]\nurl = "http://me:{}@host"',
            '[model]\ntoken = "{}"',
            'password = "{}"',
        ):
            heard.append(refused_reload(daemon, text.format(next(left))))
        heard += command_lines()
        daemon.restart()
        with Client(daemon.socket) as client:
            heard += [repr(run) for run in client.list_runs()]
            for run in client.list_runs():
                with client.watch(run.run_id) as events:
                    heard.append(repr(list(events)))
        assert next(left, None) is None
    assert any(ordinary in text for text in heard), "the search would find a secret"
    heard += [daemon.log, *(file.read_bytes().decode("latin-1") for file in stored(daemon.state_dir))]
    assert [(secret, text[:80]) for secret in secrets for text in heard if secret in text] == []


def fail(daemon: DaemonProcess, folder: Path, path: Path) -> Iterator[str]:
    """The replies to calls and to a run that try to read this file, and fail."""
    calls = [
        ("read_file", {"path": str(path)}),
        ("search_files", {"text": "planted"}),
        ("query_table", {"path": str(path)}),
        ("move_file", {"source": str(path), "destination": "mine"}),
        ("calculator", {"expression": f"{path}"}),
        ("no_such_tool", {"path": str(path)}),
    ]
    with Client(daemon.socket) as client:
        for tool, arguments in calls:
            try:
                yield repr(client.call_tool(tool, arguments, workspace=str(folder)))
            except AeondError as error:
                yield repr(error)
        steps = tuple(
            PlanStep(f"s{number}", "fails", tool=tool, arguments=arguments)
            for number, (tool, arguments) in enumerate(calls[:-1], start=1)
        )
        for plan in (Plan("fails", steps), None):
            with suppress(AeondError):
                options = RunOptions(plan=plan, budget=Budget(wall_seconds=20), workspace=str(folder))
                yield repr(client.run("Read the secrets.", options))


def refused_reload(daemon: DaemonProcess, text: str) -> str:
    """The replies about a configuration that has a secret in it."""
    daemon.config_file.write_text(f"{text}\n", encoding="utf-8")
    with Client(daemon.admin_socket) as client:
        try:
            return repr(client.reload_config())
        except InvalidInputError as error:
            return repr(error)


def command_lines() -> list[str]:
    """The arguments of every process."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            found.append((process / "cmdline").read_bytes().decode("latin-1"))
    return found


def stored(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*") if file.is_file())
