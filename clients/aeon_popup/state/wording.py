"""The words of the header and of the footer."""

from aeon_cli.text.titles import counted, duration_in_words
from aeon_popup.state.happenings import HotkeySet
from aeon_popup.state.run_view import RunView, Stage
from aeon_popup.state.session import READY, SessionView
from aeond_client.records.runs import RunState, StepState

_BADGES = {
    Stage.PLANNING: ("Planning…", "accent"),
    Stage.QUESTION: ("Needs your answer", "warn"),
    Stage.APPROVAL: ("Needs approval", "warn"),
    Stage.DECISION: ("Needs your decision", "warn"),
    Stage.DONE: ("Done", "ok"),
    Stage.FAILED: ("Failed", "err"),
    Stage.CANCELLED: ("Cancelled", "dim"),
}
# The reason of a run that failed because steps did.
_STEPS_FAILED = "STEPS_FAILED"


def badge(view: SessionView) -> tuple[str, str]:
    """The stage in words and the name of its colour in a palette; no words for the empty prompt."""
    run = view.shown
    if view.stage is Stage.UNAVAILABLE:
        return ("Starting aeond…", "accent") if view.starting else ("Daemon not running", "err")
    if run is None:
        return ("", "accent") if view.daemon_state == READY else (f"Daemon {view.daemon_state}", "warn")
    if view.writing:
        return "Follow-up" if run.session_id else "New session", "accent"
    if run.stopping and not run.ended:
        return "Stopping…", "warn"
    if run.stage is Stage.RUNNING:
        count = len(run.steps.lines)
        done = run.over_count
        return ("Answering…" if done == count else f"Running · {done} of {count}"), "accent"
    if run.steps.state is RunState.EXPIRED:
        return "Stopped at a limit", "warn"
    return _BADGES[run.stage]


def meta(view: SessionView, now: float) -> str:
    """The left side of the footer: the run, its time and its calls, or the socket."""
    run = view.shown
    if view.stage is Stage.UNAVAILABLE:
        return f"unix:{view.socket} · {'starting' if view.starting else 'retrying'}"
    if run is None:
        return _others(view)
    parts = [f"run {run.run_id[-4:]}"] if run.run_id else []
    if run.needs_person:
        parts.append(f"waiting {_seconds(now - (run.steps.activity_time or now))}")
    elif run.steps.created_time:
        parts.append(_seconds((run.steps.ended_time or now) - run.steps.created_time))
    if run.tool_calls:
        parts.append(counted(run.tool_calls, "tool call"))
    if others := _others(view):
        parts.append(others)
    return " · ".join(parts)


def explanation(view: SessionView, run: RunView | None) -> tuple[str, str]:
    """Why there is no answer, or the last problem: a sentence in bold, and the rest."""
    if view.stage is Stage.UNAVAILABLE and view.start_problem:
        return "The daemon was not started.", view.start_problem
    if run is None and view.stage is Stage.UNAVAILABLE:
        return about_hotkey(view.hotkey)
    if run is None and view.problem:
        return "", view.problem
    if run is None:
        return about_hotkey(view.hotkey) if view.daemon_state == READY else _unready(view)
    if view.writing and view.problem:
        return "", view.problem
    if view.writing and not run.session_id:
        return "", "This run has no session: the request starts a new one, without the answer as its context."
    if view.writing and run.continues:
        return (
            "",
            "This run continued another one: its answer is not part of the session that the request is added to.",
        )
    start, rest = _outcome(run, continued=view.run(run.retry_key) is not None)
    return start, " ".join(filter(None, (rest, "" if run.needs_person else run.note)))


def about_hotkey(hotkey: HotkeySet) -> tuple[str, str]:
    """That there is no hotkey, and why, unless none is wanted or the desktop has none for programs."""
    return ("The hotkey does not work.", hotkey.problem) if hotkey.problem and not hotkey.absent else ("", "")


def about_history(view: SessionView, found: int) -> tuple[str, str]:
    """Why the list of recent runs is empty or old, if so; `found` is the number of runs that it shows."""
    if view.history_problem:
        return "The runs cannot be listed.", view.history_problem
    if view.history is None:
        return "", "Looking for the runs…"
    if found:
        return "", ""
    return "", "No run has these words." if view.history else "There are no runs yet."


def _outcome(run: RunView, *, continued: bool) -> tuple[str, str]:
    """Why an ended run has no answer, or not the whole one; `continued` says that a failed one goes on in another run."""
    if run.stage is Stage.FAILED:
        problem = run.steps.problem
        why = problem.message if problem else "The run ended without an answer."
        if going_on := run.retry_point:
            # The line of the failed step has its cause.
            cause = "" if problem and problem.reason == _STEPS_FAILED else why
            retry = (
                "shows the run that continues it" if continued else f"continues from step {going_on.number}"
            )
            rest = f"{_kept(going_on.kept)}; Retry {retry}."
            return f"Stopped at step {going_on.number}.", " ".join(filter(None, (_sentence(cause), rest)))
        done = sum(line.state is StepState.SUCCEEDED for line in run.steps.lines)
        kept = f" The results of {counted(done, 'step')} are kept in the record." if done else ""
        return "Failed.", f"{_sentence(why)}{kept} Retry sends the request again."
    if run.stage is Stage.CANCELLED:
        return "Cancelled.", "Finished steps keep their results; nothing else was started."
    if run.steps.state is RunState.EXPIRED:
        limit = run.steps.exhausted.replace("_", " ") or "a limit"
        return "Stopped at a limit:", f"{limit}. The answer covers what was done."
    return "", ""


def _kept(numbers: tuple[int, ...]) -> str:
    """The steps with these numbers, which a continued run does not repeat."""
    first, last = numbers[0], numbers[-1]
    if first == last:
        return f"Step {first} is kept"
    if last - first < len(numbers):
        return f"Steps {first}–{last} are kept"  # noqa: RUF001 - a range
    return f"{counted(len(numbers), 'step')} are kept"


def _sentence(words: str) -> str:
    """The words of a problem, which may lack a full stop."""
    return f"{words}." if words and words[-1] not in ".!?…" else words


def ago(seconds: float) -> str:
    """How long ago something was, in its largest unit."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            return f"{counted(int(seconds // size), unit)} ago"
    return "just now"


def spoken(view: SessionView) -> str:
    """The state of the window for screen readers."""
    words, _ = badge(view)
    run = view.shown
    return ", ".join(filter(None, ("aeon", words, run.text if run else "")))


def _unready(view: SessionView) -> tuple[str, str]:
    """What a daemon that is starting, degraded or draining means for a request."""
    waits = " Requests are accepted and wait." if view.daemon_state == "starting" else ""
    return f"The daemon is {view.daemon_state}.", " ".join((waits.strip(), *view.daemon_messages)).strip()


def _others(view: SessionView) -> str:
    parts = []
    if waiting := view.others_waiting:
        parts.append(f"{waiting} more {'needs' if waiting == 1 else 'need'} you")
    if running := view.others_running:
        parts.append(f"{running} more running")
    return ", ".join(parts)


def _seconds(seconds: float) -> str:
    return duration_in_words(max(seconds, 0.0))
