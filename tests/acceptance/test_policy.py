"""The policy of a real daemon: a denial in a run, a reload that fails, and aeonctl policy."""

from pathlib import Path

import pytest

from aeond_client import Client, RunOptions
from aeond_client.errors import InvalidInputError
from aeond_client.events import PolicyDecided, StepEnded
from aeond_client.records.runs import Plan, PlanStep
from tests.support.daemon_process import DaemonProcess

WRITE = PlanStep("s1", tool="write_file", arguments={"path": "a.txt", "content": "x"})
DENYING = """profile = "trusted-folder"
[[deny]]
name = "no-files"
reason = "files are kept by hand"
tools = ["write_file"]
"""


def verdicts(client: Client, workspace: Path) -> list[tuple[str, str, str]]:
    """The decisions in a run that writes a file: verdict, rule, and the reason of the step's end."""
    run = client.create_run("write", RunOptions(plan=Plan("write", (WRITE,)), workspace=str(workspace)))
    kinds = [event.kind for event in client.watch(run.run_id)]
    reasons = [kind.reason for kind in kinds if isinstance(kind, StepEnded)]
    decided = [kind for kind in kinds if isinstance(kind, PolicyDecided)]
    return [(kind.verdict, kind.rule, reason) for kind, reason in zip(decided, reasons, strict=True)]


def test_a_policy_is_replaced_and_never_lost(tmp_path: Path) -> None:
    """A file may deny; a file that was emptied or removed leaves the old policy in force."""
    policy = tmp_path / "policy.toml"
    policy.write_text(DENYING)
    workspace = tmp_path / "work"
    workspace.mkdir()
    daemon = DaemonProcess(tmp_path / "daemon", {"policy": {"file": str(policy)}})
    daemon.folder.mkdir()
    daemon.start()
    try:
        with Client(daemon.address) as client, Client(daemon.admin_socket) as admin:
            denied = [("deny", "no-files", "POLICY_DENIED")]
            assert verdicts(client, workspace) == denied
            version = client.get_policy().version
            for broken in ("", "profile = ", 'profile = "all"', None):
                policy.unlink() if broken is None else policy.write_text(broken)
                with pytest.raises(InvalidInputError):
                    admin.reload_config()
                assert client.get_policy().version == version
                assert verdicts(client, workspace) == denied
            policy.write_text('profile = "trusted-folder"\n')
            admin.reload_config()
            assert verdicts(client, workspace) == [("allow", "trusted-folder.work", "")]
            assert (workspace / "a.txt").read_text() == "x"
            tested = client.test_policy(
                "write_file", WRITE.arguments, workspace=str(workspace), taint=("host:a:1",)
            )
            assert (tested.decision.verdict, tested.decision.rule) == ("ask", "builtin.tainted-change")
        assert "POLICY_INVALID" in daemon.log or "is not a usable policy" in daemon.log
    finally:
        daemon.kill()


def test_a_daemon_does_not_start_without_its_policy(tmp_path: Path) -> None:
    """A policy file that is missing at a start is an error that names it."""
    daemon = DaemonProcess(tmp_path, {"policy": {"file": str(tmp_path / "none.toml")}})
    with pytest.raises(AssertionError, match="is not a usable policy"):
        daemon.start()
