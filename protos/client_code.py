"""Generates the records of aeond_client and their readers from the contract and client.toml."""
# ruff: noqa: INP001 (a program beside the contracts, not a package)

import re
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorSet,
)

RULES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("client.toml").read_text(encoding="utf-8"))
RECORDS: dict[str, dict[str, dict[str, Any]]] = RULES["records"]
ENUMS: dict[str, dict[str, dict[str, Any]]] = RULES["enums"]

MARK = "# Generated from protos/ by `make proto`; never edited.\n"
WIDTH = 100
TYPE = FieldDescriptorProto
NUMBERS = {
    TYPE.TYPE_DOUBLE: ("float", "0.0"),
    TYPE.TYPE_FLOAT: ("float", "0.0"),
    TYPE.TYPE_INT32: ("int", "0"),
    TYPE.TYPE_INT64: ("int", "0"),
}
SCALARS = {**NUMBERS, TYPE.TYPE_BOOL: ("bool", "False"), TYPE.TYPE_STRING: ("str", '""')}

# The module before a name: records import each other's names, readers the modules.
LOCAL = re.compile(r"\b[a-z]+\.(?=[A-Z])")

EVENTS_END = '''
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

READERS_START = '''"""Converts wire messages to records. Values added by a newer daemon become `unspecified`."""

from collections.abc import Callable
from typing import Any

from aeond.api.v1 import {contracts}
from aeond_client import {modules}
from aeond_client.calls import values


def event(wire: events_pb2.Event) -> events.Event:
    return events.Event(
        wire.run_id, wire.seq, values.seconds(wire.time), wire.elapsed_seconds, _kind(wire)
    )


def _kind(wire: events_pb2.Event) -> events.EventKind:
    name = wire.WhichOneof("kind")
    if name is None:
        return events.UnknownKind()
    read = _KINDS.get(name)
    return read(getattr(wire, name)) if read else events.UnknownKind(name)

