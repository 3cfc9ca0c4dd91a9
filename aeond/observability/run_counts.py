"""Counts the events of runs: everything in the metrics that the journal determines.

The counts start at 0 with each daemon and equal what a count over the journal's events since then gives.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from aeond.domain.plans.open_questions import NONE_OPEN, OpenQuestions, is_approval, open_after
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import DIMENSIONS, Amounts, ModelUse
from aeond.domain.runs.run import Operation
from aeond.observability.histogram import LONG, Histogram

STEP: Final = "step"
OPERATION_OF: Final[dict[type[e.EventKind], str]] = {
    e.ReferencesResolved: Operation.RESOLVE,
    e.RouteChosen: Operation.ROUTE,
    e.ProfileInferred: Operation.PROFILE,
    e.PlanAdopted: Operation.PLAN,
    e.PlanningFailed: Operation.PLAN,
    e.PassEvaluated: Operation.EVALUATE,
    e.PlanRefined: Operation.REFINE,
    e.AnswerComposed: Operation.ANSWER,
}
"""By the class of an event that ends an operation: the operation."""

Labels = tuple[str, ...]
Histograms = defaultdict[Labels, Histogram]


@dataclass(slots=True)
class _RunProgress:
    """The part of a run's history that later counts depend on."""

    operation: str = ""
    operation_since: float = 0.0
    engine_seconds: float = 0.0
    open: OpenQuestions = field(default_factory=lambda: NONE_OPEN)


@dataclass(slots=True)
class _Used:
    """Amounts that are added to: a new object for each sum would take as long as the rest of a step's counts."""

    ttl: int = 0
    llm_calls: int = 0
    tokens: int = 0
    tool_calls: int = 0
    passes: int = 0


