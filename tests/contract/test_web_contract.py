"""Guarantees of every tool that uses the web."""

import json
import ssl
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from aeond.capabilities.egress.gate import Streams, connect_to
from aeond.capabilities.hands.web.tool_set import web_tools
from aeond.capabilities.policy.inspecting import ToolInspector
from aeond.capabilities.policy.loading import load_policy
from aeond.capabilities.policy.trust import Trust
from aeond.capabilities.tools.function_tool import FunctionTool
from aeond.capabilities.tools.registry import Registry
from aeond.capabilities.tools.tool_check import tool_problems
from aeond.domain.policy import Effect, Origin
from aeond.domain.tools import Recovery, ToolCall
from tests.contract.test_tool_contract import all_tools, require_argument_checks, require_small_schemas
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.hands import Hands
from tests.support.network import page
from tests.support.site import serving
from tests.support.tools import invoker_of
from tests.support.web import Web

NAMES = ("fetch_url", "http_request", "web_search")
FOUND = {"results": [{"title": "Trains", "url": "https://rail.example/", "content": "Every hour"}]}


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    """All of them, over a network in which every public host is one server of this machine."""
    answers = {
        "/guide": page(b"<p>Turn the key.</p>", 200, "Content-Type: text/html"),
        "/on": page(b"the lamp is on", 200, "Content-Type: text/plain"),
        "/search": page(json.dumps(FOUND).encode(), 200, "Content-Type: application/json"),
    }
    with serving(answers) as address:
        port = int(address.rpartition(":")[2])

        async def dial(_address: str, _port: int, _context: ssl.SSLContext | None, name: str) -> Streams:
            return await connect_to("127.0.0.1", port, None, name)

        async def resolve(_host: str, _port: int) -> Sequence[str]:
            return ["93.184.215.14"]

        yield Web(tmp_path, address, ["*"], dial, resolve)


def test_every_tool_is_under_contract(web: Web) -> None:
    """The tools that this suite goes over are all that there are."""
    assert sorted(tool.spec.name for tool in web.web_tools) == list(NAMES)


@needs_bubblewrap
@pytest.mark.parametrize("name", NAMES)
async def test_every_tool_keeps_the_rules(web: Web, name: str) -> None:
    """The check for authors reports nothing, and the example's result fits the schema."""
    (checked,) = [tool for tool in web.web_tools if tool.spec.name == name]
    assert await tool_problems(checked, str(web.folder)) == ()


def test_every_tool_is_egress(web: Web) -> None:
    """Each tool declares that it talks to the network, and is not repeated by itself after a crash."""
    assert {tool.spec.effect for tool in web.web_tools} == {Effect.NET}
    assert {tool.spec.recovery for tool in web.web_tools} == {Recovery.ASK}


async def test_arguments_are_checked(web: Web) -> None:
    """Missing, unknown and wrong arguments are refused by name before anything is sent."""
    await require_argument_checks(web.web_tools, web.context)


def test_schemas_and_descriptions_suit_small_models(web: Web) -> None:
    """Schemas keep to what every engine enforces, what a model writes is bounded, descriptions are short, and examples
    share no long word with those of other tools."""
    require_small_schemas((*all_tools(), *Hands(web.folder).tools, *web.web_tools))


@pytest.mark.parametrize(
    ("profile", "verdicts"),
    [("ask", "ask ask ask"), ("trusted-folder", "ask ask ask"), ("observe", "deny deny deny")],
)
async def test_the_shipped_profiles_decide(web: Web, profile: str, verdicts: str) -> None:
    """No shipped profile allows a request without a question; the content taints the run."""
    registry, policy = Registry(), load_policy(profile, None)
    for tool in web.web_tools:
        registry.register(tool)
    tainted = ("host:example.org:443",)
    contexts = (web.context, replace(web.context, origin=Origin.DIRECT), replace(web.context, taint=tainted))
    for tool in web.web_tools:
        call = ToolCall(tool.spec.name, tool.spec.example or {})
        facts = [await ToolInspector(registry).inspect(call, context) for context in contexts]
        assert " ".join(policy.decide(one).verdict for one in facts) == verdicts
        assert all(source.startswith("host:") for source in Trust().sources(facts[0]))
        assert Trust().sources(facts[0])


async def test_a_policy_allows_hosts(web: Web, tmp_path: Path) -> None:
    """A rule with hosts allows requests to them, and none to others; after untrusted data it is asked about all."""
    file = tmp_path / "policy.toml"
    file.write_text(
        'profile = "ask"\n[[allow]]\nname = "docs"\nreason = "known"\nclasses = ["net"]\nhosts = ["docs.example"]\n'
    )
    file.chmod(0o600)
    registry, policy = Registry(), load_policy("ask", file)
    for tool in web.web_tools:
        registry.register(tool)

    async def verdict(url: str, *taint: str) -> str:
        context = replace(web.context, taint=taint)
        facts = await ToolInspector(registry).inspect(ToolCall("fetch_url", {"url": url}), context)
        return policy.decide(facts).verdict

    assert await verdict("https://docs.example/a") == "allow"
    assert await verdict("https://DOCS.example./a") == "allow"
    assert await verdict("https://docs.example.evil.example/") == "ask"
    assert await verdict("https://docs.example/a", "file:/tmp/x") == "ask"


async def test_a_page_cannot_pass_for_another_host(tmp_path: Path) -> None:
    """The tools of an owner who allows one host reach it alone, whatever the arguments are."""
    tools: Sequence[FunctionTool] = Web(tmp_path, "127.0.0.1:1").web_tools
    assert web_tools(None, None, "", None, ()) == []
    invoker = invoker_of(*tools)
    for url in (
        "http://127.0.0.1:2/",
        "http://localhost:1/",
        "http://127.0.0.1.example:1/",
        "http://127.0.0.1:1@x/",
    ):
        for name, more in (("fetch_url", {}), ("http_request", {"method": "GET"})):
            result = await invoker.invoke(
                ToolCall(name, {"url": url, **more}), Web(tmp_path, "127.0.0.1:1").context
            )
            assert result.reason in {"HOST_NOT_ALLOWED", "URL_INVALID"}
