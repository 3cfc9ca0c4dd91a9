"""Events as the wire carries them: a run from its creation to its end, for tests of the clients."""

import json
from collections.abc import Iterable
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from aeond.api.v1 import events_pb2, parts_pb2, tools_pb2

START_TIME = 1_790_000_000


def numbered(run_id: str, *kinds: Any) -> list[events_pb2.Event]:
    """Events with these kinds, numbered from 1; TextDelta and Progress get no number."""
    events, seq = [], 0
    for kind in kinds:
        live = isinstance(kind, events_pb2.TextDelta | events_pb2.Progress)
        seq += not live
        events.append(event(run_id, 0 if live else seq, kind))
    return events


def event(run_id: str, seq: int, kind: Any) -> events_pb2.Event:
    """An event of this kind; None stands for a kind that is not in the contract yet."""
    wire = events_pb2.Event(run_id=run_id, seq=seq, elapsed_seconds=seq / 10)
    if seq:
        wire.time.seconds = START_TIME + seq
    if kind is None:
        wire.MergeFromString(b"\xa2\x1f\x00")  # an empty message as field 500
        return wire
    descriptor = events_pb2.Event.DESCRIPTOR.oneofs_by_name["kind"]
    name = next(field.name for field in descriptor.fields if field.message_type is kind.DESCRIPTOR)
    getattr(wire, name).CopyFrom(kind)
    return wire


def tool_step(step_id: str, tool: str, **arguments: Any) -> parts_pb2.PlanStep:
    call = tools_pb2.ToolCall(tool=tool, arguments_json=json.dumps(arguments))
    return parts_pb2.PlanStep(step_id=step_id, description=f"Use {tool}", tool_call=call)


def created(text: str = "What is 17.5% of 2400?", workspace: str = "") -> events_pb2.RunCreated:
    return events_pb2.RunCreated(request=parts_pb2.RunRequest(text=text, workspace=workspace))


def adopted(*steps: parts_pb2.PlanStep) -> events_pb2.PlanAdopted:
    plan = parts_pb2.Plan(goal="the answer", steps=steps)
    return events_pb2.PlanAdopted(plan=plan, source=parts_pb2.PLAN_SOURCE_MODEL)


def step_started(step: parts_pb2.PlanStep) -> events_pb2.StepStarted:
    return events_pb2.StepStarted(step=step, attempt=1, mode=parts_pb2.STEP_MODE_TOOL)


def step_ended(
    step_id: str, output: Any = None, *, error: str = "", state: "parts_pb2.StepState.ValueType | None" = None
) -> events_pb2.StepEnded:
    fallback = parts_pb2.STEP_STATE_FAILED if error else parts_pb2.STEP_STATE_SUCCEEDED
    return events_pb2.StepEnded(
        step_id=step_id,
        state=fallback if state is None else state,
        output_json="" if output is None else json.dumps(output),
        error=error,
        reason="TOOL_FAILED" if error else "",
        duration_seconds=0.25,
    )


def composed(
    text: str, *notes: str, effects: Iterable[tools_pb2.RecordedEffect] = ()
) -> events_pb2.AnswerComposed:
    answer = parts_pb2.Answer(text=text, confidence=1.0, notes=notes, synthesized=True, effects=effects)
    return events_pb2.AnswerComposed(answer=answer)


def ended(
    state: "parts_pb2.RunState.ValueType" = parts_pb2.RUN_STATE_SUCCEEDED, *, message: str = ""
) -> events_pb2.RunEnded:
    problem = parts_pb2.Problem(reason="NO_PLAN", message=message) if message else None
    return events_pb2.RunEnded(state=state, problem=problem)


def answered_run(answer: str = "It is 420.", *, deltas: int = 3) -> list[Any]:
    """The kinds of a run of two steps, its answer written in pieces."""
    calculate = tool_step("s1", "calculator", expression="2400 * 0.175")
    remember = tool_step("s2", "remember", key="bonus", value=420)
    size = -(-len(answer) // deltas)
    pieces = [
        events_pb2.TextDelta(text=answer[start : start + size], offset=start)
        for start in range(0, len(answer), size)
    ]
    return [
        created(),
        events_pb2.RunStarted(),
        events_pb2.PlanningStarted(),
        events_pb2.Progress(activity="loading the model", fraction=0.5),
        adopted(calculate, remember),
        events_pb2.PassStarted(pass_index=1),
        step_started(calculate),
        step_ended("s1", 420.0),
        step_started(remember),
        step_ended("s2", {"written": True}),
        events_pb2.PassEnded(pass_index=1),
        events_pb2.AnswerStarted(),
        *pieces,
        composed(answer, effects=[tools_pb2.RecordedEffect(kind="fact.remembered", target="bonus")]),
        ended(),
    ]


def one_of_each_kind() -> list[Any]:
    """An event of each kind of the contract with every field set, `run_ended` last."""
    fields = events_pb2.Event.DESCRIPTOR.oneofs_by_name["kind"].fields
    kinds = [getattr(events_pb2.Event(), field.name) for field in fields if field.name != "run_ended"]
    return [filled(kind) for kind in [*kinds, events_pb2.RunEnded()]]


def filled(message: Any) -> Any:
    """The message with a value in each field, also in those of the messages inside; JSON where it must be JSON."""
    if isinstance(message, Timestamp):
        message.seconds = START_TIME
        return message
    for field in message.DESCRIPTOR.fields:
        repeated = field.is_repeated
        if field.message_type and field.message_type.GetOptions().map_entry:
            getattr(message, field.name)["größe"] = "世界"
        elif field.message_type:
            held = getattr(message, field.name)
            filled(held.add() if repeated else held)
            if not repeated:
                held.SetInParent()
        elif repeated:
            getattr(message, field.name).append(_value(field))
        else:
            setattr(message, field.name, _value(field))
    return message


def _value(field: Any) -> Any:
    if field.enum_type:
        return field.enum_type.values[-1].number
    if field.name.endswith("_json"):
        return '{"größe": [1, 2.5, null]}'
    by_type = {field.TYPE_STRING: "Zoë ☃", field.TYPE_BOOL: True, field.TYPE_DOUBLE: 0.1, field.TYPE_INT32: 7}
    return by_type.get(field.type, 1 << 40)
