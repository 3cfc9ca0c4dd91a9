"""The set of these tools, as far as they are configured."""

from collections.abc import Collection, Sequence

from aeond.capabilities.egress.gate import Gate
from aeond.capabilities.hands.web.pages import fetch_url_tool
from aeond.capabilities.hands.web.requests import http_request_tool
from aeond.capabilities.hands.web.searching import web_search_tool
from aeond.capabilities.hands.workshop import Workshop
from aeond.capabilities.tools.function_tool import FunctionTool


def web_tools(
    gate: Gate | None, search: Gate | None, endpoint: str, workshop: Workshop | None, offered: Collection[str]
) -> Sequence[FunctionTool]:
    """The tools; those of `offered` are listed to models. Without a gate nothing is requested, without a sandbox no page is
    read, and without the gate to the search server nothing is searched."""
    tools: list[FunctionTool] = []
    if gate is not None:
        tools += [http_request_tool(gate)]
        tools += [fetch_url_tool(gate, workshop)] if workshop is not None else []
    if search is not None:
        tools += [web_search_tool(search, endpoint)]
    return [tool.offering(tool.spec.name in offered) for tool in tools]
