import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.capabilities.journal import encoding
from aeond.capabilities.journal.encoding import KINDS, Body, StoredEvent, decode, encode
from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs.events import LOGIC_VERSION, Event, RunParked, RunSuspended, StepEnded
from aeond.domain.runs.run import SuspendReason
from aeond.domain.values import JsonValue
from aeond.errors import ReplayError

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=20,
)


def ended(output: JsonValue) -> Event:
    return Event("r", 3, 1.5, 0.5, StepEnded("s", StepState.SUCCEEDED, StepMode.TOOL, output))


@given(JSON)
def test_any_json_value_is_read_as_it_was_written(output: JsonValue) -> None:
    """Whatever a step gives, a reader gets."""
    assert decode(encode(ended(output))) == ended(output)


def test_kinds_have_stable_names() -> None:
    """Each kind is stored under its name in snake_case, and no two share one."""
    assert len(KINDS) == 33
    assert {"run_created", "step_started", "plan_adopted", "cancel_requested"} < set(KINDS)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in KINDS)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"version": LOGIC_VERSION + 1}, "EVENT_NEWER"),
        ({"kind": "run_teleported"}, "EVENT_UNKNOWN"),
        ({"body": "{"}, "EVENT_UNREADABLE"),
        ({"body": "[]"}, "EVENT_UNREADABLE"),
        ({"body": '{"step_id": "s"}'}, "EVENT_UNREADABLE"),
        ({"body": '{"step_id": 1, "state": "succeeded", "mode": "tool"}'}, "EVENT_UNREADABLE"),
        ({"body": '{"step_id": "s", "state": "lost", "mode": "tool"}'}, "EVENT_UNREADABLE"),
    ],
)
def test_an_unreadable_event_is_rejected(change: dict[str, object], reason: str) -> None:
    """An event of a newer version, an unknown kind or a wrong shape is refused, not guessed at."""
    stored = StoredEvent(**(encode(ended(1))._asdict() | change))
    with pytest.raises(ReplayError) as refused:
        decode(stored)
    assert refused.value.reason == reason
    assert "event 3 of run r" in refused.value.message


def test_events_of_older_versions_are_brought_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """An event goes through the step of each version since its own, in order, kind and body."""
    monkeypatch.setattr(encoding, "LOGIC_VERSION", 4)

    def rename(kind: str, body: Body) -> tuple[str, Body]:
        return ("run_suspended" if kind == "run_halted" else kind), body

    def complete(kind: str, body: Body) -> tuple[str, Body]:
        return kind, ({"reason": body["why"], "message": "é"} if kind == "run_suspended" else body)

    upcasts = {1: rename, 3: complete}
    old = StoredEvent("r", 3, 1.0, 0.0, "run_halted", 1, '{"why": "disk_full"}')
    assert decode(old, upcasts).kind == RunSuspended(SuspendReason.DISK_FULL, "é")
    newer = old._replace(version=3, kind="run_suspended")
    assert decode(newer, upcasts).kind == RunSuspended(SuspendReason.DISK_FULL, "é")
    current = StoredEvent("r", 3, 1.0, 0.0, "run_parked", 4, "{}")
    assert decode(current, upcasts).kind == RunParked()


def test_a_field_that_came_later_has_its_default() -> None:
    """An event written before a field existed is read with the field's default."""
    stored = encode(ended(1))._replace(body='{"step_id": "s", "state": "failed", "mode": "agent"}')
    assert decode(stored).kind == StepEnded("s", StepState.FAILED, StepMode.AGENT)


def test_a_field_that_is_gone_is_passed_over() -> None:
    """An event with a field that no longer exists is read without it."""
    stored = encode(Event("r", 3, 1.0, 0.0, RunParked()))._replace(body='{"by": "signal"}')
    assert decode(stored).kind == RunParked()
