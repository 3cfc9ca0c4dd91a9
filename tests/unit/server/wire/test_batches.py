from collections.abc import Sequence
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.api.v1 import events_pb2, runs_pb2
from aeond.domain.plans.plan import PlanStep, StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs import events as ours
from aeond.domain.runs.budgets import Amounts, Budget
from aeond.domain.runs.events import Event, PassStarted, RunSuspended
from aeond.domain.runs.live_updates import LiveUpdate, TextDelta
from aeond.domain.runs.questions import InputRequest, Question
from aeond.domain.runs.run import RunRequest, RunState, SuspendReason
from aeond.domain.tools import Recovery
from aeond.server.wire import batches as module
from aeond.server.wire.batches import EventBytes, batches, event_to_wire, live_update_to_wire
from tests.support.likeness import differences, filled

WATCH = runs_pb2.WatchRunResponse.DESCRIPTOR


def event(seq: int, text: str = "") -> Event:
    return Event("run-1", seq, 1.5, 0.5, RunSuspended(SuspendReason.DISK_FULL, text))


@pytest.mark.parametrize("response", [runs_pb2.WatchRunResponse, runs_pb2.RunAndWatchResponse])
def test_a_batch_is_what_protobuf_would_have_written(
    response: type[runs_pb2.WatchRunResponse] | type[runs_pb2.RunAndWatchResponse],
) -> None:
    """Putting encoded events together gives byte for byte the response that holds them."""
    items: Sequence[Event | LiveUpdate] = [
        event(1),
        TextDelta("run-1", "", "x" * 300, 0),
        event(2, "y" * 20_000),
    ]
    (part,) = batches(items, response.DESCRIPTOR, EventBytes())
    wire = [event_to_wire(i) if isinstance(i, Event) else live_update_to_wire(i) for i in items]
    assert part.message == response(events=wire).SerializeToString()
    assert part.last_seq == 2


def test_large_batches_are_split_without_loss() -> None:
    """No message grows far beyond its bound, and every event is in exactly one."""
    items = [event(seq, "z" * 30_000) for seq in range(1, 41)]
    parts = list(batches(items, WATCH, EventBytes()))
    assert all(len(part.message) < module.MAX_BATCH_BYTES + 31_000 for part in parts)
    seqs = [e.seq for part in parts for e in runs_pb2.WatchRunResponse.FromString(part.message).events]
    assert seqs == list(range(1, 41))
    assert [part.last_seq for part in parts] == sorted(part.last_seq for part in parts)
    assert parts[-1].last_seq == 40


def test_text_alone_moves_no_cursor() -> None:
    """A batch of live text says nothing about where to go on."""
    (part,) = batches([TextDelta("run-1", "", "x", 0)], WATCH, EventBytes())
    assert part.last_seq == -1


def test_an_event_is_encoded_once_for_all_watchers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second watcher of an event costs no second translation."""
    translated: list[int] = []

    def counting(item: Event) -> object:
        translated.append(item.seq)
        return event_to_wire(item)

    monkeypatch.setattr(module, "event_to_wire", counting)
    encoded = EventBytes()
    for _ in range(3):
        list(batches([event(1), event(2)], WATCH, encoded))
    assert translated == [1, 2]


def test_the_kept_events_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Old events make room for new ones, and huge ones are not kept at all."""
    monkeypatch.setattr(module, "MAX_KEPT_BYTES", 10_000)
    encoded = EventBytes()
    for seq in range(1, 100):
        encoded.encode(Event("run-1", seq, 1.0, 1.0, PassStarted(seq)))
        encoded.encode(event(1_000 + seq, "w" * 1_000))
        encoded.encode(event(2_000 + seq, "w" * 20_000))
    assert 0 < encoded._kept_bytes <= 10_000


