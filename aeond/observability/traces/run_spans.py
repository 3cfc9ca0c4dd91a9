"""Makes the spans of a run from its events: run, operations, steps, tool calls, model calls, waits and child runs.

The ids of a run's spans follow from its id and the numbers of its events, so a trace is the same whether it is made
while the run works or read from the journal later. Spans hold names, states, durations and amounts, never texts of
requests, prompts, arguments, results or answers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import ModelCall, ModelUse
from aeond.domain.runs.run import RunState
from aeond.observability.run_counts import OPERATION_OF
from aeond.observability.traces.encoding import (
    Scalar,
    attribute,
    attributes_of,
    encoded_span,
    unique_attribute,
)
from aeond.observability.traces.recurring_parts import (
    AGENT,
    NAME_OF_STEP,
    OF_AGENT,
    decision_attributes,
    step_attributes,
    tool_attributes,
    tool_step,
)
from aeond.observability.traces.span_ids import CALLER, RUN, SpanIds, id_number, span_id
from aeond.trace_context import TraceParent

MAX_SPANS: Final = 4_096  # of one run
MAX_WAITING: Final = 256  # events of a run
INTERRUPTED: Final = "interrupted"
WAITS: Final = "waits_for_approval"
_FAILED_STEPS: Final = (StepState.FAILED, StepState.INVALID, StepState.UNKNOWN)
CALL_ID: Final = "gen_ai.tool.call.id"
_SECOND: Final = 1_000_000_000  # in nanoseconds


@dataclass(slots=True)
class _Open:
    """An interval that has begun."""

    span_id: int
    parent: int | None
    name: str
    start: int  # in nanoseconds
    attributes: bytes
    kind: "Span.SpanKind.ValueType" = Span.SPAN_KIND_INTERNAL
    tool: str = ""
    call_id: str = ""


class RunSpans:
    """The spans of one run, fed with its events in order.

    `above` is the span that asked for the run, by `place_of`. `model` returns the name of the daemon's model, for runs whose
    request names none. Events wait until `take`, or until MAX_WAITING of them wait: made one after another, spans take
    half the time.
    """

    def __init__(self, run_id: str, above: TraceParent, model: Callable[[], str], provider: str) -> None:
        self.run_id = run_id
        self.above = above
        self.count = 0  # of the spans
        self.dropped = 0
        self._waiting: list[e.Event] = []
        self._trace = above.trace_id
        self._ids = SpanIds(run_id)
        self._model = ""  # the one that the request names
        self._usual_model = model
        self._provider = provider
        self._spans: list[bytes] = []  # as fields of ScopeSpans
        self._open: dict[str, _Open] = {}  # by a key that begins with what it is
        self._asking: set[str] = set()  # the ids of the steps that wait for an answer
        self._copied_time: float | None = None  # the events that a fork copied have the time of its creation

    def add(self, events: Sequence[e.Event]) -> None:
        """Takes the next events of the run."""
        self._waiting += events
        if len(self._waiting) >= MAX_WAITING:
            self._make()

    def take(self) -> bytes:
        """All spans so far, as fields of ScopeSpans."""
        self._make()
        return b"".join(self._spans)

    def _make(self) -> None:
        """Makes the spans of the events that wait."""
        begun: tuple[e.Event, e.StepStarted] | None = None  # the event before, if it began a step
        for event in self._waiting:
            kind = event.kind
            if begun is not None:
                before, begun = begun, None
                if type(kind) is e.StepEnded and self._step_done(*before, event, kind):
                    continue
                self._step_started(*before)
            if event.time == self._copied_time:
                continue
            if type(kind) is e.StepStarted:
                begun = (event, kind)
            elif handler := self._HANDLERS.get(type(kind)):
                handler(self, event, kind)
        if begun is not None:
            self._step_started(*begun)
        self._waiting.clear()

    # ------------------------------------------------------------ the run

    def _created(self, event: e.Event, kind: e.RunCreated) -> None:
        request, ancestry = kind.request, kind.ancestry
        self._model = request.model
        attributes = OF_AGENT + unique_attribute("aeond.run.id", self.run_id)
        if request.session_id:
            attributes += attribute("gen_ai.conversation.id", request.session_id)
        if ancestry.forked_run_id:
            attributes += unique_attribute("aeond.run.forked_from", ancestry.forked_run_id)
            self._copied_time = event.time
        kind_of_span = Span.SPAN_KIND_INTERNAL if ancestry.parent_run_id else Span.SPAN_KIND_SERVER
        above = id_number(self.above.span_id) if self.above.span_id else None
        start = _nanoseconds(event.time)
        self._open[RUN] = _Open(
            self._ids.run, above, f"invoke_agent {AGENT}", start, attributes, kind_of_span
        )

    def _ended(self, event: e.Event, kind: e.RunEnded) -> None:
        for key in [key for key in self._open if key != RUN]:
            self._close(key, event, INTERRUPTED)
        failed = kind.state in (RunState.FAILED, RunState.EXPIRED)
        reason = "" if kind.problem is None else kind.problem.reason
        self._close(RUN, event, kind.state, (reason or kind.state) if failed else "")

    # ------------------------------------------------------------ operations

    def _operation_started(self, event: e.Event, kind: e.OperationIntent) -> None:
        self._begin("operation", event, kind.operation, attribute("aeond.operation", kind.operation))

    def _operation_ended(self, event: e.Event, kind: e.OperationEnd) -> None:
        open_ = self._open.get("operation")
        if open_ is None or open_.name != OPERATION_OF[type(kind)]:
            return  # a further event of an operation that has ended
        self._model_spans(open_, event, kind.model_use, kind.used.llm_calls)
        error = kind.problem.reason if isinstance(kind, e.PlanningFailed) else ""
        self._close("operation", event, error=error)

    # ------------------------------------------------------------ steps

    def _step_done(self, begun: e.Event, started: e.StepStarted, event: e.Event, ended: e.StepEnded) -> bool:
        """Takes a step that called a tool and succeeded, and whose events follow each other. Its spans are those that
        `_step_started` and `_step_ended` add, in a fraction of the time; most spans are made here. False, with nothing
        done, for any other step."""
        call, step_id = started.step.tool_call, ended.step_id
        if (
            call is None
            or started.mode is not StepMode.TOOL
            or started.step.step_id != step_id
            or ended.state is not StepState.SUCCEEDED
            or ended.model_use is not None
            or event.seq != begun.seq + 1
            or step_id in self._asking
            or (len(self._open) > 1 and _step(step_id) in self._open)
            or self.count + 2 > MAX_SPANS
        ):
            return False
        start = int(begun.time * _SECOND)
        end = int(event.time * _SECOND) if event.time > begun.time else start
        id_of_call = unique_attribute(CALL_ID, call.call_id) if call.call_id else b""
        own, of_call = self._ids.of_step(begun.seq)
        parts = tool_step(call.tool, step_id, started.attempt, len(id_of_call))
        self._spans.append(parts.encoded(self._trace, of_call, own, self._ids.run, start, end, id_of_call))
        self.count += 2
        return True

    def _step_started(self, event: e.Event, kind: e.StepStarted) -> None:
        step = kind.step
        attributes = step_attributes(step.step_id, kind.mode, kind.attempt)
        open_ = self._begin(_step(step.step_id), event, NAME_OF_STEP[kind.mode], attributes)
        if kind.mode is StepMode.TOOL and step.tool_call is not None:
            open_.tool, open_.call_id = step.tool_call.tool, step.tool_call.call_id

    def _step_repaired(self, event: e.Event, kind: e.StepRepaired) -> None:
        self._close(_step(kind.step.step_id), event, "repaired")

    def _step_ended(self, event: e.Event, kind: e.StepEnded) -> None:
        key = _step(kind.step_id)
        open_ = self._open.get(key)
        if open_ is None:
            return  # it never started, or waited for a person
        failed = kind.state in _FAILED_STEPS
        error = (kind.reason or kind.state) if failed else ""
        self._model_spans(open_, event, kind.model_use, kind.used.llm_calls)
        self._tool_span(open_, event, error)
        if kind.step_id in self._asking:
            self._close_question(kind.step_id, event, INTERRUPTED)
        self._close(key, event, kind.state, error)

    def _decided(self, _event: e.Event, kind: e.PolicyDecided) -> None:
        open_ = self._open.get(_step(kind.step_id))
        if open_ is not None:
            open_.attributes += decision_attributes(kind.verdict, kind.rule, kind.effect)

    # ------------------------------------------------------------ people and child runs

    def _asked(self, event: e.Event, kind: e.InputRequested) -> None:
        step_id = kind.question.step_id
        self._begin(_question(step_id), event, "wait for answer", b"", _step(step_id))
        self._asking.add(step_id)

    def _answered(self, event: e.Event, kind: e.InputAnswered) -> None:
        step_id = kind.question_id.rpartition(".")[0]
        self._close_question(step_id, event)
        if open_ := self._open.get(_step(step_id)):
            self._tool_span(open_, event, "")
        self._close(_step(step_id), event, StepState.SUCCEEDED)

    def _close_question(self, step_id: str, event: e.Event, state: str = "") -> None:
        self._asking.discard(step_id)
        self._close(_question(step_id), event, state)

    def _approval_requested(self, event: e.Event, kind: e.ApprovalRequested) -> None:
        self._close(_step(kind.step_id), event, WAITS)
        if kind.opens:
            attributes = attribute("aeond.approval.calls", len(kind.approval.calls))
            self._begin(f"approval {kind.approval.approval_id}", event, "wait for approval", attributes)

    def _approval_decided(self, event: e.Event, kind: e.ApprovalDecided) -> None:
        decided = "expired" if kind.expired else "approved" if kind.approved else "denied"
        self._close(f"approval {kind.approval_id}", event, decided)

    def _child_started(self, event: e.Event, kind: e.ChildRunStarted) -> None:
        key, child = f"child {kind.child.child_run_id}", kind.child.child_run_id
        attributes = unique_attribute("aeond.child_run.id", child)
        open_ = self._begin(key, event, "child run", attributes, _step(kind.step_id))
        open_.span_id = id_number(span_id(child, CALLER))

    def _child_ended(self, event: e.Event, kind: e.ChildRunEnded) -> None:
        self._close(f"child {kind.child_run_id}", event, kind.state)

    # ------------------------------------------------------------ spans

    def _begin(self, key: str, event: e.Event, name: str, attributes: bytes, inside: str = RUN) -> _Open:
        self._close(key, event, INTERRUPTED)  # by a crash: it starts again
        above = self._open.get(inside)
        parent = self._ids.run if above is None else above.span_id
        open_ = self._open[key] = _Open(
            self._ids.of_event(event.seq), parent, name, _nanoseconds(event.time), attributes
        )
        return open_

    def _close(self, key: str, event: e.Event, state: str = "", error: str = "") -> None:
        open_ = self._open.pop(key, None)
        if open_ is None:
            return
        if state:
            open_.attributes += attribute("aeond.state", state)
        self._add(
            *(open_.span_id, open_.parent, open_.name, open_.start),
            *(event.time, open_.attributes, error, open_.kind),
        )

    def _tool_span(self, step: _Open, event: e.Event, error: str) -> None:
        if not step.tool:
            return
        attributes = tool_attributes(step.tool)
        if step.call_id:
            attributes += unique_attribute(CALL_ID, step.call_id)
        name = f"execute_tool {step.tool}"
        self._add(
            self._ids.of_event(event.seq, 1), step.span_id, name, step.start, event.time, attributes, error
        )

    def _model_spans(self, above: _Open, event: e.Event, use: ModelUse | None, calls: int) -> None:
        """A span for each call of an operation or a step, and one for those of which only the sums are known."""
        if use is None:
            return
        for number, call in enumerate(use.calls):
            self._model_span(above, event, call, number, 1)
        if use.rest is not None:
            self._model_span(above, event, use.rest, len(use.calls), max(1, calls - len(use.calls)))

    def _model_span(self, above: _Open, event: e.Event, call: ModelCall, number: int, calls: int) -> None:
        start, end = above.start, event.time
        if call.end_time:
            end = min(call.end_time, end)
            start = max(start, _nanoseconds(end - call.engine_seconds))
        model = self._model or self._usual_model()
        attributes: dict[str, Scalar] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self._provider,
            "gen_ai.request.model": model,
            "gen_ai.usage.input_tokens": call.prompt_tokens,
            "gen_ai.usage.output_tokens": call.completion_tokens,
            "gen_ai.usage.cache_read.input_tokens": call.cached_tokens,
            "aeond.model.calls": calls,
            "aeond.model.engine_seconds": call.engine_seconds,
            "aeond.model.first_token_seconds": call.first_token_seconds,
        }
        self._add(
            *(self._ids.of_event(event.seq, 2 + number), above.span_id, f"chat {model}", start),
            *(end, attributes_of(attributes), "", Span.SPAN_KIND_CLIENT),
        )

    def _add(
        self,
        own: int,
        parent: int | None,
        name: str,
        start: int,
        ended: float,
        attributes: bytes,
        error: str,
        kind: "Span.SpanKind.ValueType" = Span.SPAN_KIND_INTERNAL,
    ) -> None:
        """Adds a span that ended at this time, in seconds."""
        end = max(start, _nanoseconds(ended))  # the wall clock may be set back
        if self.count < MAX_SPANS or own == self._ids.run:
            self._spans.append(
                encoded_span(self._trace, own, parent, kind, start, end, name, attributes, error)
            )
            self.count += 1
        else:
            self.dropped += 1

    _HANDLERS: ClassVar[Mapping[type[e.EventKind], Callable[["RunSpans", e.Event, Any], None]]] = {
        e.RunCreated: _created,
        e.OperationStarted: _operation_started,
        e.PlanningStarted: _operation_started,
        e.AnswerStarted: _operation_started,
        e.StepStarted: _step_started,
        e.StepRepaired: _step_repaired,
        e.StepEnded: _step_ended,
        e.PolicyDecided: _decided,
        e.InputRequested: _asked,
        e.InputAnswered: _answered,
        e.ApprovalRequested: _approval_requested,
        e.ApprovalDecided: _approval_decided,
        e.ChildRunStarted: _child_started,
        e.ChildRunEnded: _child_ended,
        e.RunEnded: _ended,
        **dict.fromkeys(OPERATION_OF, _operation_ended),
    }


def _step(step_id: str) -> str:
    return f"step {step_id}"


def _question(step_id: str) -> str:
    return f"question {step_id}"


def _nanoseconds(seconds: float) -> int:
    return int(seconds * _SECOND)
