"""Short forms of steps, durations and sizes."""

from typing import Any

from aeon_cli.text.printable import one_line, shown_value
from aeond_client.records.runs import PlanStep
from aeond_client.records.tools import RecordedEffect


def title_of(step: PlanStep) -> str:
    """The tool with its arguments in short form, or the task of the agent."""
    if step.tool:
        return f"{one_line(step.tool)} {arguments_in_short(step.arguments)}".rstrip()
    return one_line(step.description or step.agent or step.step_id)


def arguments_in_short(arguments: dict[str, Any]) -> str:
    """The value alone for a single argument, name=value for several."""
    if len(arguments) == 1:
        return one_line(shown_value(next(iter(arguments.values()))))
    return one_line(" ".join(f"{name}={shown_value(value)}" for name, value in arguments.items()))


def effect_in_words(effect: RecordedEffect) -> str:
    """A recorded change: created: notes.txt (120 bytes)."""
    if effect.kind == "effects.omitted":
        return f"and {one_line(effect.target)} more"
    verb, target = effect.kind.rpartition(".")[2].replace("_", " "), one_line(effect.target)
    return f"{one_line(verb)}: {target}" + (f" ({one_line(effect.detail)})" if effect.detail else "")


def duration_in_words(seconds: float) -> str:
    """A duration in at most six characters: 0.2s, 42s, 3m07s, 26h05m, 12d."""
    if seconds < 10:
        return f"{max(seconds, 0.0):.1f}s"
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3_600:
        return f"{whole // 60}m{whole % 60:02d}s"
    if whole < 360_000:
        return f"{whole // 3_600}h{whole % 3_600 // 60:02d}m"
    return f"{whole // 86_400}d"


def size_in_words(size_bytes: int) -> str:
    """A size with at most one decimal: 812 B, 98.4 MB, 1.1 GB."""
    size = float(size_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1_000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1_000
    raise AssertionError("the loop returns at its last unit")


def counted(count: int, singular: str, plural: str = "") -> str:
    """A number with its noun: 1 step, 2 steps."""
    return f"{count} {singular if count == 1 else plural or singular + 's'}"
