"""Generates the table of the places that records of aeond_client are read from."""
# ruff: noqa: INP001 (a program beside the contracts, not a package)

import json

from client_fields import RULES, Record, Shapes

# The formatter removes the imports that are not needed.
HEAD = '''"""Where the values of records come from, if not from the field of their name."""

from collections.abc import Callable
from typing import Any

from aeond_client import events
from aeond_client.calls import values
from aeond_client.records import {records}

ALWAYS_SET = {always_set}
"""Enums of which an unset value is the word `unspecified`."""

PLACES: dict[type[Any], dict[str, str | Callable[[Any], Any]]] = {
'''


def place_code(shapes: Shapes) -> str:
    """The source of the table, not yet formatted."""
    head = HEAD.replace("{records}", ", ".join(shapes.packages["records"]))
    head = head.replace("{always_set}", f"{{{', '.join(map(json.dumps, RULES['always_set']))}}}")
    rows = [f"{record.path}: {{{row}}}," for record in shapes.records if (row := places(record))]
    return "\n".join([head, *rows, "}"])


def places(record: Record) -> str:
    found = {place: json.dumps(path) for place, path in record.rules.get("from", {}).items()}
    for place, (*_, expression) in record.rules.get("read", {}).items():
        found[place] = f"lambda wire: {expression}"
    return ", ".join(f'"{place}": {source}' for place, source in found.items())
