"""The list entries of runs, kept consistent with their events, and the rules for every append."""

from collections.abc import Sequence
from typing import NamedTuple

from aeond.domain.plans.open_questions import NONE_OPEN, OpenQuestions, open_after
from aeond.domain.runs.events import Event, EventKind, RunCreated
from aeond.domain.runs.run import RunState
from aeond.errors import AlreadyExistsError, InvalidInputError
from aeond.frozen import frozen
from aeond.ports import RunSummary
from aeond.state_machine.transitions import RUN_TRANSITIONS, state_after

PREVIEW_CHARS = 200

# The page limit of a reader: more would keep memory for a client that reads slowly.
MAX_PAGE_EVENTS = 256
MAX_PAGE_RUNS = 500
PAGE_BYTES = 256 << 10


class RunLine(NamedTuple):
    """A run as a row of `runs`, in column order, with its parent from the first event."""

    run_id: str
    state: RunState
    text: str
    created_time: float
    changed_time: float
    last_seq: int
    uid: int
    session_id: str
    request_id: str
    parent_run_id: str

    @property
    def summary(self) -> RunSummary:
        return RunSummary(*self[:7], self.parent_run_id)


@frozen
class RunPart:
    """The part of an append that belongs to one run: its seqs have no gaps, and a RunCreated can only be its
    first event and the run's first.
    """

    run_id: str
    first_seq: int
    last_seq: int
    first_time: float
    last_time: float
    kinds: tuple[EventKind, ...]

    @property
    def created(self) -> RunCreated | None:
        first = self.kinds[0]
        return first if isinstance(first, RunCreated) else None

    @property
    def uid(self) -> int:
        """The user of a run that begins with this part; -1 for a part that continues one."""
        return -1 if self.created is None else self.created.request.owner.uid

    def check_follows(self, last_seq: int) -> None:
        """Raises AlreadyExistsError (SEQ_TAKEN) or InvalidInputError (SEQ_GAP) unless this part follows
        `last_seq`, the last event of the run (0: the run does not exist).
        """
        if self.first_seq <= last_seq:
            raise AlreadyExistsError(
                f"run {self.run_id} already has event {self.first_seq}: read from there",
                reason="SEQ_TAKEN",
            )
        if self.first_seq != last_seq + 1:
            raise _gap(self.run_id, last_seq, self.first_seq)

    def state_after(self, state: RunState, questions: OpenQuestions = NONE_OPEN) -> RunState:
        """The state of a run after these events, from its `state` and open questions before."""
        for kind in self.kinds:
            questions = open_after(questions, (kind,))
            if type(kind) in RUN_TRANSITIONS[state]:
                state = state_after(state, kind, asking=bool(questions))
        return state

    def begin(self, created: RunCreated) -> RunLine:
        """The list entry of a run that begins with this part."""
        request = created.request
        return RunLine(
            run_id=self.run_id,
            state=self.state_after(RunState.PENDING),
            text=request.text[:PREVIEW_CHARS],
            created_time=self.first_time,
            changed_time=self.last_time,
            last_seq=self.last_seq,
            uid=request.owner.uid,
            session_id=request.session_id,
            request_id=request.request_id,
            parent_run_id=created.ancestry.parent_run_id,
        )


def parts_of(events: Sequence[Event]) -> tuple[RunPart, ...]:
    """Splits an append by run. InvalidInputError (reason SEQ_GAP, RUN_NOT_CREATED, NO_EVENTS) if a run's
    events are out of order, or the run does not begin with RunCreated.
    """
    if not events:
        raise InvalidInputError("an append needs at least one event", reason="NO_EVENTS", field="events")
    by_run: dict[str, list[Event]] = {}
    for event in events:
        by_run.setdefault(event.run_id, []).append(event)
    parts = tuple(_part(run_id, own) for run_id, own in by_run.items())
    if len(parts) > 1:
        _check_requests_differ(parts)
    return parts


def request_id_taken(request_id: str, run_id: str) -> AlreadyExistsError:
    return AlreadyExistsError(
        f"the request {request_id!r} exists already: it is run {run_id}",
        reason="REQUEST_ID_TAKEN",
        field="request_id",
    )


def _check_requests_differ(parts: Sequence[RunPart]) -> None:
    seen: dict[tuple[int, str], str] = {}
    for part in parts:
        request = part.created.request if part.created else None
        if request is not None and request.request_id:
            first = seen.setdefault((request.owner.uid, request.request_id), part.run_id)
            if first != part.run_id:
                raise request_id_taken(request.request_id, first)


def _part(run_id: str, events: list[Event]) -> RunPart:
    first = events[0].seq
    for offset, event in enumerate(events):
        if event.seq != first + offset:
            raise _gap(run_id, first + offset - 1, event.seq)
        if (event.seq == 1) != isinstance(event.kind, RunCreated):
            raise InvalidInputError(
                f"run {run_id}: RunCreated must be the first event, and only the first",
                reason="RUN_NOT_CREATED",
                field="kind",
            )
    return RunPart(
        run_id, first, events[-1].seq, events[0].time, events[-1].time, tuple(event.kind for event in events)
    )


def _gap(run_id: str, last_seq: int, seq: int) -> InvalidInputError:
    return InvalidInputError(
        f"run {run_id} continues with event {last_seq + 1}, not {seq}", reason="SEQ_GAP", field="seq"
    )
