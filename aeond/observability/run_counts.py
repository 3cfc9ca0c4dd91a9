"""Counts the events of runs: everything in the metrics that the journal determines.

The counts start at 0 with each daemon and equal what a count over the journal's events since then gives.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
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


_Taking = Callable[[e.Event, Any, _RunProgress], None]


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
        self.used: Counter[Labels] = Counter()
        self.tokens: Counter[Labels] = Counter()
        self.cached_tokens: Counter[Labels] = Counter()
        self.engine_seconds: defaultdict[Labels, float] = defaultdict(float)
        self.first_token_seconds: Histograms = defaultdict(partial(Histogram, LONG))
        self.decisions: Counter[Labels] = Counter()
        self.approvals: Counter[Labels] = Counter()
        self._runs: dict[str, _RunProgress] = {}
        counting: dict[type[e.EventKind], _Taking] = {
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
        # Counts that depend on the progress are made before it advances.
        self._taking: dict[type[e.EventKind], tuple[_Taking, ...]] = {
            kind: tuple(taking[kind] for taking in (counting, _ADVANCING) if kind in taking)
            for kind in {*counting, *_ADVANCING}
        }

    def hear(self, events: Sequence[e.Event]) -> None:
        """Counts events of one run that were published together. The events that a fork copied are not counted: they
        happened in the original run."""
        first = events[0].kind
        if isinstance(first, e.RunCreated) and first.ancestry.forked_run_id:
            self._created(events[0], first, _RunProgress())
            self.recall(events[1:])
            return
        progress: _RunProgress | None = None
        for event in events:
            kind = event.kind
            for take in self._taking.get(type(kind), ()):
                if progress is None:
                    progress = self._progress_of(event.run_id)
                take(event, kind, progress)

    def recall(self, events: Iterable[e.Event]) -> None:
        """Takes note of earlier events of a run without counting them: those of an earlier daemon."""
        for event in events:
            progress = self._progress_of(event.run_id)
            if advance := _ADVANCING.get(type(event.kind)):
                advance(event, event.kind, progress)

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
        for dimension in DIMENSIONS:
            if amount := getattr(used, dimension):
                self.used[operation, dimension] += amount
        if use is not None:
            self.tokens[operation, "prompt"] += use.prompt_tokens
            self.tokens[operation, "completion"] += use.completion_tokens
            self.cached_tokens[operation,] += use.cached_tokens
            self.engine_seconds[operation,] += use.engine_seconds
            self.first_token_seconds[operation,].observe(use.first_token_seconds)


def _step_over(_event: e.Event, kind: e.StepEnded, progress: _RunProgress) -> None:
    if kind.model_use is not None:
        _add(progress, kind.model_use)
    if progress.open:
        progress.open = open_after(progress.open, (kind,))


def _operation_begun(event: e.Event, kind: e.OperationIntent, progress: _RunProgress) -> None:
    progress.operation, progress.operation_since = kind.operation, event.elapsed_seconds


def _operation_over(_event: e.Event, kind: e.OperationEnd, progress: _RunProgress) -> None:
    _add(progress, kind.model_use)
    if OPERATION_OF[type(kind)] == progress.operation:
        progress.operation = ""


def _question_changed(_event: e.Event, kind: e.EventKind, progress: _RunProgress) -> None:
    progress.open = open_after(progress.open, (kind,))


def _add(progress: _RunProgress, use: ModelUse | None) -> None:
    if use is not None:
        progress.engine_seconds += use.engine_seconds


_ADVANCING: Final[Mapping[type[e.EventKind], _Taking]] = {
    e.StepEnded: _step_over,
    **dict.fromkeys((e.OperationStarted, e.PlanningStarted, e.AnswerStarted), _operation_begun),
    **dict.fromkeys(OPERATION_OF, _operation_over),
    **dict.fromkeys(
        (
            *(e.InputRequested, e.InputAnswered, e.ApprovalRequested, e.ApprovalDecided),
            *(e.StepResolved, e.BudgetExhausted, e.CancelRequested),
        ),
        _question_changed,
    ),
}
