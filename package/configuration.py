"""Generates the reference of the configuration: `python package/configuration.py > docs/configuration.md`."""
# ruff: noqa: INP001 (a program, not a package)

import json
import sys
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

from aeond.daemon.config.schema import Config
from aeond.daemon.config.section import Section, named_sections

HEAD = """\
# Configuration

Generated from the configuration's models by `python package/configuration.py`; do not edit.

The configuration is a TOML file. [operations.md](operations.md#files) lists its default places, and
[operations.md](operations.md#configuration) describes how it is validated and reloaded. Omitted keys have their default
values. [systemd/aeond.toml](../systemd/aeond.toml) is a complete file to start from. The file never contains secrets: it
refers to a systemd credential, or to a file that only its owner can read.
"""
BOUNDS = {"ge": ">= {}", "gt": "> {}", "le": "<= {}", "lt": "< {}"}
TYPES = {str: "string", bool: "boolean", int: "integer", float: "number"}


def page() -> str:
    """The whole page: one table for each section."""
    return "\n".join([HEAD, *_tables(Config(), ())])


def _tables(section: Section, names: tuple[str, ...]) -> Iterator[str]:
    inner: list[tuple[Section, tuple[str, ...]]] = []
    rows: list[str] = []
    for name, field in type(section).model_fields.items():
        value: Any = getattr(section, name)
        if isinstance(value, Section):
            inner.append((value, (*names, name)))
        elif named := named_sections(field):
            inner.append((named.model_construct(), (*names, name, "NAME")))
        else:
            meaning = (field.description or "").replace("|", "\\|")
            rows.append(f"| `{name}` | {_type_of(field)} | `{_shown(value)}` | {meaning} |")
    if names:
        yield f"## `[{'.'.join(names)}]`\n\n{(type(section).__doc__ or '').strip()}\n"
    if rows:
        yield "\n".join(["| key | type | default | meaning |", "| --- | --- | --- | --- |", *rows, ""])
    for one, path in inner:
        yield from _tables(one, path)


def _type_of(field: FieldInfo) -> str:
    return ", ".join([_name_of(field.annotation), *_bounds_of(field)])


def _name_of(annotation: Any) -> str:
    if get_origin(annotation) is tuple:
        return f"list of {_name_of(get_args(annotation)[0])}s"
    if get_origin(annotation) is dict:
        return f"table of {_name_of(get_args(annotation)[1]).replace('list', 'lists', 1)}"
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return " or ".join(f"`{member.value}`" for member in annotation)
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return "table"
    return TYPES.get(annotation, "string")


def _bounds_of(field: FieldInfo) -> Iterator[str]:
    for bound in field.metadata:
        for name, form in BOUNDS.items():
            if (limit := getattr(bound, name, None)) is not None:
                yield form.format(f"{limit:,}" if isinstance(limit, int) else f"{limit:g}")


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    sys.stdout.write(page())
