"""Looking for what keeps the daemon from working."""

import json
import os
import pwd
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from aeond.daemon.commands import doctor
from aeond.daemon.commands.findings import Finding, Verdict
from aeond.daemon.config.network_sections import EgressSection, McpSection
from aeond.daemon.config.paths import Paths
from aeond.daemon.config.schema import Config, SandboxKind, ToolsSection
from aeond.daemon.exits import Exit
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.outsiders import as_outsider, open_folder


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    file, state, address, models, private = (
        tmp_path / name for name in ("aeond.toml", "state", "aeond.sock", "models", "private")
    )
    return Paths(file, state, address, models, private)


def test_this_environment_has_what_the_daemon_needs() -> None:
    """Every package that the daemon asks for is found where it is installed."""
    assert doctor.packages().verdict is Verdict.GOOD


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing package is reported by name, with the command that installs it."""
    monkeypatch.setattr(
        doctor, "requires", lambda _: ["no-such-thing>=1; extra == 'daemon'", "other; extra == 'cli'"]
    )
    finding = doctor.packages()
    assert (finding.verdict, finding.found) == (Verdict.BAD, "missing: no-such-thing")
    assert "pip install" in finding.advice


def test_the_last_line_counts_problems_and_names_the_user() -> None:
    """Problems and drawbacks are counted, with the user whose rights they depend on."""
    good, doubtful, bad = (Finding("x", verdict, "x") for verdict in Verdict)
    name = pwd.getpwuid(os.geteuid()).pw_name
    assert doctor.summary([good]).startswith(f"no problem, with the rights of user {name}: ")
    assert doctor.summary([good, doubtful, bad, bad]).startswith("2 problems, 1 drawback (hmm), ")


def test_looking_makes_nothing(paths: Paths) -> None:
    """A look leaves no folder and no file behind."""
    before = sorted(paths.state_dir.parent.iterdir())
    assert doctor.state_folder(paths).verdict is Verdict.GOOD
    doctor.disk(paths)
    list(doctor.stored(Config(), paths))
    assert sorted(paths.state_dir.parent.iterdir()) == before


def test_a_template_or_tool_file_that_keeps_the_daemon_from_starting_is_reported(
    paths: Paths, tmp_path: Path
) -> None:
    """Invalid templates and tool files are found without executing anything."""
    (folder := tmp_path / "templates").mkdir()
    (folder / "poem.toml").write_text('hint = ["a poem"]')
    sections: tuple[dict[str, list[str]], ...] = ({"templates": [str(folder)]}, {"files": ["/nope.py"]}, {})
    found = []
    for section in sections:
        config = Config.model_validate({"tools": section, "model": {"engine": "scripted", "script": "/x"}})
        found += [finding for finding in doctor.stored(config, paths) if finding.subject == "tools"]
    assert [finding.verdict for finding in found] == [Verdict.BAD, Verdict.BAD, Verdict.GOOD]
    assert f"{folder / 'poem.toml'}: hint: unknown key 'hint'" in found[0].found
    assert "/nope.py" in found[1].found


def test_a_state_folder_that_is_a_file_is_bad(paths: Paths) -> None:
    """A file in place of the state folder is reported."""
    paths.state_dir.write_text("")
    assert doctor.state_folder(paths).verdict is Verdict.BAD


def test_more_threads_than_cores_are_doubtful() -> None:
    """A thread count above the number of cores is reported with a suitable value."""
    finding = doctor.cores(Config.model_validate({"model": {"threads": 1000}}))
    assert finding.verdict is Verdict.DOUBTFUL
    assert "model.threads" in finding.advice


def test_the_socket_is_looked_at(paths: Paths) -> None:
    """A free path, a listening daemon and a stale socket are distinguished."""
    assert "is free" in doctor.listening(paths).found
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(paths.socket))
        listener.listen()
        assert "a daemon is listening" in doctor.listening(paths).found
    assert "left over from an earlier daemon" in doctor.listening(paths).found


def test_a_model_that_is_not_there_is_no_disaster(paths: Paths) -> None:
    """A daemon without its model starts and gets it: doubtful, not bad."""
    (finding,) = [f for f in doctor.stored(Config(), paths) if f.subject == "model"]
    assert finding.verdict is Verdict.DOUBTFUL


def test_a_damaged_journal_is_bad(paths: Paths) -> None:
    """A journal that a start would reject is reported."""
    paths.state_dir.mkdir()
    paths.journal.write_bytes(b"no journal at all" * 100)
    (finding,) = [f for f in doctor.stored(Config(), paths) if f.subject == "journal"]
    assert finding.verdict is Verdict.BAD
    assert "backup" in finding.advice


def test_a_wrong_configuration_ends_the_look(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistake in the configuration is what the doctor talks about, as a program can read it."""
    file = tmp_path / "aeond.toml"
    file.write_text("[log]\nlevel = 'loud'\n")
    assert doctor.examine(file, as_json=True) is Exit.PROBLEM
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert findings[-1]["subject"] == "configuration"
    assert "log.level" in findings[-1]["found"]


