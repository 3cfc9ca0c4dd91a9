"""Every metric with its meaning, its labels and where its values come from."""

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from aeond.domain.daemons import DaemonSnapshot, DaemonState
from aeond.domain.llm import EngineMetrics, EngineState
from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.policy import Effect, Verdict
from aeond.domain.runs.budgets import DIMENSIONS
from aeond.domain.runs.run import Operation, RunState, SuspendReason
from aeond.frozen import frozen
from aeond.observability.histogram import LONG, Histogram
from aeond.observability.run_counts import STEP, Labels, RunCounts


@frozen
class Export:
    """What became of spans and of the requests to the collector, since the daemon started."""

    exported: int = 0
    dropped: int = 0


@frozen
class Reading:
    """Everything that one page shows. `commits` is the time from an append to its being durable."""

    counts: RunCounts
    daemon: DaemonSnapshot
    runs: Mapping[RunState, int]
    commits: Histogram
    connections: int = 0
    streams: int = 0
    spans: Export = Export()

    @property
    def engine(self) -> EngineMetrics:
        return self.daemon.metrics or EngineMetrics()


Kind = type[CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily]
Value = float | Histogram
Values = Callable[[Reading], Value | Mapping[Labels, Value]]


@frozen
class Family:
    """A metric. `values` gives a value for each combination of labels, or the one of a metric without labels. `labels` has the
    known values of each label: they are shown with 0 before anything was counted, because to Prometheus the value with which a
    series appears is no increase."""

    kind: Kind
    name: str
    meaning: str
    values: Values
    labels: Mapping[str, Iterable[str]]

    def metric(self, reading: Reading) -> Metric:
        shown = self.kind(self.name, self.meaning, labels=tuple(self.labels))
        nothing: Value = Histogram(LONG) if self.kind is HistogramMetricFamily else 0.0
        values: dict[Labels, Value] = dict.fromkeys(product(*self.labels.values()), nothing)
        found = self.values(reading)
        values.update(found if isinstance(found, Mapping) else {(): found})
        for labels, value in values.items():
            if isinstance(value, Histogram):
                assert isinstance(shown, HistogramMetricFamily)
                shown.add_metric(labels, value.buckets, value.sum)
            else:
                assert not isinstance(shown, HistogramMetricFamily)
                shown.add_metric(labels, value)
        return shown


def _counter(name: str, meaning: str, values: Values, **labels: Iterable[str]) -> Family:
    return Family(CounterMetricFamily, name, meaning, values, labels)


def _gauge(name: str, meaning: str, values: Values, **labels: Iterable[str]) -> Family:
    return Family(GaugeMetricFamily, name, meaning, values, labels)


def _histogram(name: str, meaning: str, values: Values, **labels: Iterable[str]) -> Family:
    return Family(HistogramMetricFamily, name, meaning, values, labels)


_ENDS: Final = tuple(state for state in RunState if state.ended)
_STEP_ENDS: Final = (*(state for state in StepState if state.ended), StepState.UNKNOWN)
_OPERATIONS: Final = (*Operation, STEP)

