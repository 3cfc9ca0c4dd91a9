"""Prints one complete run as text."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from aeon_cli.runs.approvals import lines_to_decide
from aeon_cli.runs.questions import lines_to_answer
from aeon_cli.text import symbols
from aeon_cli.text.encoding import kind_of, plain
from aeon_cli.text.printable import json_line, one_line, printable, shown_value
from aeon_cli.text.terminals import look_at
from aeon_cli.text.timestamps import when
from aeon_cli.text.titles import counted, duration_in_words, size_in_words, title_of
from aeond_client.events import Event
from aeond_client.records.runs import ModelUse, Run, RunSummary, Step, StepState

if TYPE_CHECKING:
    from aeond_client.client import Client

_LABEL_CELLS = 10
_MOST_CELLS = 60
_TIMED = {StepState.SUCCEEDED, StepState.FAILED, StepState.INVALID}


def events_so_far(client: "Client", run: Run) -> list[Event]:
    """The journaled events up to the last one of the run as it was fetched."""
    events: list[Event] = []
    if not run.last_seq:
        return events
    with client.watch(run.run_id) as watch:
        for event in watch:
            if event.seq:
                events.append(event)
            if event.seq >= run.last_seq:
                break
    return events


def print_run(run: Run, below: Sequence[RunSummary] = ()) -> None:
    """Prints the request, resource use, each step with its output, the runs that it started (`below`, newest
    first), its open questions and the answer.
    """
    unicode = look_at(sys.stdout).unicode
    sign = symbols.OF_RUN[run.state].shown(unicode=unicode)
    _field("run", run.run_id)
    _field("state", f"{sign} {run.state.replace('_', ' ')}{_why(run)}")
    _field("asked", run.text)
    _field("created", f"{when(run.created_time)}, worked {duration_in_words(run.elapsed_seconds)}")
    _field("used", _used(run))
    _field("workspace", run.workspace)
    _field("session", run.session_id)
    _field("model", run.model)
    _field("parent", run.parent_run_id)
    for step in run.steps:
        _print_step(step, unicode=unicode)
    for child in reversed(below):
        sign = symbols.OF_RUN[child.state].shown(unicode=unicode)
        print(f"\n{sign} run {one_line(child.run_id)}  {one_line(child.text)[:_MOST_CELLS]}")
    for question in run.questions:
        print()
        print("\n".join(lines_to_answer(run.run_id, question)))
    for approval in run.approvals:
        print()
        print("\n".join(lines_to_decide(run, approval)))
    if run.answer is not None:
        print(f"\n{printable(run.answer.text).rstrip()}")
        for note in run.answer.notes:
            print(f"note: {one_line(note)}")


def _why(run: Run) -> str:
    if run.problem is not None:
        return f": {one_line(run.problem.message)} ({one_line(run.problem.reason)})"
    why = run.suspend_reason or run.exhausted
    return f": {why.replace('_', ' ')}" if why else ""


def _used(run: Run) -> str:
    used = run.used
    parts = [
        counted(used.ttl, "step"),
        counted(used.llm_calls, "model call"),
        counted(used.tokens, "token"),
        counted(used.tool_calls, "tool call"),
    ]
    return ", ".join(parts)


def _field(label: str, words: str) -> None:
    if words:
        print(f"{label.ljust(_LABEL_CELLS)}{one_line(words)}")


def _print_step(step: Step, *, unicode: bool) -> None:
    sign = symbols.OF_STEP[step.state].shown(unicode=unicode)
    took = f" ({duration_in_words(step.duration_seconds)})" if step.state in _TIMED else ""
    print(f"\n{sign} {one_line(step.step_id)}  {title_of(step.plan_step)}{took}")
    if step.mode in {"repair", "fallback"}:
        print(f"    mode {step.mode}")
    if step.model_use is not None:
        print(f"    {model_use_in_words(step.model_use)}")
    if step.error:
        print(f"    {one_line(step.error)} ({one_line(step.reason)})")
    if step.output is not None:
        for line in printable(shown_value(step.output)).rstrip("\n").split("\n"):
            print(f"    {line}".rstrip())
    elif step.output_bytes:
        print(f"    {size_in_words(step.output_bytes)} of output: see --events")


def model_use_in_words(use: ModelUse) -> str:
    """Tokens read and generated for a step, and the time taken."""
    read = f"{counted(use.prompt_tokens, 'token')} read"
    if use.cached_tokens:
        read += f" ({use.cached_tokens} from cache)"
    words = [read, f"{use.completion_tokens} generated"]
    if use.engine_seconds:
        words.append(f"first token after {duration_in_words(use.first_token_seconds)}")
        words.append(f"engine {duration_in_words(use.engine_seconds)}")
    return ", ".join(words)


def print_events(events: Iterable[Event]) -> None:
    """One event per line: number, time since the start of the run, kind and data."""
    for number, event in enumerate(events):
        if not number:
            print()
        print(event_line(event))


def event_line(event: Event) -> str:
    return f"{event.seq:>5} {event.elapsed_seconds:>9.3f}s  {kind_of(event)}  {json_line(plain(event.kind))}"
