"""The records of aeond_client and their fields, as the contract and client.toml describe them."""
# ruff: noqa: INP001 (a program beside the contracts, not a package)

import json
import re
import tomllib
from collections.abc import Iterable
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
ENUMS: dict[str, dict[str, dict[str, Any]]] = RULES["enums"]
# The module of events with the kinds that have no entry.
OTHER_KINDS = "runs"

MARK = "# Generated from protos/ by `make proto`; never edited.\n"

TYPE = FieldDescriptorProto
NUMBERS = {
    TYPE.TYPE_DOUBLE: ("float", "0.0"),
    TYPE.TYPE_FLOAT: ("float", "0.0"),
    TYPE.TYPE_INT32: ("int", "0"),
    TYPE.TYPE_INT64: ("int", "0"),
}
SCALARS = {
    **NUMBERS,
    TYPE.TYPE_BOOL: ("bool", "False"),
    TYPE.TYPE_STRING: ("str", '""'),
    TYPE.TYPE_ENUM: ("str", '""'),
}

# The rules of the records by package, module and name.
Packages = dict[str, dict[str, dict[str, dict[str, Any]]]]


@dataclass(frozen=True)
class Record:
    """A record: the module that it is in, and its rules from client.toml."""

    package: str
    module: str
    name: str
    rules: dict[str, Any]

    @property
    def message(self) -> str:
        return str(self.rules.get("message", self.name))

    @property
    def path(self) -> str:
        """The record as the table of places names it, by the modules of records and the package of events."""
        return f"{self.module if self.package == 'records' else self.package}.{self.name}"


@dataclass(frozen=True)
class Field:
    """A field of a record: its type and its default ("" for none)."""

    name: str
    type: str
    default: str
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


class Shapes:
    """The records with their fields: names, types and defaults."""

    def __init__(self, found: FileDescriptorSet) -> None:
        self.contract = Contract(found)
        self.packages = packages(self.contract.kinds.values())
        self.records = [
            Record(package, module, name, rules)
            for package, modules in self.packages.items()
            for module, names in modules.items()
            for name, rules in names.items()
        ]
        self.by_message = {record.message: record for record in self.records}

    def fields(self, record: Record) -> list[Field]:
        """The fields of a record, those without a default first."""
        message, rules = record.message, record.rules
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
        for place, (kind, default, _) in rules.get("read", {}).items():
            comment = found[place].comment if place in found else ""
            found[place] = Field(place, kind, "" if place in rules.get("required", ()) else default, comment)
        first = [*rules.get("required", ()), *rules.get("order", ())]
        if unknown := set(first) - set(found):
            raise SystemExit(f"client.toml: {record.name} has no field {', '.join(sorted(unknown))}")
        return [found[place] for place in first] + [f for f in found.values() if f.name not in first]

    def field(self, message: str, name: str, path: str, rules: dict[str, Any]) -> Field:
        owner, field = self.contract.find(message, path)
        required = name in rules.get("required", ())
        kind, default = self.shape(field, name, required=required)
        default = "" if required else rules.get("default", {}).get(name, default)
        comment = self.contract.comments[owner, field.name]
        if field.name.endswith("_json"):
            comment = re.sub(r",? as (JSON )?text\b", "", comment)
        return Field(name, kind, default, comment)

    def shape(self, field: FieldDescriptorProto, name: str, *, required: bool) -> tuple[str, str]:
        """The type of a field and its default."""
        kind = field.type_name.rpartition(".")[2]
        repeated = field.label == TYPE.LABEL_REPEATED
        if kind == "Timestamp":
            return "float", "0.0"
        if kind.endswith("Entry") and repeated:
            return "dict[str, str]", "field(default_factory=dict)"
        if field.type == TYPE.TYPE_MESSAGE:
            return self.message_shape(field, kind, required=required)
        if field.type == TYPE.TYPE_ENUM and not repeated:
            return enum_shape(kind)
        if field.name.endswith("_json"):
            if name in RULES["objects"]:
                return "dict[str, Any]", "field(default_factory=dict)"
            return "Any", "None"
        scalar, zero = SCALARS[field.type]
        if repeated:
            return f"tuple[{scalar}, ...]", "()"
        return (f"{scalar} | None", "None") if field.proto3_optional else (scalar, zero)

    def message_shape(self, field: FieldDescriptorProto, message: str, *, required: bool) -> tuple[str, str]:
        if message not in self.by_message:
            raise SystemExit(
                f"client.toml: no record for {message}, the type of {field.name}: add or hide it"
            )
        record = self.by_message[message]
        if field.label == TYPE.LABEL_REPEATED:
            return f"tuple[{record.path}, ...]", "()"
        if required or message in RULES["whole"]:
            return record.path, f"field(default_factory={record.name})"
        return f"{record.path} | None", "None"


def enum_shape(enum: str) -> tuple[str, str]:
    for module, enums in ENUMS.items():
        if enum in enums and "unspecified" in enums[enum]:
            kind = f"{module}.{enum}"
            return kind, f"{kind}.UNSPECIFIED"
    return "str", '""'


def packages(kinds: Iterable[str]) -> Packages:
    """The packages with all records, also those of the kinds of events that client.toml does not list."""
    events = {module: dict(names) for module, names in RULES["events"].items()}
    listed = {name for names in events.values() for name in names}
    events[OTHER_KINDS] |= {kind: {} for kind in kinds if kind not in listed}
    return {"records": RULES["records"], "events": events}


def face(text: str, package: str, modules: dict[str, list[str]]) -> str:
    """The `__init__.py` of a package that exports the names of its modules."""
    imports = [f"from {package}.{module} import {', '.join(names)}" for module, names in modules.items()]
    exported = sorted(name for names in modules.values() for name in names)
    return "\n".join([MARK + text, *imports, "", f"__all__ = {json.dumps(exported)}"])
