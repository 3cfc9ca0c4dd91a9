"""The dashboard for Grafana and the page on observability name metrics that exist."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.cog.runtime import Runtime
from grafana_foundation_sdk.models import units
from grafana_foundation_sdk.models.dashboard import Dashboard

from aeond.observability.families import FAMILIES
from tests.support import metrics_table
from tests.support.dashboard import DASHBOARD, PANELS, QUERIES
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


@pytest.fixture(scope="module")
def grafana() -> Runtime:
    """Grafana's own model of dashboards, with its panels and data sources."""
    register_default_plugins()
    return Runtime()


def lost(written: Any, kept: Any, place: str = "") -> Iterator[str]:
    """The places of what was written and is not kept."""
    if isinstance(written, dict) and isinstance(kept, dict):
        for key, value in written.items():
            yield from lost(value, kept.get(key), f"{place}.{key}")
    elif isinstance(written, list) and isinstance(kept, list):
        for number, parts in enumerate(zip(written, kept, strict=True)):
            yield from lost(*parts, f"{place}[{number}]")
    elif written != kept:
        yield place


def test_grafana_knows_every_key(grafana: Runtime) -> None:
    """Grafana's model, which leaves out unknown keys, keeps everything in the dashboard when it reads and writes it."""
    kept = json.loads(JSONEncoder().encode(Dashboard.from_json(DASHBOARD)))
    assert list(lost(DASHBOARD, kept)) == []


def test_grafana_knows_every_panel_data_source_and_unit(grafana: Runtime) -> None:
    """The types of panels and data sources and the units are ones that Grafana has."""
    known_units = {getattr(units, name) for name in units.__annotations__}
    assert {panel["type"] for panel in PANELS} <= grafana.panelcfg_variants.keys()
    assert {panel["datasource"]["type"] for panel in PANELS} <= grafana.dataquery_variants.keys()
    assert {panel["fieldConfig"]["defaults"]["unit"] for panel in PANELS} <= known_units


def test_the_table_of_metrics_is_current() -> None:
    """docs/observability.md lists each metric with its type, its labels and its meaning."""
    page = metrics_table.PAGE.read_text(encoding="utf-8")
    assert page.count("\n| `aeond_") == len(FAMILIES)
    assert page == metrics_table.with_table(page), "run: python -m tests.support.metrics_table"
