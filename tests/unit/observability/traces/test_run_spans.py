"""The spans of a run."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span, Status
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv.attributes import error_attributes

from aeond.domain.outcome import Problem
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts, ModelCall, ModelUse
from aeond.domain.runs.run import Ancestry, RunState
from aeond.observability.traces.encoding import MAX_CHARS
from aeond.observability.traces.run_spans import MAX_SPANS, RunSpans
from aeond.observability.traces.span_ids import RUN, span_id
from aeond.trace_context import TraceParent
from tests.support.golden import golden_journals
from tests.support.otlp_collector import attributes
from tests.support.simulated_runs import hosts
from tests.support.simulation import SimulatedHost
from tests.support.transcripts import read_lines

STORIES = {story.name: list(read_lines(story.lines)) for story in golden_journals()}
ENDED = [name for name, events in STORIES.items() if isinstance(events[-1].kind, e.RunEnded)]
TRACE, ABOVE = b"t" * 16, b"a" * 8
PLACE = TraceParent(TRACE, ABOVE, sampled=True)
USE = ModelUse(prompt_tokens=10, completion_tokens=3, engine_seconds=0.5)
KNOWN = {
    value
    for module in (gen_ai_attributes, error_attributes)
    for name, value in vars(module).items()
    if name.isupper() and isinstance(value, str)
}


def spans_of(events: list[e.Event]) -> list[Span]:
    run = RunSpans(events[0].run_id, PLACE, lambda: "a-model", "a-provider")
    for event in events:
        run.add([event])
    return decoded(run)


def decoded(run: RunSpans) -> list[Span]:
    spans = list(ScopeSpans.FromString(run.take()).spans)
    assert len(spans) == run.count
    return spans


def check_form(spans: list[Span], events: list[e.Event]) -> None:
    """One tree: every span is of the trace, has an id of its own, and lies within the run below a span of it."""
    ids = {span.span_id for span in spans}
    (root,) = [span for span in spans if span.parent_span_id not in ids]
    assert root.span_id == span_id(events[0].run_id, RUN)
    assert root.parent_span_id == ABOVE
    assert len(ids) == len(spans)
    for span in spans:
        assert (len(span.trace_id), len(span.span_id), span.trace_id) == (16, 8, TRACE)
        assert root.start_time_unix_nano <= span.start_time_unix_nano
        assert span.start_time_unix_nano <= span.end_time_unix_nano <= root.end_time_unix_nano
        assert {name for name in attributes(span) if not name.startswith("aeond.")} <= KNOWN


def check_completeness(spans: list[Span], events: list[e.Event]) -> None:
    """Every intent has its span, and every use of a model or a tool."""
    kinds = [event.kind for event in events]
    names = Counter(span.name.partition(" ")[0] for span in spans)
    assert names["step"] == sum(isinstance(kind, e.StepStarted) for kind in kinds)
    started = sum(
        isinstance(kind, e.OperationStarted | e.PlanningStarted | e.AnswerStarted) for kind in kinds
    )
    assert sum("aeond.operation" in attributes(span) for span in spans) == started


@pytest.mark.parametrize("name", ENDED)
def test_a_recorded_run_gives_one_tree_of_spans(name: str) -> None:
    """The spans of a run as a released version recorded it form one tree with a span for every intent, and the
    attributes that are not aeond's own are those of the semantic conventions."""
    spans = spans_of(STORIES[name])
    check_form(spans, STORIES[name])
    check_completeness(spans, STORIES[name])


@given(hosts(), st.sets(st.integers(2, 40), max_size=2))
def test_any_run_gives_one_tree_of_spans(host: SimulatedHost, crashes: set[int]) -> None:
    """For any plan, outcome and crash the spans of an ended run form one tree with a span for every intent."""
    host.crash_before = crashes.__contains__
    if host.work().state.ended:
        spans = spans_of(host.journal)
        check_form(spans, host.journal)
        check_completeness(spans, host.journal)


@given(hosts(), st.sets(st.integers(2, 40), max_size=2))
def test_the_spans_do_not_depend_on_how_the_events_arrive(host: SimulatedHost, crashes: set[int]) -> None:
    """The spans that are made of all events at once are those that are made of one event after the other."""
    host.crash_before = crashes.__contains__
    host.work()
    singly = RunSpans(host.journal[0].run_id, PLACE, lambda: "a-model", "a-provider")
    for event in host.journal:
        singly.add([event])
        singly.take()
    assert sorted(decoded(singly), key=_id) == sorted(spans_of(host.journal), key=_id)


def _id(span: Span) -> bytes:
    return span.span_id


@pytest.mark.parametrize("name", ENDED)
def test_a_trace_is_the_same_however_often_it_is_made(name: str) -> None:
    """The spans follow from the events alone."""
    assert spans_of(STORIES[name]) == spans_of(STORIES[name])


def test_a_model_call_follows_the_conventions_for_generative_ai() -> None:
    """The span of a model call names the provider, the model and the tokens."""
    events = [
        replace(event, kind=replace(event.kind, model_use=USE))
        if isinstance(event.kind, e.PlanAdopted)
        else event
        for event in STORIES["0.1.0-planned"]
    ]
    spans = spans_of(events)
    (chat,) = [span for span in spans if span.name == "chat a-model"]
    (plan,) = [span for span in spans if span.name == "plan"]
    found = attributes(chat)
    assert chat.parent_span_id == plan.span_id
    assert chat.kind == Span.SPAN_KIND_CLIENT
    assert found["gen_ai.operation.name"] == "chat"
    assert found["gen_ai.provider.name"] == "a-provider"
    assert found["gen_ai.request.model"] == "a-model"
    assert (found["gen_ai.usage.input_tokens"], found["gen_ai.usage.output_tokens"]) == (10, 3)


