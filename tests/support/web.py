"""The tools of the web over one server of a test, with the real sandbox."""

from collections.abc import Sequence
from pathlib import Path

from aeond.capabilities.egress.gate import Dial, Gate, Resolve
from aeond.capabilities.egress.rules import EgressRules, server_rules
from aeond.capabilities.hands.web.tool_set import web_tools
from aeond.capabilities.tools.function_tool import FunctionTool
from tests.support.hands import Hands
from tests.support.tools import invoker_of


class Web(Hands):
    """Calls the tools, which may reach `address` (host:port) and everything that `hosts` allow."""

    def __init__(
        self,
        folder: Path,
        address: str,
        hosts: Sequence[str] = (),
        dial: Dial | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        super().__init__(folder)
        gate = Gate(EgressRules.of(hosts, [address]), resolve=resolve, dial=dial)
        endpoint = f"http://{address}/search"
        search = Gate(server_rules(endpoint, local=True), resolve=resolve, dial=dial)
        self.web_tools: Sequence[FunctionTool] = web_tools(gate, search, endpoint, self.workshop, ())
        self.invoker = invoker_of(*self.web_tools)
