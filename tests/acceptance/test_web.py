"""The web in a real daemon: its page typed word by word, and requests that a policy allows, asks about or refuses."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aeond_client import Client, RunOptions
from aeond_client.errors import InvalidInputError
from aeond_client.events import ApprovalRequested, PolicyDecided, StepEnded
from aeond_client.records.runs import Plan, PlanStep
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.collecting import Collector
from tests.support.daemon_process import DaemonProcess, Overrides
from tests.support.network import page
from tests.support.newcomer import newcomer
from tests.support.site import serving
from tests.support.stages import planned
from tests.support.tutorial import WEB, blocks

HOURS = b"<title>Library</title><h1>Hours</h1><p>Open from <b>9 to 5</b>.</p>"
PLACES = ("127.0.0.1:8765", "127.0.0.1:8888")
ALLOWING = 'profile = "trusted-folder"\n[[allow]]\nname = "site"\nreason = "ours"\nclasses = ["net"]\nhosts = ["{}"]\n'

pytestmark = needs_bubblewrap


@pytest.fixture
def site() -> Iterator[str]:
    """A server with a page, and the interface of a search server."""
    found = {"results": [{"title": "Library", "url": "https://lib.example/", "content": "Hours"}]}
    answers = {
        "/hours.html": page(HOURS, 200, "Content-Type: text/html"),
        "/search": page(json.dumps(found).encode(), 200, "Content-Type: application/json"),
    }
    with serving(answers) as address:
        yield address


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "daemon"
    made.mkdir()
    return made


def fetching(address: str, tool: str = "fetch_url", **more: Any) -> RunOptions:
    arguments = {"url": f"http://{address}/hours.html", **more}
    return RunOptions(plan=Plan("read", (PlanStep("s1", tool=tool, arguments=arguments),)))


def test_an_allowed_page_is_read_and_recorded(folder: Path, site: str) -> None:
    """A policy that names the host lets a run read the page; the journal has the decision, the host that taints the run, and
    the request."""
    policy = folder / "own.toml"
    policy.write_text(ALLOWING.format(site), encoding="utf-8")
    settings: Overrides = {"egress": {"local": [site]}, "policy": {"file": str(policy)}}
    daemon = DaemonProcess(folder, settings).start()
    try:
        with Client(daemon.address) as client:
            run = client.create_run("read", fetching(site))
            kinds = [event.kind for event in client.watch(run.run_id)]
    finally:
        daemon.kill()
    (decided,) = [kind for kind in kinds if isinstance(kind, PolicyDecided)]
    (ended,) = [kind for kind in kinds if isinstance(kind, StepEnded)]
    assert (decided.rule, site in str(decided)) == ("site", True)
    assert "Open from 9 to 5." in str(ended.output)
    assert [(effect.kind, effect.target) for effect in ended.effects] == [
        ("http.requested", f"http://{site}/hours.html")
    ]


@pytest.mark.parametrize("approved", [True, False])
def test_an_approval_shows_host_and_address(folder: Path, site: str, approved: bool) -> None:
    """Under the profile that asks, a person sees host and address before anything is sent, and decides."""
    settings: Overrides = {"egress": {"local": [site]}, "policy": {"profile": "ask"}}
    daemon = DaemonProcess(folder, settings).start()
    try:
        with Client(daemon.address) as client:
            run = client.create_run("send", fetching(site, "http_request", method="GET"))
            with Collector(daemon.address, run.run_id) as seen:
                seen.wait_for(ApprovalRequested)
                (approval,) = client.get_run(run.run_id).approvals
                shown = approval.previews[0].host
                assert (approval.hosts, shown) == ((site,), f"{site} (GET http://{site}/hours.html)")
                assert approval.calls[0].arguments["url"] == f"http://{site}/hours.html"
                client.decide_approval(run.run_id, approval.approval_id, approval.digest, approved)
                seen.wait_for_end()
            (step,) = client.get_run(run.run_id).steps
    finally:
        daemon.kill()
    assert ("9 to 5" in str(step.output), step.reason) == (approved, "" if approved else "APPROVAL_DENIED")


def test_there_are_no_such_tools_by_default(folder: Path) -> None:
    """Without hosts in the configuration the tools do not exist."""
    daemon = DaemonProcess(folder).start()
    try:
        with Client(daemon.address) as client:
            names = {tool.name for tool in client.list_tools()}
    finally:
        daemon.kill()
    assert names.isdisjoint({"fetch_url", "http_request", "web_search"})


def test_a_host_comes_and_goes_with_a_reload(folder: Path, site: str) -> None:
    """A host that is removed from the configuration is refused after the reload, one that is added is allowed, and an entry
    that is no host changes nothing; the tools exist only while there is a host."""
    policy = folder / "own.toml"
    policy.write_text(ALLOWING.format(site), encoding="utf-8")
    daemon = DaemonProcess(folder, {"egress": {"local": [site]}, "policy": {"file": str(policy)}}).start()
    configured = daemon.config_file.read_text(encoding="utf-8")
    try:
        with Client(daemon.address) as client, Client(daemon.admin_socket) as admin:

            def reloaded(local: list[str]) -> set[str]:
                daemon.config_file.write_text(
                    configured.replace(json.dumps([site]), json.dumps(local)), encoding="utf-8"
                )
                admin.reload_config()
                return {tool.name for tool in client.list_tools()}

            def reason() -> str:
                run = client.create_run("read", fetching(site, "http_request", method="GET"))
                list(client.watch(run.run_id))
                return client.get_run(run.run_id).steps[0].reason

            assert reason() == ""
            assert "http_request" in reloaded(["127.0.0.1:9"])
            assert reason() == "HOST_NOT_ALLOWED"
            with pytest.raises(InvalidInputError, match=r"egress\.local"):
                reloaded(["http://x"])
            assert reason() == "HOST_NOT_ALLOWED"
            assert "http_request" not in reloaded([])
            assert "http_request" in reloaded([site])
            assert reason() == ""
    finally:
        daemon.kill()


def test_a_wrong_host_prevents_the_start(folder: Path) -> None:
    """An entry that is no host is an error at the start that names it."""
    with pytest.raises(AssertionError, match=r"egress\.hosts: 'http://x' has "):
        DaemonProcess(folder, {"egress": {"hosts": ["http://x"]}}).start()


@pytest.mark.slow
def test_the_page_about_the_web_is_right(site: str) -> None:
    """Every command of the page succeeds and prints what the page shows; the servers are the test's."""
    arguments = {"url": f"http://{site}/hours.html"}
    script = {
        "rules": [
            {"contains": "reply only: @tools", "text": "@tools"},
            planned("When is the library open", {"tool": "fetch_url", "arguments": arguments}),
            {"text": "From 9 to 5."},
        ]
    }

    def here(text: str) -> str:
        for place in PLACES:
            text = text.replace(place, site)
        return text

    printed = [""]
    with newcomer(script) as (first, second):
        for block in blocks(WEB):
            match block.language, block.place:
                case "sh", "terminal-1":
                    first.type(block.text)
                case "sh", "terminal-2":
                    printed.append(second.type(here(block.text)))
                case "sh", "terminal-3":
                    assert block.text.startswith("python3 -m http.server --bind 127.0.0.1 ")
                case _:
                    assert (block.language, printed[-1]) == ("text", here(block.text))
    everything = "".join(printed)
    assert "tools: fetch_url, http_request, web_search" in everything
    assert "From 9 to 5." in everything
    assert "library" in printed[-2]