'''


@dataclass(frozen=True)
class Field:
    """A field of a record: its type, its default ("" for none), and the expression that reads it."""

    name: str
    type: str
    default: str
    reader: str
    comment: str


class Contract:
    """The messages and enums of the contract by name, with the comments and the file of each."""

    def __init__(self, found: FileDescriptorSet) -> None:
        self.messages: dict[str, DescriptorProto] = {}
        self.enums: dict[str, EnumDescriptorProto] = {}
        self.comments: dict[tuple[str, str], str] = {}
        self.contracts: dict[str, str] = {}
        for file in found.file:
            if not file.name.startswith("aeond/"):
                continue
            texts = {
                tuple(at.path): " ".join(at.leading_comments.split()) for at in file.source_code_info.location
            }
            contract = f"{Path(file.name).stem}_pb2"
            for index, message in enumerate(file.message_type):
                self.messages[message.name] = message
                self.comments |= {
                    (message.name, field.name): texts.get((4, index, 2, place), "")
                    for place, field in enumerate(message.field)
                }
                self.comments[message.name, ""] = texts.get((4, index), "")
                self.contracts[message.name] = contract
            for index, enum in enumerate(file.enum_type):
                self.enums[enum.name] = enum
                self.comments |= {
                    (enum.name, value.name): texts.get((5, index, 2, place), "")
                    for place, value in enumerate(enum.value)
                }
                self.comments[enum.name, ""] = texts.get((5, index), "")
                self.contracts[enum.name] = contract

    @property
    def kinds(self) -> dict[str, str]:
        """The messages of the kinds of events that have a record, by their fields of Event."""
        return {
            field.name: field.type_name.rpartition(".")[2]
            for field in self.messages["Event"].field
            if field.HasField("oneof_index") and field.name not in RULES["unknown"]
        }

    def find(self, message: str, path: str) -> tuple[str, FieldDescriptorProto]:
        """The field at a path, and the message that it belongs to."""
        first, _, rest = path.partition(".")
        found = next((field for field in self.messages[message].field if field.name == first), None)
        if found is None:
            raise SystemExit(f"client.toml: {message} has no field {first!r}")
        return self.find(found.type_name.rpartition(".")[2], rest) if rest else (message, found)


class Code:
    """The source texts of the records and their readers."""

    def __init__(self, found: FileDescriptorSet) -> None:
        self.contract = Contract(found)
        for message in self.contract.kinds.values():
            RECORDS["events"].setdefault(message, {})
        self.modules = {rules.get("message", name): (module, name) for module, name, rules in records()}

    def files(self) -> Iterator[tuple[str, str]]:
        """Each file of the package with its source, not yet formatted."""
        for module in RECORDS:
            yield f"{module}.py", MARK + self.module(module)
        yield "calls/reading.py", MARK + self.readers()

    def module(self, module: str) -> str:
        parts = [f'"""{RULES["docs"][module]}"""', self.imports(module)]
        parts += [self.enum(name, rules) for name, rules in ENUMS.get(module, {}).items()]
        parts += [self.record(name, rules) for name, rules in RECORDS[module].items()]
        if module == "events":
            parts.append(EVENTS_END.replace("{kinds}", " | ".join(self.contract.kinds.values())))
        return "\n\n".join(parts)

    def imports(self, module: str) -> str:
        """Imports everything that might be needed; the formatter removes the rest."""
        lines = [
            "from dataclasses import dataclass, field",
            "from enum import StrEnum",
            "from typing import Any",
        ]
        for other, found in RECORDS.items():
            if other == module:
                break
            names = [*ENUMS.get(other, ()), *found]
            lines.append(f"from aeond_client.{other} import {', '.join(names)}")
        return "\n".join(lines)

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

    def record(self, name: str, rules: dict[str, Any]) -> str:
        lines = ["@dataclass(frozen=True, slots=True)", f"class {name}:"]
        lines.append(docstring(self.contract.comments[rules.get("message", name), ""]) + "\n")
        for field in self.fields(name, rules):
            default = f" = {field.default}" if field.default else ""
            lines.append(f"    {field.name}: {LOCAL.sub('', field.type + default)}")
            if field.comment:
                lines.append(docstring(field.comment))
        return "\n".join(lines) + members(rules)

    def readers(self) -> str:
        parts = []
        for module, name, rules in records():
            message = rules.get("message", name)
            wire = f"{self.contract.contracts[message]}.{message}"
            read = [f"{field.name}={field.reader}" for field in self.fields(name, rules)]
            parts.append(
                f"def {snake(name)}({'' if read else '_'}wire: {wire}) -> {module}.{name}:\n"
                f"    return {module}.{name}({', '.join(read)})"
            )
        kinds = [f'    "{field}": {snake(message)},' for field, message in self.contract.kinds.items()]
        parts.append("\n".join(["_KINDS: dict[str, Callable[[Any], events.EventKind]] = {", *kinds, "}"]))
        start = READERS_START.replace("{modules}", ", ".join(RECORDS))
        start = start.replace("{contracts}", ", ".join(sorted(set(self.contract.contracts.values()))))
        return start + "\n\n".join(parts)

    def fields(self, name: str, rules: dict[str, Any]) -> list[Field]:
        """The fields of a record, those without a default first."""
        message = rules.get("message", name)
        paths: dict[str, str] = rules.get("from", {})
        moved = {path.partition(".")[0] for path in paths.values()}
        found: dict[str, Field] = {}
        for field in self.contract.messages[message].field:
            short = field.name.removesuffix("_json")
            for place, path in paths.items():
                if path.partition(".")[0] == field.name:
                    found[place] = self.field(message, place, path, rules)
            if field.name not in moved and field.name not in rules.get("hide", ()) and short not in paths:
                found[short] = self.field(message, short, field.name, rules)
        for place, (kind, default, reader) in rules.get("read", {}).items():
            comment = found[place].comment if place in found else ""
            found[place] = Field(
                place, kind, "" if place in rules.get("required", ()) else default, reader, comment
            )
        first = [*rules.get("required", ()), *rules.get("order", ())]
        if unknown := set(first) - set(found):
            raise SystemExit(f"client.toml: {name} has no field {', '.join(sorted(unknown))}")
        return [found[place] for place in first] + [f for f in found.values() if f.name not in first]

    def field(self, message: str, name: str, path: str, rules: dict[str, Any]) -> Field:
        owner, field = self.contract.find(message, path)
        required = name in rules.get("required", ())
        kind, default, reader = self.shape(field, f"wire.{path}", name, required=required)
        default = "" if required else rules.get("default", {}).get(name, default)
        comment = self.contract.comments[owner, field.name]
        if field.name.endswith("_json"):
            comment = re.sub(r",? as (JSON )?text\b", "", comment)
        return Field(name, kind, default, reader, comment)

    def shape(
        self, field: FieldDescriptorProto, wire: str, name: str, *, required: bool
    ) -> tuple[str, str, str]:
        """The type of a field, its default, and the expression that reads it."""
        kind = field.type_name.rpartition(".")[2]
        if kind == "Timestamp":
            return "float", "0.0", f"values.seconds({wire})"
        if kind.endswith("Entry") and field.label == TYPE.LABEL_REPEATED:
            return "dict[str, str]", "field(default_factory=dict)", f"dict({wire})"
        if field.type == TYPE.TYPE_MESSAGE:
            return self.message_shape(field, kind, wire, required=required)
        if field.type == TYPE.TYPE_ENUM:
            return self.enum_shape(kind, wire)
        if field.name.endswith("_json"):
            if name in RULES["objects"]:
                return "dict[str, Any]", "field(default_factory=dict)", f"values.json_object({wire})"
            return "Any", "None", f"values.value({wire})"
        scalar, zero = SCALARS[field.type]
        if field.label == TYPE.LABEL_REPEATED:
            return f"tuple[{scalar}, ...]", "()", f"tuple({wire})"
        if field.proto3_optional:
            parent, _, last = wire.rpartition(".")
            return f"{scalar} | None", "None", f'{wire} if {parent}.HasField("{last}") else None'
        return scalar, zero, wire

    def message_shape(
        self, field: FieldDescriptorProto, message: str, wire: str, *, required: bool
    ) -> tuple[str, str, str]:
        if message not in self.modules:
            raise SystemExit(
                f"client.toml: no record for {message}, the type of {field.name}: add or hide it"
            )
        module, record = self.modules[message]
        read = snake(record)
        if field.label == TYPE.LABEL_REPEATED:
            return f"tuple[{module}.{record}, ...]", "()", f"tuple(map({read}, {wire}))"
        if required or message in RULES["whole"]:
            return f"{module}.{record}", f"field(default_factory={record})", f"{read}({wire})"
        parent, _, last = wire.rpartition(".")
        return f"{module}.{record} | None", "None", f'{read}({wire}) if {parent}.HasField("{last}") else None'

    def enum_shape(self, enum: str, wire: str) -> tuple[str, str, str]:
        words = f"{self.contract.contracts[enum]}.{enum}"
        for module, enums in ENUMS.items():
            if enum in enums and "unspecified" in enums[enum]:
                kind = f"{module}.{enum}"
                return kind, f"{kind}.UNSPECIFIED", f"{kind}(values.word({words}, {wire}))"
        read = "word" if enum in RULES["always_set"] else "chosen"
        return "str", '""', f"values.{read}({words}, {wire})"


def records() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for module, found in RECORDS.items():
        for name, rules in found.items():
            yield module, name, rules


def docstring(text: str) -> str:
    text = text.replace('"', "'") if text.endswith('"') else text
    lines = textwrap.wrap(f'"""{text}"""', WIDTH, break_long_words=False, break_on_hyphens=False)
    return textwrap.indent("\n".join(lines), "    ")


def members(rules: dict[str, Any]) -> str:
    extra = rules.get("extra", "")
    return "\n" + textwrap.indent(extra, "    ") if extra else ""


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
