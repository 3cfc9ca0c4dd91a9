"""The table of metrics in docs/observability.md: `python -m tests.support.metrics_table` writes it."""

import re
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

from aeond.observability.families import FAMILIES, Family
from tests.support.repository import ROOT

PAGE = ROOT / "docs" / "observability.md"
BEGIN, END = "<!-- metrics -->\n", "<!-- end of metrics -->"


def with_table(page: str) -> str:
    """The page with the metrics as they are now."""
    rows = ["| name | type | labels | meaning |", "| --- | --- | --- | --- |", *map(_row, FAMILIES)]
    return re.sub(f"{BEGIN}.*?{END}", lambda _: BEGIN + "\n".join(rows) + f"\n{END}", page, flags=re.DOTALL)


def names_of(family: Family) -> Iterator[str]:
    """The names of its samples, as queries use them."""
    if family.kind is CounterMetricFamily:
        yield f"{family.name}_total"
    elif family.kind is HistogramMetricFamily:
        yield from (f"{family.name}_{part}" for part in ("bucket", "count", "sum"))
    else:
        yield family.name


def type_of(family: Family) -> str:
    """Its type, as Prometheus calls it."""
    return family.kind.__name__.removesuffix("MetricFamily").lower()


def _row(family: Family) -> str:
    kind = type_of(family)
    name = f"{family.name}_total" if kind == "counter" else family.name
    return f"| `{name}` | {kind} | {', '.join(family.labels)} | {family.meaning} |"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