def test_each_call_of_a_model_is_a_span_of_its_own() -> None:
    """The calls of an operation have spans with their own times, and those of which only the sums are known share one."""
    (adopted,) = [event for event in STORIES["0.1.0-planned"] if isinstance(event.kind, e.PlanAdopted)]
    first = ModelCall(10, 3, engine_seconds=0.001, end_time=adopted.time - 0.002)
    second = ModelCall(20, 5, engine_seconds=0.001, end_time=adopted.time + 1)  # the wall clock was set back
    use = ModelUse.of(first) + ModelUse.of(second) + ModelUse(7, 1, engine_seconds=0.5)
    events = [
        replace(event, kind=replace(event.kind, model_use=use, used=Amounts(llm_calls=4)))
        if isinstance(event.kind, e.PlanAdopted)
        else event
        for event in STORIES["0.1.0-planned"]
    ]
    spans = spans_of(events)
    check_form(spans, events)
    chats = [span for span in spans if span.name == "chat a-model"]
    (plan,) = [span for span in spans if span.name == "plan"]
    read = [attributes(span)["gen_ai.usage.input_tokens"] for span in chats]
    calls = [attributes(span)["aeond.model.calls"] for span in chats]
    ends = [span.end_time_unix_nano for span in chats]
    assert (read, calls) == ([10, 20, 7], [1, 1, 2])
    assert ends == [
        pytest.approx(first.end_time * 1e9, abs=1e3),
        plan.end_time_unix_nano,
        plan.end_time_unix_nano,
    ]
    assert all(plan.start_time_unix_nano <= span.start_time_unix_nano for span in chats)


def test_an_approval_is_a_wait_of_its_own() -> None:
    """The time that a call waits for a person is a span, with what was decided."""
    spans = spans_of(STORIES["0.2.0-approved"])
    waits = [span for span in spans if span.name == "wait for approval"]
    assert waits
    assert {attributes(span)["aeond.state"] for span in waits} <= {"approved", "denied", "expired"}


def test_a_failed_run_has_the_status_of_an_error() -> None:
    """A run that failed says why by its stable reason; one that succeeded has no error."""
    for name in ENDED:
        last = STORIES[name][-1].kind
        assert isinstance(last, e.RunEnded)
        root = next(span for span in spans_of(STORIES[name]) if span.parent_span_id == ABOVE)
        failed = last.state in (RunState.FAILED, RunState.EXPIRED)
        assert (root.status.code == Status.STATUS_CODE_ERROR) is failed
        assert ("error.type" in attributes(root)) is failed


def test_copied_events_of_a_fork_are_not_in_its_trace() -> None:
    """Events of the original run before the fork have no spans in the trace of the fork."""
    events = STORIES["0.2.0-approved"]
    first = events[0].kind
    assert isinstance(first, e.RunCreated)
    forked = replace(first, ancestry=Ancestry(forked_run_id="other"))
    copied = [replace(event, time=events[0].time) for event in events[1:-1]]
    spans = spans_of([replace(events[0], kind=forked), *copied, events[-1]])
    assert [span.name for span in spans] == ["invoke_agent aeond"]
    assert attributes(spans[0])["aeond.run.forked_from"] == "other"


def test_the_spans_of_a_run_are_bounded() -> None:
    """A run with more steps than the limit keeps its first spans and its own, and counts the others."""
    events = STORIES["0.1.0-unplanned"]
    started = next(event for event in events if isinstance(event.kind, e.OperationIntent))
    run = RunSpans("run", PLACE, str, "")
    run.add([events[0]])
    for _ in range(MAX_SPANS + 10):
        run.add([replace(started, time=started.time + 1)])
    run.add([events[-1]])
    assert len(decoded(run)) == MAX_SPANS + 1
    assert run.dropped == 10


def test_texts_of_people_and_models_are_in_no_span() -> None:
    """No span has a string of a request, an argument, a result or an answer."""
    for name in ENDED:
        first, *_, last = STORIES[name]
        assert isinstance(first.kind, e.RunCreated)
        secret = "a secret text"
        request = replace(first.kind.request, text=secret, instructions=secret, workspace=secret)
        events = [replace(first, kind=replace(first.kind, request=request))]
        for event in STORIES[name][1:]:
            kind = event.kind
            if isinstance(kind, e.StepEnded):
                kind = replace(kind, output=secret, error=secret, handoff=secret)
            events.append(replace(event, kind=kind))
        assert events[-1] == last
        assert secret not in "".join(map(str, spans_of(events)))


def test_names_that_protobuf_cannot_hold_are_replaced() -> None:
    """A reason with a lone surrogate, or of any length, becomes a bounded text and disturbs nothing."""
    events = [
        replace(event, kind=replace(event.kind, problem=Problem("\ud800" + "X" * 10_000, "")))
        if isinstance(event.kind, e.RunEnded)
        else event
        for event in STORIES["0.1.0-failed"]
    ]
    root = next(span for span in spans_of(events) if span.parent_span_id == ABOVE)
    assert root.status.message == "?" + "X" * (MAX_CHARS - 1)
