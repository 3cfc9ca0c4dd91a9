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
Values = Callable[[Reading], Mapping[Labels, Value]]


@frozen
class Family:
    """A metric. `labels` has the known values of each label: they are shown with 0 before anything was counted, because to
    Prometheus the value with which a series appears is no increase."""

    name: str
    kind: Kind
    meaning: str
    labels: Mapping[str, Iterable[str]]
    values: Values

    def metric(self, reading: Reading) -> Metric:
        shown = self.kind(self.name, self.meaning, labels=tuple(self.labels))
        nothing: Value = Histogram(LONG) if self.kind is HistogramMetricFamily else 0.0
        for labels, value in {
            **dict.fromkeys(product(*self.labels.values()), nothing),
            **self.values(reading),
        }.items():
            if isinstance(value, Histogram):
                assert isinstance(shown, HistogramMetricFamily)
                shown.add_metric(labels, value.buckets, value.sum)
            else:
                assert not isinstance(shown, HistogramMetricFamily)
                shown.add_metric(labels, value)
        return shown


def _single(name: str, kind: Kind, meaning: str, value: Callable[[Reading], Value]) -> Family:
    """A metric without labels."""
    return Family(name, kind, meaning, {}, lambda reading: {(): value(reading)})


_ENDS: Final = tuple(state for state in RunState if state.ended)
_STEP_ENDS: Final = (*(state for state in StepState if state.ended), StepState.UNKNOWN)
_OPERATIONS: Final = (*Operation, STEP)
_COUNTER, _GAUGE, _HISTOGRAM = CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