KINDS = get_args(ours.EventKind)
# Of a request: beside it, in RunCreated; the identity of its workspace and its trace context are of use to the daemon alone. Of a question: in its default and its deadline.
SENT_ELSEWHERE = {
    ours.RunCreated: frozenset(
        {"owner", "instructions", "tools", "model", "workspace_identity", "trace_parent"}
    ),
    ours.InputRequested: frozenset({"has_default", "deadline_seconds", "asked_time"}),
}
OF_NO_USE = frozenset({"rights"})  # of an owner, whose groups concern the daemon alone


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_arrives_whole(kind: type) -> None:
    """Each kind of event becomes the message of the same name with every field in it, after a trip as bytes."""
    event = ours.Event("run-1", 7, 1_790_000_000.25, 3.5, filled(kind))
    wire = events_pb2.Event.FromString(event_to_wire(event).SerializeToString())
    name = wire.WhichOneof("kind")
    assert name is not None
    message = getattr(wire, name)
    assert message.DESCRIPTOR.name == kind.__name__
    skip = SENT_ELSEWHERE.get(kind, frozenset()) | OF_NO_USE
    assert differences(event.kind, message, skip) == []
    assert (wire.run_id, wire.seq, wire.elapsed_seconds) == ("run-1", 7, 3.5)
    assert (wire.time.seconds, wire.time.nanos) == (1_790_000_000, 250_000_000)


@pytest.mark.parametrize(
    "kind",
    [
        ours.RunCreated(RunRequest("hello"), Budget()),
        ours.StepStarted(PlanStep("s1", ""), 1, StepMode.AGENT, Recovery.RERUN, Amounts()),
        ours.StepEnded("s1", StepState.SKIPPED, StepMode.AGENT),
        ours.RunEnded(RunState.SUCCEEDED),
    ],
)
def test_a_missing_optional_part_is_not_set(kind: ours.EventKind) -> None:
    """An optional part that is missing is not set on the wire, or UNSPECIFIED."""
    wire = event_to_wire(ours.Event("run-1", 1, 0.0, 0.0, kind))
    message = getattr(wire, str(wire.WhichOneof("kind")))
    optional = [f for f in message.DESCRIPTOR.fields if f.name in {"plan", "problem", "tool_call", "clarity"}]
    for field in optional:
        assert field.name not in [shown.name for shown, _ in message.ListFields()]


def test_the_owner_of_a_run_is_reported_beside_its_request() -> None:
    """The first event of a run contains its owner."""
    created = filled(ours.RunCreated)
    wire = event_to_wire(ours.Event("run-1", 1, 0.0, 0.0, created))
    assert wire.run_created.owner.uid == created.request.owner.uid
    assert wire.run_created.owner.pid == created.request.owner.pid


def test_the_first_event_has_what_a_template_or_fork_chose() -> None:
    """The system prompt, the tools and the model of a run are in its first event."""
    created = filled(ours.RunCreated)
    wire = event_to_wire(ours.Event("run-1", 1, 0.0, 0.0, created)).run_created
    assert (wire.instructions, wire.model) == (created.request.instructions, created.request.model)
    assert tuple(wire.tools) == created.request.tools


def test_a_question_tells_its_default_and_its_deadline() -> None:
    """A question without default and deadline has neither on the wire; one with both has both."""
    bare = ours.InputRequested(Question("q", "s1", InputRequest("which?"), 5.0))
    complete = ours.InputRequested(
        Question("q", "s1", InputRequest("which?", default="a", has_default=True, deadline_seconds=60.0), 5.0)
    )
    without, with_both = (
        event_to_wire(ours.Event("run-1", 1, 0.0, 0.0, kind)).input_requested.question
        for kind in (bare, complete)
    )
    assert (without.default_json, without.HasField("deadline_time")) == ("", False)
    assert (with_both.default_json, with_both.deadline_time.seconds) == ('"a"', 65)


@pytest.mark.parametrize("kind", get_args(LiveUpdate))
def test_a_live_update_has_no_number(kind: type) -> None:
    """Text and progress arrive whole, with neither number nor time."""
    update = filled(kind)
    wire = events_pb2.Event.FromString(live_update_to_wire(update).SerializeToString())
    name = wire.WhichOneof("kind")
    assert name is not None
    assert differences(update, getattr(wire, name), frozenset({"run_id"})) == []
    assert wire.run_id == update.run_id
    assert wire.seq == 0
    assert not wire.HasField("time")


@given(st.text(st.characters(blacklist_categories=())))
def test_no_text_of_a_model_breaks_a_stream(text: str) -> None:
    """Whatever a model writes, lone surrogates included, becomes an event that can be sent."""
    live_update_to_wire(TextDelta("run-1", "s1", text, 0)).SerializeToString()
    ended = filled(ours.AnswerComposed)
    answer = type(ended.answer)(text=text, notes=(text,))
    event_to_wire(ours.Event("run-1", 1, 0.0, 0.0, ours.AnswerComposed(answer))).SerializeToString()
