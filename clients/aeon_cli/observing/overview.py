"""One look at the daemon: its load, its engine, and its unfinished runs with their current steps."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aeon_cli.text import symbols
from aeon_cli.text.printable import one_line
from aeon_cli.text.timestamps import how_long_ago
from aeon_cli.text.titles import counted, duration_in_words, size_in_words, title_of
from aeond_client.errors import NotFoundError
from aeond_client.records.daemon import DaemonStatus
from aeond_client.records.runs import Run, RunState, RunSummary, StepState

if TYPE_CHECKING:
    from aeond_client.client import Client

MOST_RUNS = 50
_PHASES = {
    "profile": "estimating the work",
    "plan": "planning",
    "execute": "executing the plan",
    "adapt": "deciding how to go on",
    "answer": "writing the answer",
}
_UNFINISHED = (RunState.RUNNING, RunState.AWAITING_INPUT, RunState.SUSPENDED, RunState.PENDING)


@dataclass(frozen=True, slots=True)
class RunLine:
    """An unfinished run. `current` are the titles of the steps at work, or what it waits for."""

    run_id: str
    state: RunState
    text: str
    uid: int
    created_time: float
    elapsed_seconds: float = 0.0
    done_steps: int = 0
    steps: int = 0
    tokens: int = 0
    current: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Overview:
    """A snapshot of the daemon. `tokens_per_second` is the speed since the last look, or of the most recent answers."""

    status: DaemonStatus
    tokens_per_second: float
    runs: tuple[RunLine, ...]
    more_runs: bool = False


def read_overview(client: "Client", most: int = MOST_RUNS, before: Overview | None = None) -> Overview:
    """Reads status and at most `most` unfinished runs, those at work first and then the newest."""
    status = client.get_status()
    summaries: list[RunSummary] = []
    for state in _UNFINISHED:
        if len(summaries) <= most:
            summaries += client.list_runs(states=[state], limit=most + 1 - len(summaries))
    lines = tuple(_lines(client, summaries[:most]))
    return Overview(status, _speed(status, before), lines, len(summaries) > most)


def _lines(client: "Client", summaries: Sequence[RunSummary]) -> Iterator[RunLine]:
    for summary in summaries:
        with suppress(NotFoundError):  # deleted since the list was read
            yield _line(summary, client.get_run(summary.run_id))


def lines_of(shown: Overview) -> list[str]:
    """The head of the display: daemon, engine, load, clients and problems."""
    status, metrics = shown.status, shown.status.engine.metrics
    memory = f", memory {size_in_words(status.resident_bytes)}" if status.resident_bytes else ""
    engine = [f"{one_line(status.engine.model) or 'no model'} {status.engine.state}"]
    if status.engine.activity:
        engine.append(f"{one_line(status.engine.activity)} {status.engine.progress:.0%}")
    if metrics is not None:
        engine.append(f"{shown.tokens_per_second:.1f} tokens/s")
        engine.append(f"{metrics.running_requests} running, {metrics.waiting_requests} waiting")
        engine.append(f"{metrics.prompt_tokens + metrics.completion_tokens} tokens")
    daemon = [
        status.state,
        f"version {one_line(status.version)}",
        f"up {duration_in_words(status.uptime_seconds)}",
    ]
    runs = [
        f"{status.running_runs}{_of(status.max_running_runs)} running",
        f"{status.waiting_runs}{_of(status.max_waiting_runs)} queued",
        f"{status.attention_runs} need a person",
    ]
    clients = [counted(status.connections, "connection"), counted(status.streams, "stream")]
    return [
        f"aeond   {', '.join(daemon)}{memory}",
        f"engine  {', '.join(engine)}",
        f"runs    {', '.join(runs)}",
        f"clients {', '.join(clients)}",
        *(f"! {one_line(message)}" for message in status.messages),
    ]


def rows_of(shown: Overview, *, unicode: bool, now: float | None = None) -> list[tuple[str, ...]]:
    """The runs as cells of a table."""
    return [_row(line, unicode=unicode, now=now) for line in shown.runs]


HEADINGS: Sequence[str] = ("RUN", "STATE", "AGE", "STEPS", "USED", "NOW (REQUEST)")


def _row(line: RunLine, *, unicode: bool, now: float | None) -> tuple[str, ...]:
    sign = symbols.OF_RUN[line.state].shown(unicode=unicode)
    steps = f"{line.done_steps}/{line.steps}" if line.steps else ""
    now_doing = "; ".join(line.current)
    return (
        line.run_id,
        f"{sign} {line.state.replace('_', ' ')}",
        how_long_ago(line.created_time, now).removesuffix(" ago"),
        steps,
        f"{_in_short(line.tokens)} tokens",
        f"{now_doing} ({one_line(line.text)})" if now_doing else one_line(line.text),
    )


def _line(summary: RunSummary, run: Run) -> RunLine:
    return RunLine(
        run.run_id,
        run.state,
        summary.text,
        summary.uid,
        summary.created_time,
        run.elapsed_seconds,
        sum(
            step.state in (StepState.SUCCEEDED, StepState.FAILED, StepState.SKIPPED, StepState.INVALID)
            for step in run.steps
        ),
        len(run.steps),
        run.used.tokens,
        tuple(work_of(run)),
    )


def work_of(run: Run) -> list[str]:
    """What an unfinished run waits for, or the steps that are executed now, or the phase between steps."""
    working = [title_of(step.plan_step) for step in run.steps if step.state is StepState.RUNNING]
    asking = [f"asks: {one_line(question.prompt)}" for question in run.questions]
    waiting = [
        f"needs approval: {one_line(approval.calls[0].tool)}" for approval in run.approvals if approval.calls
    ]
    stopped = []
    if run.state is RunState.SUSPENDED and not waiting:
        unknown = [title_of(step.plan_step) for step in run.steps if step.state is StepState.UNKNOWN]
        stopped = [f"interrupted: {title}" for title in unknown]
        stopped = stopped or [
            f"suspended: {one_line(run.suspend_reason.replace('_', ' ')) or 'needs a decision'}"
        ]
    return (
        [*asking, *waiting]
        or stopped
        or working
        or ([_PHASES.get(run.phase, run.phase)] if run.phase and not run.state.ended else [])
    )


def _in_short(number: int) -> str:
    """At most four characters up to a million."""
    return str(number) if number < 10_000 else f"{number // 1_000}k"


def _speed(status: DaemonStatus, before: Overview | None) -> float:
    metrics = status.engine.metrics
    if metrics is None:
        return 0.0
    if before is None or before.status.engine.metrics is None or before.status.pid != status.pid:
        return metrics.tokens_per_second
    seconds = status.uptime_seconds - before.status.uptime_seconds
    tokens = metrics.completion_tokens - before.status.engine.metrics.completion_tokens
    return max(tokens, 0) / seconds if seconds > 0 else metrics.tokens_per_second


def _of(limit: int) -> str:
    return f" of {limit}" if limit else ""
