"""The dashboard for Grafana and the page on observability name metrics that exist."""

import re

import pytest

from aeond.observability.families import FAMILIES
from tests.support import metrics_table
from tests.support.dashboard import PANELS, QUERIES
from tests.support.metrics_table import names_of

LABELS = {name: set(family.labels) for family in FAMILIES for name in names_of(family)}
PROCESS = {
    "process_resident_memory_bytes": {"job"}
}  # of Prometheus's client library; job is Prometheus's own
FUNCTIONS = {"sum", "by", "rate", "increase", "histogram_quantile"}
METRIC = re.compile(r"\b(?:aeond|process)_\w+")


@pytest.mark.parametrize(("title", "query"), QUERIES)
def test_each_query_names_metrics_and_labels_that_exist(title: str, query: str) -> None:
    """Every metric of a query is one that the daemon shows, and every label one that this metric has."""
    known = {**LABELS, **PROCESS}
    names = METRIC.findall(query)
    assert names, title
    assert set(names) <= set(known)
    labels = set().union(*(known[name] for name in names)) | {"le"}
    grouped = {label.strip() for group in re.findall(r"by \(([^)]*)\)", query) for label in group.split(",")}
    selected = set(re.findall(r"(\w+)=~?\"", query))
    assert grouped | selected <= labels
    words = set(re.findall(r"[a-z_]+", re.sub(r'\{[^}]*\}|\[[^]]*\]|by \([^)]*\)|"[^"]*"', "", query)))
    assert words - set(names) - FUNCTIONS - grouped - selected <= {"by"}


@pytest.mark.parametrize(("title", "query"), QUERIES)
def test_histograms_and_counters_are_queried_as_such(title: str, query: str) -> None:
    """A quantile is taken of buckets by their bound, and a counter is seen as a rate."""
    for name in METRIC.findall(query):
        if name.endswith(("_total", "_bucket", "_sum", "_count")) and name in LABELS:
            assert re.search(rf"(rate|increase)\({name}\b", query), title
    if "_bucket" in query:
        assert "histogram_quantile" in query
        assert re.search(r"by \((\w+, )*le(, \w+)*\)", query), title


def test_every_metric_of_runs_is_on_the_dashboard_or_follows_from_it() -> None:
    """The dashboard shows runs, steps, tokens, engine seconds, queue, commits, subscribers, decisions and approvals."""
    shown = " ".join(query for _, query in QUERIES)
    for name in (
        *("aeond_runs", "aeond_steps_total", "aeond_model_tokens_total", "aeond_run_engine_seconds_bucket"),
        *("aeond_runs_queued", "aeond_commit_seconds_bucket", "aeond_stream_subscribers"),
        *("aeond_policy_decisions_total", "aeond_approvals_open"),
    ):
        assert re.search(rf"\b{name}\b", shown), name


def test_panels_do_not_overlap() -> None:
    """Each panel has an id and a place of its own."""
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    cells = [
        (panel["gridPos"]["x"] + dx, panel["gridPos"]["y"] + dy)
        for panel in PANELS
        for dx in range(panel["gridPos"]["w"])
        for dy in range(panel["gridPos"]["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24


def test_the_table_of_metrics_is_current() -> None:
    """docs/observability.md lists each metric with its type, its labels and its meaning."""
    page = metrics_table.PAGE.read_text(encoding="utf-8")
    assert page.count("\n| `aeond_") == len(FAMILIES)
    assert page == metrics_table.with_table(page), "run: python -m tests.support.metrics_table"
