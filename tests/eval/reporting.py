"""The results of a set, as tables for people and as JSON for programs."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from tests.eval.engine_rates import EngineRates
from tests.eval.verdicts import Effort, Verdict

HEAD: Final = "| {} | right | held | calls | tokens read | tokens written | questions | approvals | p50 s | p95 s | floor s |"
RULE: Final = "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"


def tables(verdicts: Sequence[Verdict], rates: EngineRates) -> Iterator[str]:
    """A table by group and, where there are several, one by language; then the classes of failure."""
    yield from _table("group", verdicts, lambda v: v.group, rates)
    if len({v.language for v in verdicts}) > 1:
        yield ""
        yield from _table("language", verdicts, lambda v: v.language, rates)
    failures = Counter(v.failure for v in verdicts if v.failure)
    if failures:
        yield ""
        yield "failures: " + ", ".join(f"{name} {count}" for name, count in failures.most_common())


def share_of(verdicts: Sequence[Verdict]) -> float:
    """The share of the cases that are right, from 0 to 1."""
    return sum(v.right for v in verdicts) / max(1, len(verdicts))


def as_json(verdicts: Sequence[Verdict], rates: EngineRates, *, shown: bool) -> Mapping[str, Any]:
    """All figures of a set; single cases carry their words only where they are `shown`."""
    return {
        "all": _figures(verdicts, rates),
        "groups": _by(verdicts, lambda v: v.group, rates),
        "languages": _by(verdicts, lambda v: v.language, rates),
        "failures": dict(Counter(v.failure for v in verdicts if v.failure)),
        "rates": {"read": round(rates.read, 1), "write": round(rates.write, 1)},
        "cases": [_case(v, rates, shown) for v in verdicts],
    }


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed; 0 without any."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * round(share * 100) // 100) - 1)] if ordered else 0.0


def _case(verdict: Verdict, rates: EngineRates, shown: bool) -> Mapping[str, Any]:
    words = {"case": verdict.case, "said": verdict.said, "missed": list(verdict.missed)} if shown else {}
    figures = _figures([verdict], rates)
    return {
        "group": verdict.group,
        "language": verdict.language,
        "right": verdict.right,
        "failure": verdict.failure,
        "acted": list(verdict.acted),
        "calls": verdict.effort.calls,
        "seconds": round(verdict.effort.seconds, 2),
        "floor_seconds": figures["floor_seconds"],
        **words,
    }


def _by(verdicts: Sequence[Verdict], key: Callable[[Verdict], str], rates: EngineRates) -> Mapping[str, Any]:
    return {
        name: _figures([v for v in verdicts if key(v) == name], rates)
        for name in dict.fromkeys(map(key, verdicts))
    }


def _figures(verdicts: Sequence[Verdict], rates: EngineRates) -> Mapping[str, Any]:
    """Counts, and the means of a request but for p50 and p95."""
    total, count = sum((v.effort for v in verdicts), Effort()), max(1, len(verdicts))
    seconds = [v.effort.seconds for v in verdicts]
    return {
        "right": sum(v.right for v in verdicts),
        "cases": len(verdicts),
        "calls": round(total.calls / count, 2),
        "prompt_tokens": round(total.prompt_tokens / count),
        "read_tokens": round(total.read_tokens / count),
        "completion_tokens": round(total.completion_tokens / count),
        "questions": round(sum(v.questions for v in verdicts) / count, 2),
        "approvals": round(sum(v.approvals for v in verdicts) / count, 2),
        "p50_seconds": round(percentile(seconds, 0.5), 2),
        "p95_seconds": round(percentile(seconds, 0.95), 2),
        "floor_seconds": round(rates.floor_seconds(total) / count, 2),
    }


def _table(
    name: str, verdicts: Sequence[Verdict], key: Callable[[Verdict], str], rates: EngineRates
) -> Iterator[str]:
    yield HEAD.format(name)
    yield RULE
    for value in dict.fromkeys(map(key, verdicts)):
        yield _line(value, [v for v in verdicts if key(v) == value], rates)
    yield _line("all", verdicts, rates)


def _line(name: str, verdicts: Sequence[Verdict], rates: EngineRates) -> str:
    figures = _figures(verdicts, rates)
    held = [v for v in verdicts if v.held]
    cells = [
        name,
        f"{figures['right']} of {figures['cases']}",
        f"{sum(v.right for v in held)} of {len(held)}" if held else "-",
        f"{figures['calls']:.1f}",
        str(figures["read_tokens"]),
        str(figures["completion_tokens"]),
        f"{figures['questions']:.2f}",
        f"{figures['approvals']:.2f}",
        f"{figures['p50_seconds']:.1f}",
        f"{figures['p95_seconds']:.1f}",
        f"{figures['floor_seconds']:.1f}",
    ]
    return f"| {' | '.join(cells)} |"
