"""Runs from the wire to records."""

from aeond.api.v1 import parts_pb2, runs_pb2, tools_pb2
from aeond_client.calls import reading
from aeond_client.records.runs import RunState, Step


def test_a_value_from_the_future_is_unspecified() -> None:
    """A state that a newer daemon invents is read as unspecified, and the rest of the run stays readable."""
    wire = runs_pb2.Run(run_id="run")
    wire.state = 99  # type: ignore[assignment]  # a number that this contract does not know
    assert reading.run(wire).state is RunState.UNSPECIFIED


def test_a_step_keeps_what_it_gave() -> None:
    """An output arrives as the JSON value that it was, and one that was left out as none with its size."""
    wire = runs_pb2.Step(
        step=parts_pb2.PlanStep(
            step_id="s1", tool_call=tools_pb2.ToolCall(tool="t", arguments_json='{"a": 1}')
        ),
        state=parts_pb2.STEP_STATE_SUCCEEDED,
        output_json='{"big": 12345678901234567890}',
    )
    step = reading.step(wire)
    assert (step.plan_step.tool, step.plan_step.arguments) == ("t", {"a": 1})
    assert step.output == {"big": 12345678901234567890}
    left_out: Step = reading.step(runs_pb2.Step(output_bytes=100_000))
    assert (left_out.output, left_out.output_bytes) == (None, 100_000)
