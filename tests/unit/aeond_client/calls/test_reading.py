"""Wire messages as records."""

import pytest

from aeond.api.v1 import events_pb2, judgements_pb2, parts_pb2, runs_pb2, tools_pb2
from aeond_client import events
from aeond_client.calls.reading import event, read
from aeond_client.events import PassEvaluated, RunCreated, StepResolved, UnknownKind
from aeond_client.records.runs import Budget, Run, RunState, Step
from aeond_client.records.tools import ToolSpec

KINDS = [field.name for field in events_pb2.Event.DESCRIPTOR.oneofs_by_name["kind"].fields]
KNOWN = {name for name in KINDS if hasattr(events, "".join(word.capitalize() for word in name.split("_")))}


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_is_read_even_when_it_is_empty(name: str) -> None:
    """Every kind of the contract becomes the record of its name, or one that keeps the name."""
    wire = events_pb2.Event(run_id="run", seq=7)
    getattr(wire, name).SetInParent()
    found = event(wire)
    assert (found.run_id, found.seq) == ("run", 7)
    if name in KNOWN:
        assert type(found.kind).__name__.lower() == name.replace("_", "")
    else:
        assert found.kind == UnknownKind(name)


def test_every_kind_that_is_sent_has_a_record() -> None:
    """Only kinds that no daemon of this version sends have no record of their own."""
    assert {"run_created", "step_ended", "answer_composed", "text_delta", "progress"} <= KNOWN
    assert all(events_pb2.Event.DESCRIPTOR.fields_by_name[name].number >= 40 for name in set(KINDS) - KNOWN)


def test_a_creation_keeps_what_was_asked() -> None:
    """The first event of a run has the words, labels and model of its request, and the run that it comes from."""
    request = parts_pb2.RunRequest(text="What?", labels={"from": "popup"}, model="tiny")
    wire = events_pb2.RunCreated(request=request, parent_run_id="above", forked_run_id="before")
    kind = event(events_pb2.Event(run_id="run", seq=1, run_created=wire)).kind
    assert isinstance(kind, RunCreated)
    assert (kind.text, kind.labels, kind.model) == ("What?", {"from": "popup"}, "tiny")
    assert (kind.parent_run_id, kind.forked_run_id) == ("above", "before")


def test_a_kind_that_the_contract_does_not_know_is_kept_as_unknown() -> None:
    """An event of a newer daemon keeps its number, so that nothing seems to be missing."""
    wire = events_pb2.Event.FromString(
        events_pb2.Event(run_id="run", seq=3).SerializeToString() + b"\xa2\x1f\x00"
    )
    assert event(wire).kind == UnknownKind()
    assert event(wire).seq == 3


def test_a_value_from_the_future_is_unspecified() -> None:
    """A state that a newer daemon invents is read as unspecified, and the rest of the run stays readable."""
    wire = runs_pb2.Run(run_id="run")
    wire.state = 99  # type: ignore[assignment]  # a number that this contract does not know
    assert read(Run, wire).state is RunState.UNSPECIFIED


def test_a_step_keeps_what_it_gave() -> None:
    """An output arrives as the JSON value that it was, and one that was left out as none with its size."""
    wire = runs_pb2.Step(
        step=parts_pb2.PlanStep(
            step_id="s1", tool_call=tools_pb2.ToolCall(tool="t", arguments_json='{"a": 1}')
        ),
        state=parts_pb2.STEP_STATE_SUCCEEDED,
        output_json='{"big": 12345678901234567890}',
    )
    step = read(Step, wire)
    assert (step.plan_step.tool, step.plan_step.arguments) == ("t", {"a": 1})
    assert step.output == {"big": 12345678901234567890}
    left_out: Step = read(Step, runs_pb2.Step(output_bytes=100_000))
    assert (left_out.output, left_out.output_bytes) == (None, 100_000)


def test_a_bound_of_zero_is_not_the_same_as_none() -> None:
    """A budget of zero and an unset budget differ."""
    assert read(Budget, parts_pb2.Budget(ttl=0, wall_seconds=1.5)) == Budget(ttl=0, wall_seconds=1.5)


def test_words_are_the_contracts_without_its_prefix() -> None:
    """An enum's value is its name without the prefix, in lower case; an optional one that is not set is empty."""
    assert (
        read(ToolSpec, tools_pb2.ToolSpec(effect=tools_pb2.EFFECT_WRITE_CONTAINED)).effect
        == "write_contained"
    )
    assert read(ToolSpec, tools_pb2.ToolSpec()).recovery == ""
    assert read(ToolSpec, tools_pb2.ToolSpec()).effect == "unspecified"


def test_a_word_of_a_newer_daemon_is_unspecified() -> None:
    """A number without a name is unspecified, or empty where the value is optional."""
    wire = runs_pb2.Run()
    wire.phase = 99  # type: ignore[assignment]  # a number that this contract does not know
    assert read(Run, wire).phase == ""
    resolved = events_pb2.StepResolved()
    resolved.resolution = 99  # type: ignore[assignment]
    assert read(StepResolved, resolved).resolution == "unspecified"


def test_scores_that_were_not_given_are_none() -> None:
    """A pass that was not scored has no scores, and one that was scored has those of the daemon."""
    assert read(PassEvaluated, judgements_pb2.PassEvaluated(coherence=0.5)).coherence is None
    assert read(PassEvaluated, judgements_pb2.PassEvaluated(coherence=0.5, scored=True)).coherence == 0.5
