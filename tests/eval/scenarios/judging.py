"""The sets of scenarios: each scenario through a daemon that may use programs, git, documents and web pages."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from tests.eval.everyday import worked
from tests.eval.scenarios.scenario import Scenario, lacking, read_scenarios
from tests.eval.subjects import Subject
from tests.eval.verdicts import OnVerdict, Terms, Verdict

HANDS: Final = (
    *("run_command", "run_python", "read_document", "git_status", "git_diff", "git_commit"),
    *("fetch_url", "aider", "apply_changes"),
)
LEAST_RUN_SECONDS: Final = 1_800.0  # on a busy machine a run is slow, and not wrong


async def judge_scenarios(place: Path, subject: Subject, terms: Terms, on_verdict: OnVerdict) -> None:
    """Every scenario of a file or a folder that the terms leave, one after the other."""
    tools = subject.config.tools.model_copy(update={"hands": HANDS})
    equipped = replace(subject, config=subject.config.model_copy(update={"tools": tools}))
    patient = replace(terms, wall_seconds=max(terms.wall_seconds, LEAST_RUN_SECONDS))
    for one in terms.sample(
        [s for s in read_scenarios(place) if terms.admit(s.says, held=False, group=s.group)]
    ):
        on_verdict(await judged(equipped, one, patient))


async def judged(subject: Subject, scenario: Scenario, terms: Terms) -> Verdict:
    """The outcome of one scenario."""
    with served(scenario.pages) as site:
        local = (site.removeprefix("http://"),) if scenario.pages else ()
        egress = subject.config.egress.model_copy(update={"local": local})
        reaching = replace(subject, config=subject.config.model_copy(update={"egress": egress}))
        return await worked(reaching, scenario.placed(site), terms, partial(lacking, scenario))


@contextmanager
def served(pages: Mapping[str, str]) -> Iterator[str]:
    """A web server on a free port of the loopback interface that has these pages; yields its address."""

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.get(self.path)
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write((body or "there is no such page").encode())

        def log_message(self, *_: object) -> None:
            """Requests are not written to the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
