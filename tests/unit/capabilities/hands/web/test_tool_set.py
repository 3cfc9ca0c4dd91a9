"""Which tools of the web there are."""

from pathlib import Path

from aeond.capabilities.egress.gate import Gate
from aeond.capabilities.egress.rules import EgressRules
from aeond.capabilities.hands.web.tool_set import web_tools
from aeond.capabilities.hands.workshop import Workshop
from tests.support.hands import Hands

ENDPOINT = "http://127.0.0.1:1/search"


def test_each_tool_needs_its_parts(tmp_path: Path) -> None:
    """Requests need a gate, pages a sandbox besides, searches their own gate; models see those that are named."""
    gate, workshop = Gate(EgressRules()), Hands(tmp_path).workshop

    def names(requests: Gate | None, search: Gate | None, endpoint: str, shop: Workshop | None) -> list[str]:
        return [tool.spec.name for tool in web_tools(requests, search, endpoint, shop, ["fetch_url"])]

    assert names(None, None, "", workshop) == []
    assert names(gate, None, "", None) == ["http_request"]
    assert names(gate, None, "", workshop) == ["http_request", "fetch_url"]
    assert names(None, gate, ENDPOINT, None) == ["web_search"]
    offered = [tool.spec.offered for tool in web_tools(gate, gate, ENDPOINT, workshop, ["fetch_url"])]
    assert offered == [False, True, False]
