"""Encoded parts of spans that come back in many of them: to look them up takes a fraction of the time."""

from functools import lru_cache
from struct import Struct
from typing import Final, NamedTuple

from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span

from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode
from aeond.observability.traces.encoding import (
    END,
    ID,
    KIND,
    PARENT,
    START,
    TRACE,
    attribute,
    attributes_of,
    encoded_name,
    field_head,
)

AGENT: Final = "aeond"
OF_AGENT: Final = attributes_of({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": AGENT})
_INTERNAL: Final = bytes((KIND, Span.SPAN_KIND_INTERNAL, START))
NAME_OF_STEP: Final = {mode: f"step {mode}" for mode in StepMode}


@lru_cache(maxsize=2_048)
def step_attributes(step_id: str, mode: str, attempt: int) -> bytes:
    """The attributes of a step that began."""
    return attributes_of({"aeond.step.id": step_id, "aeond.step.mode": mode, "aeond.step.attempt": attempt})


@lru_cache(maxsize=256)
def decision_attributes(verdict: str, rule: str, effect: str) -> bytes:
    """The attributes of a step about whose call the policy decided."""
    return attributes_of(
        {"aeond.policy.verdict": verdict, "aeond.policy.rule": rule, "aeond.policy.effect": effect}
    )


@lru_cache(maxsize=256)
def tool_attributes(tool: str) -> bytes:
    """The attributes of a call."""
    return attributes_of(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "gen_ai.tool.type": "function",
        }
    )


# A span of a trace, as a field of ScopeSpans: its head with the tag of the trace id, the trace id, the id, the parent, the
# kind with the tag of the start, the start, the end, and name and attributes.
_SPAN: Final = "{}s16s2sQ2sQ3sQBQ{}s"
_SIZE: Final = len(TRACE) + Struct("<" + _SPAN.format(0, 0)).size


class ToolStep(NamedTuple):
    """The spans of a step that called a tool and succeeded, but for their ids and times."""

    layout: Struct
    call: bytes
    rest_of_call: bytes
    step: bytes
    rest_of_step: bytes

    def encoded(
        self, trace: bytes, call: int, step: int, run: int, start: int, end: int, call_id: bytes
    ) -> bytes:
        """Both spans, as fields of ScopeSpans. Ids are numbers of 64 bits, times in nanoseconds, and `call_id` is an
        encoded attribute, as long as that by which the parts were chosen."""
        layout, head, rest, head_of_step, rest_of_step = self
        # fmt: off
        return layout.pack(
            head, trace, ID, call, PARENT, step, _INTERNAL, start, END, end, rest, call_id,
            head_of_step, trace, ID, step, PARENT, run, _INTERNAL, start, END, end, rest_of_step,
        )
        # fmt: on


@lru_cache(maxsize=2_048)
def tool_step(tool: str, step_id: str, attempt: int, call_id_size: int) -> ToolStep:
    """The parts for a step, whose encoded id of the call has this size in bytes."""
    of_call = encoded_name(f"execute_tool {tool}") + tool_attributes(tool)
    of_step = (
        encoded_name(NAME_OF_STEP[StepMode.TOOL])
        + step_attributes(step_id, StepMode.TOOL, attempt)
        + attribute("aeond.state", StepState.SUCCEEDED)
    )
    call, step = (
        field_head(ScopeSpans.SPANS_FIELD_NUMBER, _SIZE + size) + TRACE
        for size in (len(of_call) + call_id_size, len(of_step))
    )
    layout = Struct(
        f"<{_SPAN.format(len(call), len(of_call))}{call_id_size}s{_SPAN.format(len(step), len(of_step))}"
    )
    return ToolStep(layout, call, of_call, step, of_step)
