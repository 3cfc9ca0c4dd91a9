"""Generates the records of aeond_client from the contract and client.toml."""
# ruff: noqa: INP001 (a program beside the contracts, not a package)

import re
import textwrap
from collections.abc import Iterator
from typing import Any

from client_fields import ENUMS, MARK, RULES, Record, Shapes, face

WIDTH = 100

# The module before a name: records import each other's names, readers the modules.
LOCAL = re.compile(r"\b[a-z]+\.(?=[A-Z])")

EVENTS_FACE = '''"""The events of a run as its watchers receive them.

Entry point: `event.Event`.
Must not know the wire: `aeond_client.calls.reading` makes these records.

Numbered events arrive once and without gaps; the kinds of `live_updates` have no number.
"""
'''

EVENT = '''"""An event with its kind, and the union of the kinds."""

{imports}


@dataclass(frozen=True, slots=True)
class UnknownKind:
    """An event for which this client has no class; `name` is its name in the contract ("" if the daemon is
    newer than the contract). It is numbered like any other event.
    """

    name: str = ""


EventKind = {kinds} | UnknownKind


@dataclass(frozen=True, slots=True)
class Event:
    """An event. `seq` counts from 1 within a run; 0 marks a live update.

    `time` is Unix time in seconds, `elapsed_seconds` the run's working time so far; both are 0 if seq is 0.
    """

    run_id: str
    seq: int
    time: float
    elapsed_seconds: float
    kind: EventKind
'''


class RecordCode:
    """The source texts of the records."""

    def __init__(self, shapes: Shapes) -> None:
        self.shapes = shapes
        self.contract = shapes.contract

    def files(self) -> Iterator[tuple[str, str]]:
        """Each file of the records with its source, not yet formatted."""
        for package, modules in self.shapes.packages.items():
            for module in modules:
                yield f"{package}/{module}.py", MARK + self.module(package, module)
        yield "events/event.py", MARK + self.event()
        modules = {module: list(names) for module, names in self.shapes.packages["events"].items()}
        modules["event"] = ["Event", "EventKind", "UnknownKind"]
        yield "events/__init__.py", face(EVENTS_FACE, "aeond_client.events", modules)

    def module(self, package: str, module: str) -> str:
        parts = [f'"""{RULES["docs"][package][module]}"""', self.imports(package, module)]
        parts += [self.enum(name, rules) for name, rules in enums_in(package, module).items()]
        parts += [
            self.record(record)
            for record in self.shapes.records
            if (record.package, record.module) == (package, module)
        ]
        return "\n\n".join(parts)

    def imports(self, package: str, module: str) -> str:
        """Imports everything that might be needed; the formatter removes the rest."""
        lines = [
            "from dataclasses import dataclass, field",
            "from enum import StrEnum",
            "from typing import Any",
        ]
        for other, modules in self.shapes.packages.items():
            for name, found in modules.items():
                if (other, name) == (package, module):
                    return "\n".join(lines)
                names = [*enums_in(other, name), *found]
                lines.append(f"from aeond_client.{other}.{name} import {', '.join(names)}")
        return "\n".join(lines)

    def event(self) -> str:
        kinds = " | ".join(self.contract.kinds.values())
        return EVENT.replace("{imports}", self.imports("events", "event")).replace("{kinds}", kinds)

    def enum(self, name: str, rules: dict[str, Any]) -> str:
        lines = [f"class {name}(StrEnum):", docstring(self.contract.comments[name, ""])]
        values = self.contract.enums[name].value
        prefix = values[0].name.removesuffix("UNSPECIFIED")
        for value in values:
            comment = self.contract.comments[name, value.name]
            if not value.number:
                comment = rules.get("unspecified", "")
            if comment:
                word = value.name.removeprefix(prefix)
                lines.append(f'    {word} = "{word.lower()}"\n{docstring(comment)}')
        return "\n".join(lines) + members(rules)

    def record(self, record: Record) -> str:
        lines = ["@dataclass(frozen=True, slots=True)", f"class {record.name}:"]
        lines.append(docstring(self.contract.comments[record.message, ""]) + "\n")
        for field in self.shapes.fields(record):
            default = f" = {field.default}" if field.default else ""
            lines.append(f"    {field.name}: {LOCAL.sub('', field.type + default)}")
            if field.comment:
                lines.append(docstring(field.comment))
        return "\n".join(lines) + members(record.rules)


def enums_in(package: str, module: str) -> dict[str, dict[str, Any]]:
    return ENUMS.get(module, {}) if package == "records" else {}


def docstring(text: str) -> str:
    text = text.replace('"', "'") if text.endswith('"') else text
    lines = textwrap.wrap(f'"""{text}"""', WIDTH, break_long_words=False, break_on_hyphens=False)
    return textwrap.indent("\n".join(lines), "    ")


def members(rules: dict[str, Any]) -> str:
    extra = rules.get("extra", "")
    return "\n" + textwrap.indent(extra, "    ") if extra else ""