def test_a_state_folder_of_another_user_s_is_bad_and_no_end_of_the_look() -> None:
    """Where the folder cannot even be looked into all findings are made, and those about it are bad."""
    with open_folder() as home:
        state = home / "other" / "state"
        state.mkdir(parents=True)
        paths = Paths(home / "aeond.toml", state, home / "aeond.sock", home / "models", home)
        stored = dict.fromkeys(
            ("journal", "memory", "sessions", "undo log", "tools", "policy", "model"), Verdict.GOOD
        )
        with as_outsider(home / "other"):
            assert doctor.state_folder(paths).verdict is Verdict.BAD
            assert doctor.disk(paths).subject == "disk"
            stored |= {finding.subject: finding.verdict for finding in doctor.stored(Config(), paths)}
        assert stored == {
            **dict.fromkeys(("journal", "memory", "sessions", "undo log"), Verdict.BAD),
            "tools": Verdict.GOOD,
            "policy": Verdict.GOOD,
            "model": Verdict.DOUBTFUL,
            "embedding": Verdict.DOUBTFUL,
        }


@needs_bubblewrap
def test_each_mcp_server_is_started_for_a_short_time(paths: Paths) -> None:
    """A server that ends at once is reported with its last words; without servers nothing is looked at."""
    program = McpSection(command=sys.executable, args=("-c", "raise SystemExit('out of order')"))
    (finding,) = doctor.mcp_servers(Config(mcp={"broken": program}), paths)
    assert (finding.subject, finding.verdict) == ("mcp: broken", Verdict.DOUBTFUL)
    assert "out of order" in finding.found
    assert "[mcp.broken]" in finding.advice
    assert list(doctor.mcp_servers(Config(), paths)) == []


AS_INSTALLED = """LoadState=loaded
StateDirectory=aeond
RestrictNamespaces=yes
RestrictAddressFamilies=AF_UNIX
SystemCallFilter=read write
ProcSubset=pid
ProtectKernelTunables=yes
PrivateNetwork=yes
"""
RELAXED = """LoadState=loaded
StateDirectory=aeond
RestrictNamespaces=no
RestrictAddressFamilies=AF_INET AF_NETLINK AF_UNIX
SystemCallFilter=mount read write
ProcSubset=all
ProtectKernelTunables=no
PrivateNetwork=yes
"""
MCP = {
    "notes": McpSection(command="/usr/bin/true"),
    "far": McpSection(url="https://mcp.example.org/"),
}


def answering(folder: Path, answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a systemctl on the path that answers with this."""
    (folder / "answer").write_text(answer, encoding="utf-8")
    tool = folder / "systemctl"
    tool.write_text(
        f'#!/bin/sh\nwhile read -r line; do echo "$line"; done < {folder}/answer\n', encoding="utf-8"
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def served_at_home(paths: Paths, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Config, Paths]:
    """A configuration with MCP servers and the paths of the system's service, whose unit is as installed."""
    answering(folder, AS_INSTALLED, monkeypatch)
    state = Path("/var/lib/aeond")
    return Config(mcp=MCP), replace(paths, state_dir=state, aider_environment=folder / "none")


def test_settings_of_the_service_that_keep_servers_from_working_are_named(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the system's service forbids to a configured server is named, with the drop-in that allows it."""
    config, at_home = served_at_home(paths, tmp_path, monkeypatch)
    local, far = doctor.service_limits(config, at_home)
    assert (local.subject, local.verdict, far.verdict) == (
        "aeond.service",
        Verdict.DOUBTFUL,
        Verdict.DOUBTFUL,
    )
    assert local.found == (
        "forbids what MCP server notes needs: RestrictNamespaces, RestrictAddressFamilies, SystemCallFilter,"
        " ProcSubset, ProtectKernelTunables"
    )
    assert "with-programs.conf" in local.advice
    assert far.found == "forbids what MCP server far needs: PrivateNetwork, RestrictAddressFamilies"
    assert "with-network.conf" in far.advice
    answering(tmp_path, RELAXED, monkeypatch)
    local, far = doctor.service_limits(config, at_home)
    assert (local.verdict, far.found) == (Verdict.GOOD, "forbids what MCP server far needs: PrivateNetwork")


def test_a_service_that_is_not_this_daemon_is_no_finding(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is said of a service with another state folder, without systemd, and without a server or Aider."""
    config, at_home = served_at_home(paths, tmp_path, monkeypatch)
    assert list(doctor.service_limits(config, paths)) == []
    assert list(doctor.service_limits(Config(), at_home)) == []
    (tmp_path / "systemctl").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    assert list(doctor.service_limits(config, at_home)) == []


def test_tools_of_the_web_are_named_with_the_reasons_of_those_missing(paths: Paths) -> None:
    """Without a configuration no tool uses the web; without a sandbox no page is read; a wrong host is an error."""
    nothing = doctor.web(Config(), paths)
    assert (nothing.verdict, nothing.found) == (Verdict.GOOD, "no tool uses the web")
    assert "egress.search_url is empty" in nothing.advice
    egress = EgressSection(hosts=("example.org",), search_url="http://127.0.0.1:8888/search")
    apart = doctor.web(Config(egress=egress, tools=ToolsSection(sandbox=SandboxKind.NONE)), paths)
    assert (apart.verdict, apart.found) == (Verdict.DOUBTFUL, "tools: http_request, web_search")
    assert "tools.sandbox is none" in apart.advice
    wrong = doctor.web(Config(egress=EgressSection(local=("127.0.0.1",))), paths)
    assert (wrong.verdict, "'127.0.0.1' has no port" in wrong.found) == (Verdict.BAD, True)