class RunCounts:
    """Counts of events by kind and bounded labels. Each attribute maps label values to a number or a histogram."""

    def __init__(self) -> None:
        self.created: Counter[Labels] = Counter()
        self.ended: Counter[Labels] = Counter()
        self.suspended: Counter[Labels] = Counter()
        self.resumed: Counter[Labels] = Counter()
        self.run_seconds: Histograms = defaultdict(partial(Histogram, LONG))
        self.run_engine_seconds: Histograms = defaultdict(partial(Histogram, LONG))
        self.steps: Counter[Labels] = Counter()
        self.step_seconds: Histograms = defaultdict(partial(Histogram, LONG))
        self.operations: Counter[Labels] = Counter()
        self.operation_seconds: Histograms = defaultdict(partial(Histogram, LONG))
        self._used: defaultdict[str, _Used] = defaultdict(_Used)  # by operation
        self.tokens: Counter[Labels] = Counter()
        self.cached_tokens: Counter[Labels] = Counter()
        self.engine_seconds: defaultdict[Labels, float] = defaultdict(float)
        self.first_token_seconds: Histograms = defaultdict(partial(Histogram, LONG))
        self.decisions: Counter[Labels] = Counter()
        self.approvals: Counter[Labels] = Counter()
        self._runs: dict[str, _RunProgress] = {}
        self._counting: dict[type[e.EventKind], Callable[[e.Event, Any, _RunProgress], None]] = {
            e.RunCreated: self._created,
            e.RunEnded: self._ended,
            e.RunSuspended: self._suspended,
            e.RunResumed: self._resumed,
            e.StepEnded: self._step_ended,
            e.StepRepaired: self._charged,
            e.InputRequested: self._charged,
            e.ChildRunStarted: self._charged,
            e.ApprovalRequested: self._asked,
            e.ApprovalDecided: self._approved,
            e.PolicyDecided: self._decided,
            **dict.fromkeys(OPERATION_OF, self._operation_ended),
        }
        self._heard = frozenset({*self._counting, *_ADVANCING})

    def hear(self, events: Sequence[e.Event]) -> None:
        """Counts events of one run that were published together. The events that a fork copied are not counted: they
        happened in the original run."""
        first = events[0].kind
        if isinstance(first, e.RunCreated) and first.ancestry.forked_run_id:
            self.recall(events[1:])
            events = events[:1]
        progress: _RunProgress | None = None
        for event in events:
            kind = event.kind
            if type(kind) in self._heard:
                progress = progress or self._progress_of(event.run_id)
                if count := self._counting.get(type(kind)):
                    count(event, kind, progress)
                if type(kind) in _ADVANCING:
                    _advance(progress, event)

    def recall(self, events: Iterable[e.Event]) -> None:
        """Takes note of earlier events of a run without counting them: those of an earlier daemon."""
        for event in events:
            _advance(self._progress_of(event.run_id), event)

    @property
    def used(self) -> dict[Labels, int]:
        """What was charged, by operation and dimension."""
        return {
            (operation, dimension): amount
            for operation, sums in self._used.items()
            for dimension in DIMENSIONS
            if (amount := getattr(sums, dimension))
        }

    @property
    def open_approvals(self) -> int:
        return sum(map(is_approval, self._open()))

    @property
    def open_questions(self) -> int:
        return sum(not is_approval(name) for name in self._open())

    def _open(self) -> Iterable[str]:
        return (name for progress in self._runs.values() for name in progress.open)

    # ------------------------------------------------------------ counting

    def _progress_of(self, run_id: str) -> _RunProgress:
        progress = self._runs.get(run_id)
        if progress is None:
            progress = self._runs[run_id] = _RunProgress()
        return progress

    def _created(self, _event: e.Event, kind: e.RunCreated, _progress: _RunProgress) -> None:
        forked = "fork" if kind.ancestry.forked_run_id else "client"
        self.created["child" if kind.ancestry.parent_run_id else forked,] += 1

    def _ended(self, event: e.Event, kind: e.RunEnded, progress: _RunProgress) -> None:
        del self._runs[event.run_id]
        self.ended[kind.state,] += 1
        self.run_seconds[kind.state,].observe(event.elapsed_seconds)
        self.run_engine_seconds[()].observe(progress.engine_seconds)

    def _suspended(self, _event: e.Event, kind: e.RunSuspended, _progress: _RunProgress) -> None:
        self.suspended[kind.reason,] += 1

    def _resumed(self, _event: e.Event, _kind: e.RunResumed, _progress: _RunProgress) -> None:
        self.resumed[()] += 1

    def _step_ended(self, _event: e.Event, kind: e.StepEnded, _progress: _RunProgress) -> None:
        self.steps[kind.mode, kind.state] += 1
        self.step_seconds[kind.mode,].observe(kind.duration_seconds)
        self._charge(STEP, kind.used, kind.model_use)
        if kind.policy_version:  # the decision about a call that only computes
            self.decisions["allow", "pure"] += 1

    def _charged(
        self,
        _event: e.Event,
        kind: e.StepRepaired | e.InputRequested | e.ChildRunStarted | e.ApprovalRequested,
        _progress: _RunProgress,
    ) -> None:
        self._charge(STEP, kind.used, None)

    def _asked(self, event: e.Event, kind: e.ApprovalRequested, progress: _RunProgress) -> None:
        self._charged(event, kind, progress)
        if kind.opens:
            self.approvals["requested",] += 1

    def _approved(self, _event: e.Event, kind: e.ApprovalDecided, _progress: _RunProgress) -> None:
        self.approvals["expired" if kind.expired else "approved" if kind.approved else "denied",] += 1

    def _decided(self, _event: e.Event, kind: e.PolicyDecided, _progress: _RunProgress) -> None:
        self.decisions[kind.verdict, kind.effect] += 1

    def _operation_ended(self, event: e.Event, kind: e.OperationEnd, progress: _RunProgress) -> None:
        operation = OPERATION_OF[type(kind)]
        self._charge(operation, kind.used, kind.model_use)
        if operation == progress.operation:
            self.operations[operation,] += 1
            self.operation_seconds[operation,].observe(event.elapsed_seconds - progress.operation_since)

    def _charge(self, operation: str, used: Amounts, use: ModelUse | None) -> None:
        sums = self._used[operation]
        sums.ttl += used.ttl
        sums.llm_calls += used.llm_calls
        sums.tokens += used.tokens
        sums.tool_calls += used.tool_calls
        sums.passes += used.passes
        if use is not None:
            self.tokens[operation, "prompt"] += use.prompt_tokens
            self.tokens[operation, "completion"] += use.completion_tokens
            self.cached_tokens[operation,] += use.cached_tokens
            self.engine_seconds[operation,] += use.engine_seconds
            self.first_token_seconds[operation,].observe(use.first_token_seconds)


_STARTING: Final = (e.OperationStarted, e.PlanningStarted, e.AnswerStarted)
_ASKING: Final = (
    *(e.InputRequested, e.InputAnswered, e.ApprovalRequested, e.ApprovalDecided),
    *(e.StepResolved, e.BudgetExhausted, e.CancelRequested),
)
_ADVANCING: Final = frozenset({*_STARTING, *_ASKING, *OPERATION_OF, e.StepEnded})


def _advance(progress: _RunProgress, event: e.Event) -> None:
    kind = event.kind
    match kind:
        case e.StepEnded():
            _add(progress, kind.model_use)
            if progress.open:
                progress.open = open_after(progress.open, (kind,))
        case e.OperationStarted() | e.PlanningStarted() | e.AnswerStarted():
            progress.operation, progress.operation_since = kind.operation, event.elapsed_seconds
        case _ if isinstance(kind, _ASKING):
            progress.open = open_after(progress.open, (kind,))
        case _ if isinstance(kind, e.OperationEnd):
            _add(progress, kind.model_use)
            if OPERATION_OF[type(kind)] == progress.operation:
                progress.operation = ""
        case _:
            pass


def _add(progress: _RunProgress, use: ModelUse | None) -> None:
    if use is not None:
        progress.engine_seconds += use.engine_seconds
