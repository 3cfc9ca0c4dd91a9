"""What came out, group by group, as a table."""

from collections.abc import Iterator, Sequence
from statistics import median

from tests.eval.verdicts import Effort, Verdict

HEAD = "| group | tuned | held | all | calls | tokens read | tokens written | seconds | median |"
RULE = "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"


def table(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """A line for each group and one for all; what the cases took is the mean of a request, and of its
    seconds the middle as well."""
    yield HEAD
    yield RULE
    for group in dict.fromkeys(v.group for v in verdicts):
        yield _line(group, [v for v in verdicts if v.group == group])
    yield _line("all", verdicts)


def share_of(verdicts: Sequence[Verdict]) -> float:
    """How many of them came out right, from 0 to 1."""
    return sum(not v.missed for v in verdicts) / max(1, len(verdicts))


def _line(name: str, verdicts: Sequence[Verdict]) -> str:
    held = [v for v in verdicts if v.held]
    tuned = [v for v in verdicts if not v.held]
    took = sum((v.effort for v in verdicts), Effort())
    count = max(1, len(verdicts))
    cells = [
        name,
        _counted(tuned),
        _counted(held),
        _counted(verdicts),
        f"{took.calls / count:.1f}",
        f"{took.read_tokens / count:.0f}",
        f"{took.written_tokens / count:.0f}",
        f"{took.seconds / count:.1f}",
        f"{median(v.effort.seconds for v in verdicts):.2f}" if verdicts else "-",
    ]
    return f"| {' | '.join(cells)} |"


def _counted(verdicts: Sequence[Verdict]) -> str:
    return f"{sum(not v.missed for v in verdicts)} of {len(verdicts)}" if verdicts else "-"