FAMILIES: Final = (
    _gauge(
        "aeond_runs",
        "Runs in the journal by state.",
        lambda now: {(state,): count for state, count in now.runs.items()},
        state=RunState,
    ),
    _gauge(
        "aeond_runs_active",
        "Runs that occupy a slot or work below one.",
        lambda now: now.daemon.load.running_runs,
    ),
    _gauge(
        "aeond_runs_active_limit", "Slots: runs.max_running.", lambda now: now.daemon.load.max_running_runs
    ),
    _gauge("aeond_runs_queued", "Runs that wait for a slot.", lambda now: now.daemon.load.waiting_runs),
    _gauge(
        "aeond_runs_queued_limit",
        "Places in the queue: runs.max_waiting.",
        lambda now: now.daemon.load.max_waiting_runs,
    ),
    _counter(
        "aeond_runs_created",
        "Runs created, by origin: client, child or fork.",
        lambda now: now.counts.created,
        origin=("client", "child", "fork"),
    ),
    _counter("aeond_runs_ended", "Runs that ended, by state.", lambda now: now.counts.ended, state=_ENDS),
    _counter(
        "aeond_runs_suspended",
        "Suspensions of runs, by reason.",
        lambda now: now.counts.suspended,
        reason=SuspendReason,
    ),
    _counter(
        "aeond_runs_resumed",
        "Resumptions of runs after a restart or a suspension.",
        lambda now: now.counts.resumed,
    ),
    _histogram(
        "aeond_run_seconds",
        "Working time of ended runs, by state.",
        lambda now: now.counts.run_seconds,
        state=_ENDS,
    ),
    _histogram(
        "aeond_run_engine_seconds",
        "Engine time of an ended run, summed over its model calls.",
        lambda now: now.counts.run_engine_seconds,
    ),
    _counter(
        "aeond_steps",
        "Steps that ended, by mode and state.",
        lambda now: now.counts.steps,
        mode=StepMode,
        state=_STEP_ENDS,
    ),
    _histogram(
        "aeond_step_seconds",
        "Duration of steps, by mode.",
        lambda now: now.counts.step_seconds,
        mode=StepMode,
    ),
    _counter(
        "aeond_operations",
        "Operations of runs that ended.",
        lambda now: now.counts.operations,
        operation=Operation,
    ),
    _histogram(
        "aeond_operation_seconds",
        "Duration of operations of runs.",
        lambda now: now.counts.operation_seconds,
        operation=Operation,
    ),
    _counter(
        "aeond_budget_used",
        "Amounts charged to the budgets of runs, by operation and dimension.",
        lambda now: now.counts.used,
        operation=_OPERATIONS,
        dimension=DIMENSIONS,
    ),
    _counter(
        "aeond_model_tokens",
        "Tokens of model calls: prompt and completion.",
        lambda now: now.counts.tokens,
        operation=_OPERATIONS,
        kind=("prompt", "completion"),
    ),
    _counter(
        "aeond_model_cached_tokens",
        "The part of the prompt tokens that came from the prefix cache.",
        lambda now: now.counts.cached_tokens,
        operation=_OPERATIONS,
    ),
    _counter(
        "aeond_model_engine_seconds",
        "Engine time of model calls.",
        lambda now: now.counts.engine_seconds,
        operation=_OPERATIONS,
    ),
    _histogram(
        "aeond_model_first_token_seconds",
        "Time to the first token of the first answer of an operation.",
        lambda now: now.counts.first_token_seconds,
        operation=_OPERATIONS,
    ),
    _counter(
        "aeond_policy_decisions",
        "Decisions of the policy, by verdict and effect.",
        lambda now: now.counts.decisions,
        verdict=Verdict,
        effect=Effect,
    ),
    _counter(
        "aeond_approvals",
        "Approvals requested, approved, denied and expired.",
        lambda now: now.counts.approvals,
        event=("requested", "approved", "denied", "expired"),
    ),
    _gauge(
        "aeond_approvals_open", "Approvals that wait for a person.", lambda now: now.counts.open_approvals
    ),
    _gauge(
        "aeond_questions_open",
        "Questions of runs that wait for a person.",
        lambda now: now.counts.open_questions,
    ),
    _histogram(
        "aeond_commit_seconds",
        "Time from an append to the journal until it is durable.",
        lambda now: now.commits,
    ),
    _gauge("aeond_stream_subscribers", "Open streams to clients.", lambda now: now.streams),
    _gauge("aeond_connections", "Open connections of clients.", lambda now: now.connections),
    _gauge(
        "aeond_engine_state",
        "1 for the state of the engine, 0 for the others.",
        lambda now: {(now.daemon.engine.state,): 1.0},
        state=EngineState,
    ),
    _counter("aeond_engine_restarts", "Restarts of the engine.", lambda now: now.daemon.engine.restarts),
    _gauge(
        "aeond_engine_requests",
        "Requests at the engine: running or waiting.",
        lambda now: {("running",): now.engine.running_requests, ("waiting",): now.engine.waiting_requests},
        state=("running", "waiting"),
    ),
    _counter(
        "aeond_engine_tokens",
        "Tokens of the engine's answers, with those outside of runs.",
        lambda now: {("prompt",): now.engine.prompt_tokens, ("completion",): now.engine.completion_tokens},
        kind=("prompt", "completion"),
    ),
    _counter(
        "aeond_engine_cached_tokens",
        "The part of the engine's prompt tokens that came from the prefix cache.",
        lambda now: now.engine.cached_tokens,
    ),
    _gauge(
        "aeond_engine_tokens_per_second",
        "Generation speed of the most recent answers.",
        lambda now: now.engine.tokens_per_second,
    ),
    _gauge(
        "aeond_engine_cache_ratio",
        "Fill level of the engine's cache, 0 to 1.",
        lambda now: now.engine.cache_fraction,
    ),
    _gauge(
        "aeond_daemon_state",
        "1 for the state of the daemon, 0 for the others.",
        lambda now: {(now.daemon.state,): 1.0},
        state=DaemonState,
    ),
    _gauge("aeond_problems", "Problems that aeonctl status shows.", lambda now: len(now.daemon.messages)),
    _gauge(
        "aeond_build",
        "Always 1; the label is the version.",
        lambda now: {(now.daemon.version,): 1.0},
        version=(),
    ),
    _counter(
        "aeond_trace_spans",
        "Spans exported, and dropped because the collector did not take them.",
        lambda now: {("exported",): now.spans.exported, ("dropped",): now.spans.dropped},
        result=("exported", "dropped"),
    ),
)
