"""The gate: what is refused, what is connected to, and that nothing else is."""

import ssl
import tomllib
from pathlib import Path
from typing import Any

import pytest

from aeond.capabilities.egress.exchange import Request, fetch
from aeond.capabilities.egress.gate import Gate
from aeond.capabilities.egress.rules import EgressRules, server_rules
from aeond.capabilities.egress.urls import parse_url
from aeond.domain.tools import RecordedEffect, ignore_effect
from aeond.errors import ToolError
from tests.support.network import ScriptedNetwork, page

CASES = tomllib.loads(Path(__file__).with_name("corpus.toml").read_text(encoding="utf-8"))["cases"]


def gate_to(made: ScriptedNetwork, hosts: Any = ("*",), local: Any = ()) -> Gate:
    return Gate(EgressRules.of(hosts, local), resolve=made.resolve, dial=made.dial)


def test_the_corpus_is_large_enough() -> None:
    """The corpus has more than 80 cases, all different."""
    assert len({str(case) for case in CASES}) == len(CASES) > 80


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["url"])[:60])
async def test_the_corpus_is_decided(case: dict[str, Any]) -> None:
    """Each case is refused with its reason or answered, and no connection is opened besides those that it names, each recorded
    as an effect."""
    effects: list[RecordedEffect] = []
    moved = [page(b"", 302, f"Location: {place}") for place in case.get("location", ())]
    with ScriptedNetwork(case.get("answers", ()), [*moved, page()]) as made:
        gate = gate_to(made, case.get("hosts", ["*"]), case.get("local", []))
        refused = returned = ""
        try:
            response = await fetch(
                gate, Request("GET", parse_url(case["url"])), effects.append, max_bytes=100, seconds=30
            )
            returned = response.location
            assert response.content == (b"" if returned else b"hello")
        except ToolError as error:
            refused = error.reason
        assert (refused, returned) == (case.get("refused", ""), case.get("returned", ""))
        assert made.dials == case.get("dials", [])
        assert [effect.kind for effect in effects] == ["http.requested"] * len(made.dials)


async def test_a_name_is_resolved_once_for_each_connection() -> None:
    """The connection goes to the address of the only answer, and the server must prove the name, not the address."""
    with ScriptedNetwork([["93.184.215.14"], ["127.0.0.1"]], [page()]) as made:
        url = parse_url("https://example.org/")
        await fetch(gate_to(made), Request("GET", url), ignore_effect, max_bytes=100, seconds=30)
        assert (made.asked, made.names) == (["example.org"], [("example.org", True)])


async def test_a_host_that_is_not_allowed_is_not_resolved() -> None:
    """Names of hosts that the configuration does not allow reach no name server."""
    with ScriptedNetwork([["93.184.215.14"]]) as made:
        with pytest.raises(ToolError, match=r"does not allow secret\.example\.org:443") as caught:
            await gate_to(made, ["example.org"]).checked_addresses(parse_url("https://secret.example.org/"))
        assert (caught.value.reason, made.asked) == ("HOST_NOT_ALLOWED", [])


async def test_the_next_address_is_tried() -> None:
    """Of several addresses the first that accepts the connection is used; if none does, that is an error."""
    with ScriptedNetwork([["93.184.215.14", "93.184.215.15"]] * 2, [page()]) as made:
        down = {"93.184.215.14"}

        async def dial(address: str, port: int, context: ssl.SSLContext | None, name: str) -> Any:
            if address in down:
                raise ConnectionRefusedError("refused")
            return await made.dial(address, port, context, name)

        gate = Gate(EgressRules.of(["*"], []), resolve=made.resolve, dial=dial)
        request = Request("GET", parse_url("http://example.org/"))
        assert (
            await fetch(gate, request, ignore_effect, max_bytes=100, seconds=30)
        ).address == "93.184.215.15"
        down.add("93.184.215.15")
        with pytest.raises(ToolError, match="accepts no connection") as caught:
            await fetch(gate, request, ignore_effect, max_bytes=100, seconds=30)
        assert (caught.value.reason, caught.value.retryable) == ("CONNECTION_FAILED", True)


async def test_searches_reach_their_server_alone() -> None:
    """The rules for searches allow the configured server, also on this machine, and nothing else."""
    with ScriptedNetwork() as made:
        gate = Gate(
            server_rules("http://127.0.0.1:8888/search", local=True), resolve=made.resolve, dial=made.dial
        )
        assert await gate.checked_addresses(parse_url("http://127.0.0.1:8888/search?q=x")) == ("127.0.0.1",)
        for other in ("http://127.0.0.1:8889/", "http://example.org/"):
            with pytest.raises(ToolError) as caught:
                await gate.checked_addresses(parse_url(other))
            assert caught.value.reason == "HOST_NOT_ALLOWED"
