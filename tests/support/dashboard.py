"""The dashboard for Grafana, its panels and their queries."""

import json
from typing import Any

from tests.support.repository import ROOT

DASHBOARD: dict[str, Any] = json.loads(
    (ROOT / "docs" / "examples" / "grafana-aeond.json").read_text(encoding="utf-8")
)
PANELS: list[dict[str, Any]] = DASHBOARD["panels"]
QUERIES: list[tuple[str, str]] = [
    (panel["title"], target["expr"]) for panel in PANELS for target in panel["targets"]
]
"""Each with the title of its panel."""
