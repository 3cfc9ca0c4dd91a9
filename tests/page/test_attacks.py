"""Attacks on the page: other sites, other ports, other programs, and hostile text."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from aeon_web.access import KEY_HEADER, Access
from aeond_client.events import (
    AnswerComposed,
    ApprovalRequested,
    EventKind,
    InputRequested,
    PlanAdopted,
    RunCreated,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
)
from aeond_client.records.judgements import ApprovalRequest, CallPreview, Question
from aeond_client.records.runs import Answer, Plan, PlanStep, RunState, StepState
from aeond_client.records.tools import RecordedEffect, ToolCall
from tests.page.conftest import Tab
from tests.support.browser import DEADLINE_SECONDS, FOREIGN_HOST
from tests.support.page_states import StatesClient

Headers = Mapping[str, str]

HOSTILE = (
    "<img src=x onerror=hacked()><script>hacked()</script>",
    "<svg onload=hacked()>",
    "[click](javascript:hacked())",
    "`<b onmouseover=hacked()>`**<i>**",
    "\u202egnp.exe\u200b\x1b[2J",
)


def port_of(access: Access) -> int:
    return int(access.origin.rpartition(":")[2])


def send(
    access: Access, method: str, path: str, headers: Headers, body: str = ""
) -> tuple[int, Headers, bytes]:
    """One request of a program: status, headers and body of the response."""
    connection = http.client.HTTPConnection("127.0.0.1", port_of(access), timeout=DEADLINE_SECONDS)
    try:
        connection.request(method, path, body, dict(headers))
        reply = connection.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read()
    finally:
        connection.close()


def page_headers(access: Access) -> dict[str, str]:
    """The headers of the page itself, with the secrets of a new session."""
    plain = {"origin": access.origin, "content-type": "application/json"}
    token = json.dumps({"token": access.new_link().rpartition("=")[2]})
    status, headers, body = send(access, "POST", "/api/begin", plain, token)
    assert status == 200
    cookie = headers["set-cookie"].partition(";")[0]
    return {**plain, "cookie": cookie, KEY_HEADER: json.loads(body)["key"]}


def test_a_session_may_call(pictured: Access) -> None:
    """A request with the origin, the cookie and the key of a session is answered."""
    status, headers, _ = send(pictured, "POST", "/api/get_status", page_headers(pictured), "{}")
    assert (status, headers["cache-control"]) == (200, "no-store")


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "evil.example:80"}, 421),
        ({"host": "localhost:{port}"}, 421),
        ({"host": "127.0.0.1"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"origin": "http://localhost:{port}"}, 403),
        ({"origin": ""}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"cookie": ""}, 401),
        ({"cookie": "aeon-{port}-0=guess"}, 401),
        ({"cookie": 'x="\\'}, 401),
        ({KEY_HEADER: ""}, 401),
        ({KEY_HEADER: "guess"}, 401),
        ({KEY_HEADER: "\xe9"}, 401),
    ],
)
def test_a_request_that_the_page_would_not_make_is_refused(
    pictured: Access, states: StatesClient, change: dict[str, str], status: int
) -> None:
    """Another name of the host, another origin, or a missing secret: refused, and no call is made."""
    port = str(port_of(pictured))
    headers = {
        **page_headers(pictured),
        **{name: value.replace("{port}", port) for name, value in change.items()},
    }
    assert send(pictured, "POST", "/api/create_run", headers, '{"text": "x"}')[0] == status
    assert states.calls == []


def test_the_secrets_of_two_sessions_do_not_mix(pictured: Access) -> None:
    """The cookie of one session with the key of another is no session."""
    one, other = page_headers(pictured), page_headers(pictured)
    mixed = {**one, KEY_HEADER: other[KEY_HEADER]}
    assert send(pictured, "POST", "/api/get_status", mixed, "{}")[0] == 401


def test_a_link_works_once(pictured: Access) -> None:
    """A token that was exchanged, a wrong one and none begin no session."""
    plain = {"origin": pictured.origin, "content-type": "application/json"}
    token = pictured.new_link().rpartition("=")[2]
    wanted = [token, token, "guess", ""]
    found = [send(pictured, "POST", "/api/begin", plain, json.dumps({"token": one}))[0] for one in wanted]
    assert found == [200, 401, 401, 401]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/get_status", 403),
        ("OPTIONS", "/api/get_status", 403),
        ("POST", "/", 405),
        ("POST", "/api/delete_everything", 404),
        ("POST", "/api/__class__", 404),
        ("GET", "/../server.py", 404),
        ("GET", "/%2e%2e/server.py", 404),
        ("GET", "//evil.example/", 404),
        ("GET", "http://evil.example/", 400),
    ],
)
def test_other_paths_and_methods_lead_nowhere(pictured: Access, method: str, path: str, status: int) -> None:
    """Only the files of the page and its own calls exist."""
    assert send(pictured, method, path, page_headers(pictured), "{}")[0] == status


@pytest.mark.parametrize(
    "body", ["", "[]", "null", "{", "[" * 100_000, '{"text": 1}', '{"session_id": null}']
)
def test_malformed_arguments_are_refused(pictured: Access, states: StatesClient, body: str) -> None:
    """Arguments of another form are refused with a reason, and no call is made."""
    status, _, reply = send(pictured, "POST", "/api/create_run", page_headers(pictured), body)
    assert (status, json.loads(reply)["reason"]) in {(400, "INVALID_JSON"), (400, "INVALID_ARGUMENTS")}
    assert states.calls == []


def test_large_requests_are_refused(pictured: Access) -> None:
    """A body of more than 1 MiB and headers of more than 16 KiB are refused without being read whole."""
    headers = page_headers(pictured)
    assert send(pictured, "POST", "/api/create_run", headers, "x" * (1 << 20) + "x")[0] == 413
    assert send(pictured, "GET", "/", {"x-large": "x" * (32 << 10)})[0] == 431


def test_connections_of_other_users_do_not_block_the_user(pictured: Access) -> None:
    """Another user of the machine who holds all 64 connections, and opens more, neither ends that of the page nor keeps the
    page from opening others.
    """
    headers = page_headers(pictured)
    mine = http.client.HTTPConnection("127.0.0.1", port_of(pictured), timeout=DEADLINE_SECONDS)
    mine.request("POST", "/api/get_status", "{}", headers)
    assert mine.getresponse().read()
    held = [socket.create_connection(("127.0.0.1", port_of(pictured))) for _ in range(80)]
    assert send(pictured, "POST", "/api/get_status", headers, "{}")[0] == 200
    mine.request("POST", "/api/get_status", "{}", headers)
    assert mine.getresponse().status == 200
    mine.close()
    for connection in held:
        connection.close()


def test_everything_is_sent_with_the_strict_headers(pictured: Access) -> None:
    """The page and its errors forbid inline code, other hosts, frames and markup made from text."""
    for path in ("/", "/app.js", "/missing"):
        _, headers, _ = send(pictured, "GET", path, {})
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "frame-ancestors 'none'" in policy
        assert "trusted-types 'none'" in policy
        assert "unsafe" not in policy
        assert (headers["x-frame-options"], headers["referrer-policy"]) == ("DENY", "no-referrer")


@contextmanager
def other_site(body: str) -> Iterator[tuple[str, list[Headers]]]:
    """A web server on another port, its address and the headers of the requests that it received."""
    received: list[Headers] = []

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            received.append(dict(self.headers))
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            return

    with HTTPServer(("127.0.0.1", 0), Site) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", received
        finally:
            server.shutdown()
            thread.join(DEADLINE_SECONDS)


TRY = """async (origin) => {
  const tries = [
    { method: "POST", mode: "no-cors", credentials: "include", body: "{}" },
    { method: "POST", credentials: "include", headers: { "content-type": "application/json" }, body: "{}" },
    { method: "GET", credentials: "include" },
  ];
  const found = [];
  for (const one of tries) found.push(await fetch(`${origin}/api/create_run`, one).then((reply) => reply.type, () => "blocked"));
  return found;
}"""


def test_another_site_in_the_same_browser_can_do_nothing(
    pictured: Access, states: StatesClient, tab: Tab
) -> None:
    """A page of another port of the host neither calls, nor frames the page, nor receives the cookie or the key."""
    page = tab(pictured.new_link())
    page.get_by_text("aeond ").wait_for()
    frame = f'<iframe src="{pictured.origin}/"></iframe>'
    with other_site(f"<!doctype html>{frame}") as (address, received):
        other = page.context.new_page()
        other.goto(address)
        assert other.evaluate(TRY, pictured.origin) == ["blocked", "blocked", "blocked"]
        assert other.frames[1].locator(".panel").count() == 0
        assert other.evaluate("sessionStorage.length") == 0
        other.close()
    assert states.calls == []
    assert received
    assert all("Cookie" not in headers and KEY_HEADER not in headers for headers in received)


# The statuses of a call, of the page, and of the exchange of a link's token, all of the same origin as who asks.
ASK = """async (token) => {
  const post = (body) => ({ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const tries = [["/api/get_status", post({})], ["/", {}], ["/api/begin", post({ token })]];
  return Promise.all(tries.map(([path, one]) => fetch(path, one).then((reply) => reply.status)));
}"""


def test_a_page_under_a_foreign_name_of_this_machine_can_do_nothing(
    pictured: Access, states: StatesClient, tab: Tab
) -> None:
    """A page of another site whose name was rebound to the loopback address gets nothing from the server but an error, not
    even for the token of a link, which stays valid.
    """
    foreign = f"http://{FOREIGN_HOST}:{port_of(pictured)}"
    link = pictured.new_link()
    # Without the rules that come with the error, as if the page had come from the other site before its name was rebound.
    page = tab(foreign, bypass_csp=True)
    assert page.evaluate("location.origin") == foreign
    assert (page.locator("body").inner_text().count("WRONG_HOST"), page.locator("script").count()) == (1, 0)
    assert page.evaluate(ASK, link.rpartition("=")[2]) == [421, 421, 421]
    assert states.calls == []
    page.goto(link)
    page.get_by_text("aeond ").wait_for()


def test_the_token_leaves_the_address_and_the_history(pictured: Access, tab: Tab) -> None:
    """Once the page is open, neither its address nor an earlier one of the tab has the token, and scripts see no cookie."""
    page = tab(pictured.new_link())
    page.get_by_text("aeond ").wait_for()
    assert page.url == f"{pictured.origin}/"
    assert page.evaluate("document.cookie") == ""
    page.reload()
    page.get_by_text("aeond ").wait_for()


def test_a_second_use_of_the_link_is_explained(pictured: Access, tab: Tab) -> None:
    """A link that another browser has used shows no run, and says how to get a new one."""
    link = pictured.new_link()
    tab(link).get_by_text("aeond ").wait_for()
    late = tab(link)
    late.get_by_text("This link was used already").wait_for()
    assert late.locator("textarea").count() == 1


def test_text_of_runs_stays_text(pictured: Access, states: StatesClient, tab: Tab) -> None:
    """Markup in requests, plans, results, diffs, questions and answers is shown as it is and never becomes an element."""
    evil = " ".join(HOSTILE)
    step = PlanStep("s1", evil, evil, {evil: evil})
    preview = CallPreview(diff=f"--- a\n+++ b\n-{evil}\n+{evil}\n", target=evil, problem=evil)
    approval = ApprovalRequest("a1", ("s1",), (ToolCall(evil, {evil: evil}),), "d", evil, previews=(preview,), folders=(evil,), scopes=("once",))  # fmt: skip
    begun: list[EventKind] = [
        RunCreated(evil),
        RunStarted(),
        PlanAdopted(Plan("", (step, PlanStep("s2", evil)))),
    ]
    ended = StepEnded(
        "s1", StepState.FAILED, output=evil, error=evil, effects=(RecordedEffect(evil, evil, evil),)
    )
    answer = AnswerComposed(
        Answer(
            f"# {evil}\n\n| {evil} |\n| --- |\n| {evil} |\n\n- {evil}\n\n```\n{evil}\n```\n", notes=(evil,)
        )
    )
    states.kinds = {
        "approval": [*begun, StepStarted(step), ApprovalRequested(approval, "s1")],
        "question": [*begun, StepStarted(step), InputRequested(Question("q1", "s1", evil, options=(evil,)))],
        "done": [*begun, StepStarted(step), ended, answer, RunEnded(RunState.SUCCEEDED)],
    }
    page = tab("about:blank")
    page.add_init_script("window.hacks = 0; window.hacked = () => { window.hacks += 1; }")
    page.goto(pictured.new_link())
    for run in states.kinds:
        page.evaluate("run => { location.hash = `run=${run}` }", run)
        page.locator("header h2").get_by_text("onerror").wait_for()
        page.locator(".badge").wait_for()
        found = page.evaluate("document.querySelectorAll('#app :is(img, script, iframe, a, b, i)').length")
        text = page.locator("#app").inner_text()
        assert (found, "<svg onload=hacked()>" in text) == (0, True)
        assert "\u202e" not in text
        assert "\\u202e" in text
    assert page.evaluate("hacks") == 0


def test_markup_cannot_be_made_from_text(pictured: Access, tab: Tab) -> None:
    """Even a mistake in the page's own code could not turn text into markup: the browser refuses it."""
    page = tab(pictured.new_link())
    refused: Any = page.evaluate(
        "() => { try { document.body.innerHTML = '<b>x</b>'; return false; } catch { return true; } }"
    )
    assert refused is True
