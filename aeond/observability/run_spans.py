"""Makes the spans of a run from its events: run, operations, steps, tool calls, model calls, waits and child runs.

The ids of a run's spans follow from its id and the numbers of its events, so a trace is the same whether it is made
while the run works or read from the journal later. Spans hold names, states, durations and amounts, never texts of
requests, prompts, arguments, results or answers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import ModelUse
from aeond.domain.runs.run import RunState
from aeond.observability.run_counts import OPERATION_OF
from aeond.trace_context import TraceParent

MAX_SPANS: Final = 4_096  # of one run
MAX_CHARS: Final = 256  # of a name or a value
AGENT: Final = "aeond"
INTERRUPTED: Final = "interrupted"
WAITS: Final = "waits_for_approval"
RUN: Final = "run"

Scalar = str | int | float


def span_id(run_id: str, name: str) -> bytes:
    """The id of a span of a run; `name` is RUN for the run itself."""
    return sha256(f"{run_id} {name}".encode()).digest()[:8]


def trace_id(run_id: str) -> bytes:
    """The id of the trace of a run that no other trace asked for."""
    return sha256(run_id.encode()).digest()[:16]


@dataclass(slots=True)
class _Open:
    """An interval that has begun."""

    span_id: bytes
    parent: bytes
    name: str
    start: float
    attributes: dict[str, Scalar]
    kind: "Span.SpanKind.ValueType" = Span.SPAN_KIND_INTERNAL
    tool: str = ""
    call_id: str = ""


class RunSpans:
    """The spans of one run, fed with its events in order."""

    def __init__(self, run_id: str, model: str, provider: str) -> None:
        self.run_id = run_id
        self.parent_run_id = ""
        self.trace_parent: TraceParent | None = None
        self.dropped = 0
        self._root = span_id(run_id, RUN)
        self._model = model  # that of the daemon, if the request names none
        self._provider = provider
        self._spans: list[bytes] = []
        self._top: bytes | None = None  # the span of the run itself
        self._open: dict[str, _Open] = {}  # by a key that begins with what it is
        self._copied_time: float | None = None  # the events that a fork copied have the time of its creation
        self._handlers: dict[type[e.EventKind], Callable[[e.Event, Any], None]] = {
            e.RunCreated: self._created,
            e.OperationStarted: self._operation_started,
            e.PlanningStarted: self._operation_started,
            e.AnswerStarted: self._operation_started,
            e.StepStarted: self._step_started,
            e.StepRepaired: self._step_repaired,
            e.StepEnded: self._step_ended,
            e.PolicyDecided: self._decided,
            e.InputRequested: self._asked,
            e.InputAnswered: self._answered,
            e.ApprovalRequested: self._approval_requested,
            e.ApprovalDecided: self._approval_decided,
            e.ChildRunStarted: self._child_started,
            e.ChildRunEnded: self._child_ended,
            e.RunEnded: self._ended,
            **dict.fromkeys(OPERATION_OF, self._operation_ended),
        }

    def add(self, event: e.Event) -> None:
        """Takes the next event of the run."""
        handler = self._handlers.get(type(event.kind))
        if handler is not None and event.time != self._copied_time:
            handler(event, event.kind)

    def spans(self, trace: bytes, parent: bytes = b"") -> list[bytes]:
        """The encoded spans of an ended run, as parts of this trace; `parent` is the span that asked for the run."""
        of_trace = Span(trace_id=trace).SerializeToString()
        spans = [of_trace + span for span in self._spans]
        if self._top is not None:
            spans.append(of_trace + self._top + Span(parent_span_id=parent).SerializeToString())
        return spans

    # ------------------------------------------------------------ the run

    def _created(self, event: e.Event, kind: e.RunCreated) -> None:
        request, ancestry = kind.request, kind.ancestry
        self.parent_run_id = ancestry.parent_run_id
        self.trace_parent = TraceParent.parse(request.trace_parent)
        self._model = request.model or self._model
        attributes: dict[str, Scalar] = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": AGENT,
            "aeond.run.id": self.run_id,
        }
        if request.session_id:
            attributes["gen_ai.conversation.id"] = request.session_id
        if ancestry.forked_run_id:
            attributes["aeond.run.forked_from"] = ancestry.forked_run_id
            self._copied_time = event.time
        kind_of_span = Span.SPAN_KIND_INTERNAL if ancestry.parent_run_id else Span.SPAN_KIND_SERVER
        self._open[RUN] = _Open(
            self._root, b"", f"invoke_agent {AGENT}", event.time, attributes, kind_of_span
        )

    def _ended(self, event: e.Event, kind: e.RunEnded) -> None:
        for key in [key for key in self._open if key != RUN]:
            self._close(key, event.time, state=INTERRUPTED)
        failed = kind.state in (RunState.FAILED, RunState.EXPIRED)
        reason = "" if kind.problem is None else kind.problem.reason
        self._close(RUN, event.time, state=kind.state, error=(reason or kind.state) if failed else "")

    # ------------------------------------------------------------ operations

    def _operation_started(self, event: e.Event, kind: e.OperationIntent) -> None:
        self._begin("operation", event, kind.operation, {"aeond.operation": kind.operation})

    def _operation_ended(self, event: e.Event, kind: e.OperationEnd) -> None:
        open_ = self._open.get("operation")
        if open_ is None or open_.name != OPERATION_OF[type(kind)]:
            return  # a further event of an operation that has ended
        self._model_span(open_, event, kind.model_use, kind.used.llm_calls)
        error = kind.problem.reason if isinstance(kind, e.PlanningFailed) else ""
        self._close("operation", event.time, error=error)

    # ------------------------------------------------------------ steps

    def _step_started(self, event: e.Event, kind: e.StepStarted) -> None:
        step = kind.step
        attributes: dict[str, Scalar] = {
            "aeond.step.id": step.step_id,
            "aeond.step.mode": kind.mode,
            "aeond.step.attempt": kind.attempt,
        }
        key = _step(step.step_id)
        self._begin(key, event, f"step {kind.mode}", attributes)
        if kind.mode is StepMode.TOOL and step.tool_call is not None:
            self._open[key].tool, self._open[key].call_id = step.tool_call.tool, step.tool_call.call_id

    def _step_repaired(self, event: e.Event, kind: e.StepRepaired) -> None:
        self._close(_step(kind.step.step_id), event.time, state="repaired")

    def _step_ended(self, event: e.Event, kind: e.StepEnded) -> None:
        key = _step(kind.step_id)
        open_ = self._open.get(key)
        if open_ is None:
            return  # it never started, or waited for a person
        failed = kind.state in (StepState.FAILED, StepState.INVALID, StepState.UNKNOWN)
        error = (kind.reason or kind.state) if failed else ""
        self._model_span(open_, event, kind.model_use, kind.used.llm_calls)
        self._tool_span(open_, event, error)
        self._close(f"question {kind.step_id}", event.time, state=INTERRUPTED)
        self._close(key, event.time, state=kind.state, error=error)

    def _decided(self, _event: e.Event, kind: e.PolicyDecided) -> None:
        open_ = self._open.get(_step(kind.step_id))
        if open_ is not None:
            open_.attributes["aeond.policy.verdict"] = kind.verdict
            open_.attributes["aeond.policy.rule"] = kind.rule
            open_.attributes["aeond.policy.effect"] = kind.effect

    # ------------------------------------------------------------ people and child runs

    def _asked(self, event: e.Event, kind: e.InputRequested) -> None:
        step_id = kind.question.step_id
        self._begin(f"question {step_id}", event, "wait for answer", {}, _step(step_id))

    def _answered(self, event: e.Event, kind: e.InputAnswered) -> None:
        step_id = kind.question_id.rpartition(".")[0]
        self._close(f"question {step_id}", event.time)
        if open_ := self._open.get(_step(step_id)):
            self._tool_span(open_, event, "")
        self._close(_step(step_id), event.time, state=StepState.SUCCEEDED)

    def _approval_requested(self, event: e.Event, kind: e.ApprovalRequested) -> None:
        self._close(_step(kind.step_id), event.time, state=WAITS)
        if kind.opens:
            attributes: dict[str, Scalar] = {"aeond.approval.calls": len(kind.approval.calls)}
            self._begin(f"approval {kind.approval.approval_id}", event, "wait for approval", attributes)

    def _approval_decided(self, event: e.Event, kind: e.ApprovalDecided) -> None:
        decided = "expired" if kind.expired else "approved" if kind.approved else "denied"
        self._close(f"approval {kind.approval_id}", event.time, state=decided)

    def _child_started(self, event: e.Event, kind: e.ChildRunStarted) -> None:
        key, child = f"child {kind.child.child_run_id}", kind.child.child_run_id
        self._begin(key, event, "child run", {"aeond.child_run.id": child}, _step(kind.step_id))
        self._open[key].span_id = span_id(child, "caller")

    def _child_ended(self, event: e.Event, kind: e.ChildRunEnded) -> None:
        self._close(f"child {kind.child_run_id}", event.time, state=kind.state)

    # ------------------------------------------------------------ spans

    def _begin(
        self, key: str, event: e.Event, name: str, attributes: dict[str, Scalar], inside: str = RUN
    ) -> None:
        self._close(key, event.time, state=INTERRUPTED)  # by a crash: it starts again
        above = self._open.get(inside)
        parent = self._root if above is None else above.span_id
        self._open[key] = _Open(span_id(self.run_id, str(event.seq)), parent, name, event.time, attributes)

    def _close(self, key: str, end: float, *, state: str = "", error: str = "") -> None:
        open_ = self._open.pop(key, None)
        if open_ is None:
            return
        if state:
            open_.attributes["aeond.state"] = state
        self._add(open_, end, error)

    def _tool_span(self, step: _Open, event: e.Event, error: str) -> None:
        if not step.tool:
            return
        attributes: dict[str, Scalar] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": step.tool,
            "gen_ai.tool.type": "function",
        }
        if step.call_id:
            attributes["gen_ai.tool.call.id"] = step.call_id
        name = span_id(self.run_id, f"{event.seq} tool")
        self._add(
            _Open(name, step.span_id, f"execute_tool {step.tool}", step.start, attributes), event.time, error
        )

    def _model_span(self, above: _Open, event: e.Event, use: ModelUse | None, calls: int) -> None:
        """One span for the calls of an operation or a step: the journal has their sums."""
        if use is None:
            return
        attributes: dict[str, Scalar] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self._provider,
            "gen_ai.request.model": self._model,
            "gen_ai.usage.input_tokens": use.prompt_tokens,
            "gen_ai.usage.output_tokens": use.completion_tokens,
            "gen_ai.usage.cache_read.input_tokens": use.cached_tokens,
            "aeond.model.calls": calls,
            "aeond.model.engine_seconds": use.engine_seconds,
            "aeond.model.first_token_seconds": use.first_token_seconds,
        }
        name = span_id(self.run_id, f"{event.seq} model")
        made = _Open(
            name, above.span_id, f"chat {self._model}", above.start, attributes, Span.SPAN_KIND_CLIENT
        )
        self._add(made, event.time, "")

    def _add(self, open_: _Open, end: float, error: str) -> None:
        """Encodes a span. Encoded messages of one type are joined by appending them, which takes a fifth of the time
        that the library needs to copy attributes."""
        is_top = open_.span_id == self._root
        if len(self._spans) >= MAX_SPANS and not is_top:
            self.dropped += 1
            return
        span = Span(
            span_id=open_.span_id,
            parent_span_id=open_.parent,
            kind=open_.kind,
            start_time_unix_nano=_nanoseconds(open_.start),
            end_time_unix_nano=_nanoseconds(max(open_.start, end)),  # the wall clock may be set back
        )
        parts = [span.SerializeToString(), _name(open_.name)]
        parts += [_attribute(key, value) for key, value in open_.attributes.items()]
        if error:
            parts += [_attribute("error.type", error), _failed(error)]
        encoded = b"".join(parts)
        if is_top:
            self._top = encoded
        else:
            self._spans.append(encoded)


def _plain(text: str) -> str:
    """A name as protobuf accepts it: bounded, and without the lone surrogates that Python allows."""
    return text[:MAX_CHARS].encode(errors="replace").decode()


def _step(step_id: str) -> str:
    return f"step {step_id}"


def _nanoseconds(seconds: float) -> int:
    return int(seconds * 1_000_000_000)


# Most names and values come back: encoding them takes longer than finding them.
@lru_cache(maxsize=1_024)
def _name(name: str) -> bytes:
    return Span(name=_plain(name)).SerializeToString()


@lru_cache(maxsize=256)
def _failed(error: str) -> bytes:
    return Span(status=Status(code=Status.STATUS_CODE_ERROR, message=_plain(error))).SerializeToString()


# The type is part of the key, because 1 and 1.0 are equal.
@lru_cache(maxsize=4_096, typed=True)
def _attribute(key: str, value: Scalar) -> bytes:
    match value:
        case str():
            of_value = AnyValue(string_value=_plain(value))
        case int():
            of_value = AnyValue(int_value=value)
        case float():
            of_value = AnyValue(double_value=value)
    return Span(attributes=[KeyValue(key=key, value=of_value)]).SerializeToString()
