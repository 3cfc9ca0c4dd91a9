"""What the questions of a routing begin with: the run's tools, the rules of routing, worked examples."""

from dataclasses import dataclass

from aeond.domain.messages import Message
from aeond.domain.runs import RunSnapshot
from aeond.domain.tools import ToolSpec
from aeond.orchestration.offering import offered_tools, usual_tools
from aeond.orchestration.route_examples import examples_for
from aeond.orchestration.routing_prompts import routing_opening
from aeond.ports import ToolRegistry, Validator


@dataclass(frozen=True, slots=True)
class RoutePreamble:
    """Makes the beginning for a run, from the live registry."""

    registry: ToolRegistry
    validator: Validator

    def specs(self, run: RunSnapshot) -> tuple[ToolSpec, ...]:
        """The tools that the run may use, sorted by name."""
        return offered_tools(self.registry, run)

    def messages(self, run: RunSnapshot) -> tuple[Message, ...]:
        specs = self.specs(run)
        return routing_opening(specs, examples_for(specs, self.validator), run.request.instructions)

    def usual(self) -> tuple[Message, ...]:
        """The beginning for a run that may use every tool: what can be read before there is one."""
        specs = usual_tools(self.registry)
        return routing_opening(specs, examples_for(specs, self.validator))
