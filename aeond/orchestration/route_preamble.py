"""What the questions of a routing begin with: the run's tools, the rules of routing, worked examples."""

from collections.abc import Sequence

from aeond.domain.messages import Message
from aeond.domain.tools import ToolSpec
from aeond.frozen import frozen
from aeond.orchestration.preamble import Preamble
from aeond.orchestration.route_examples import examples_for
from aeond.orchestration.routing_prompts import routing_opening


@frozen
class RoutePreamble(Preamble):
    """A Preamble with rules and examples of its own."""

    def opening(self, specs: Sequence[ToolSpec], instructions: str = "") -> tuple[Message, ...]:
        return routing_opening(specs, examples_for(specs, self.validator), instructions)
