"""What every prompt about a run as a whole begins with: the rules, the run's tools, worked examples.

Profiling, planning and judging all go on from the same messages, so that an engine
reads them once and finds them in its prefix cache from then on.
"""

from collections.abc import Sequence

from aeond.domain.messages import Message
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import ToolSpec
from aeond.frozen import frozen
from aeond.orchestration.execution.tool_visibility import offered_tools, usual_tools
from aeond.orchestration.prompts.plan_examples import examples_for
from aeond.orchestration.prompts.run_prompts import preamble_messages
from aeond.ports import ToolRegistry, Validator


@frozen
class Preamble:
    """Makes the beginning for a run, from the live registry."""

    registry: ToolRegistry
    validator: Validator

    def specs(self, run: RunSnapshot) -> tuple[ToolSpec, ...]:
        """The tools that the run may use, sorted by name."""
        return offered_tools(self.registry, run)

    def messages(self, run: RunSnapshot) -> tuple[Message, ...]:
        return self.opening(self.specs(run), run.request.instructions)

    def usual(self) -> tuple[Message, ...]:
        """The beginning for a run that may use every tool: what can be read before there is one."""
        return self.opening(usual_tools(self.registry))

    def opening(self, specs: Sequence[ToolSpec], instructions: str = "") -> tuple[Message, ...]:
        return preamble_messages(specs, examples_for(specs, self.validator), instructions)