FAMILIES: Final = (
    Family(
        "aeond_runs",
        _GAUGE,
        "Runs in the journal by state.",
        {"state": RunState},
        lambda now: {(state,): count for state, count in now.runs.items()},
    ),
    _single(
        "aeond_runs_active",
        _GAUGE,
        "Runs that occupy a slot or work below one.",
        lambda now: now.daemon.load.running_runs,
    ),
    _single(
        "aeond_runs_active_limit",
        _GAUGE,
        "Slots: runs.max_running.",
        lambda now: now.daemon.load.max_running_runs,
    ),
    _single(
        "aeond_runs_queued", _GAUGE, "Runs that wait for a slot.", lambda now: now.daemon.load.waiting_runs
    ),
    _single(
        "aeond_runs_queued_limit",
        _GAUGE,
        "Places in the queue: runs.max_waiting.",
        lambda now: now.daemon.load.max_waiting_runs,
    ),
    Family(
        "aeond_runs_created",
        _COUNTER,
        "Runs created, by origin: client, child or fork.",
        {"origin": ("client", "child", "fork")},
        lambda now: now.counts.created,
    ),
    Family(
        "aeond_runs_ended",
        _COUNTER,
        "Runs that ended, by state.",
        {"state": _ENDS},
        lambda now: now.counts.ended,
    ),
    Family(
        "aeond_runs_suspended",
        _COUNTER,
        "Suspensions of runs, by reason.",
        {"reason": SuspendReason},
        lambda now: now.counts.suspended,
    ),
    Family(
        "aeond_runs_resumed",
        _COUNTER,
        "Resumptions of runs after a restart or a suspension.",
        {},
        lambda now: now.counts.resumed,
    ),
    Family(
        "aeond_run_seconds",
        _HISTOGRAM,
        "Working time of ended runs, by state.",
        {"state": _ENDS},
        lambda now: now.counts.run_seconds,
    ),
    Family(
        "aeond_run_engine_seconds",
        _HISTOGRAM,
        "Engine time of an ended run, summed over its model calls.",
        {},
        lambda now: now.counts.run_engine_seconds,
    ),
    Family(
        "aeond_steps",
        _COUNTER,
        "Steps that ended, by mode and state.",
        {"mode": StepMode, "state": _STEP_ENDS},
        lambda now: now.counts.steps,
    ),
    Family(
        "aeond_step_seconds",
        _HISTOGRAM,
        "Duration of steps, by mode.",
        {"mode": StepMode},
        lambda now: now.counts.step_seconds,
    ),
    Family(
        "aeond_operations",
        _COUNTER,
        "Operations of runs that ended.",
        {"operation": Operation},
        lambda now: now.counts.operations,
    ),
    Family(
        "aeond_operation_seconds",
        _HISTOGRAM,
        "Duration of operations of runs.",
        {"operation": Operation},
        lambda now: now.counts.operation_seconds,
    ),
    Family(
        "aeond_budget_used",
        _COUNTER,
        "Amounts charged to the budgets of runs, by operation and dimension.",
        {"operation": _OPERATIONS, "dimension": DIMENSIONS},
        lambda now: now.counts.used,
    ),
    Family(
        "aeond_model_tokens",
        _COUNTER,
        "Tokens of model calls: prompt and completion.",
        {"operation": _OPERATIONS, "kind": ("prompt", "completion")},
        lambda now: now.counts.tokens,
    ),
    Family(
        "aeond_model_cached_tokens",
        _COUNTER,
        "The part of the prompt tokens that came from the prefix cache.",
        {"operation": _OPERATIONS},
        lambda now: now.counts.cached_tokens,
    ),
    Family(
        "aeond_model_engine_seconds",
        _COUNTER,
        "Engine time of model calls.",
        {"operation": _OPERATIONS},
        lambda now: now.counts.engine_seconds,
    ),
    Family(
        "aeond_model_first_token_seconds",
        _HISTOGRAM,
        "Time to the first token of the first answer of an operation.",
        {"operation": _OPERATIONS},
        lambda now: now.counts.first_token_seconds,
    ),
    Family(
        "aeond_policy_decisions",
        _COUNTER,
        "Decisions of the policy, by verdict and effect.",
        {"verdict": Verdict, "effect": Effect},
        lambda now: now.counts.decisions,
    ),
    Family(
        "aeond_approvals",
        _COUNTER,
        "Approvals requested, approved, denied and expired.",
        {"event": ("requested", "approved", "denied", "expired")},
        lambda now: now.counts.approvals,
    ),
    _single(
        "aeond_approvals_open",
        _GAUGE,
        "Approvals that wait for a person.",
        lambda now: now.counts.open_approvals,
    ),
    _single(
        "aeond_questions_open",
        _GAUGE,
        "Questions of runs that wait for a person.",
        lambda now: now.counts.open_questions,
    ),
    _single(
        "aeond_commit_seconds",
        _HISTOGRAM,
        "Time from an append to the journal until it is durable.",
        lambda now: now.commits,
    ),
    _single("aeond_stream_subscribers", _GAUGE, "Open streams to clients.", lambda now: now.streams),
    _single("aeond_connections", _GAUGE, "Open connections of clients.", lambda now: now.connections),
    Family(
        "aeond_engine_state",
        _GAUGE,
        "1 for the state of the engine, 0 for the others.",
        {"state": EngineState},
        lambda now: {(now.daemon.engine.state,): 1.0},
    ),
    _single(
        "aeond_engine_restarts", _COUNTER, "Restarts of the engine.", lambda now: now.daemon.engine.restarts
    ),
    Family(
        "aeond_engine_requests",
        _GAUGE,
        "Requests at the engine: running or waiting.",
        {"state": ("running", "waiting")},
        lambda now: {("running",): now.engine.running_requests, ("waiting",): now.engine.waiting_requests},
    ),
    Family(
        "aeond_engine_tokens",
        _COUNTER,
        "Tokens of the engine's answers, with those outside of runs.",
        {"kind": ("prompt", "completion")},
        lambda now: {
            ("prompt",): now.engine.prompt_tokens,
            ("completion",): now.engine.completion_tokens,
        },
    ),
    _single(
        "aeond_engine_cached_tokens",
        _COUNTER,
        "The part of the engine's prompt tokens that came from the prefix cache.",
        lambda now: now.engine.cached_tokens,
    ),
    _single(
        "aeond_engine_tokens_per_second",
        _GAUGE,
        "Generation speed of the most recent answers.",
        lambda now: now.engine.tokens_per_second,
    ),
    _single(
        "aeond_engine_cache_ratio",
        _GAUGE,
        "Fill level of the engine's cache, 0 to 1.",
        lambda now: now.engine.cache_fraction,
    ),
    Family(
        "aeond_daemon_state",
        _GAUGE,
        "1 for the state of the daemon, 0 for the others.",
        {"state": DaemonState},
        lambda now: {(now.daemon.state,): 1.0},
    ),
    _single(
        "aeond_problems", _GAUGE, "Problems that aeonctl status shows.", lambda now: len(now.daemon.messages)
    ),
    Family(
        "aeond_build",
        _GAUGE,
        "Always 1; the label is the version.",
        {"version": ()},
        lambda now: {(now.daemon.version,): 1.0},
    ),
    Family(
        "aeond_trace_spans",
        _COUNTER,
        "Spans exported, and dropped because the collector did not take them.",
        {"result": ("exported", "dropped")},
        lambda now: {("exported",): now.spans.exported, ("dropped",): now.spans.dropped},
    ),
)
