"""Generates the readers of aeond_client, which convert wire messages to records."""
# ruff: noqa: INP001 (a program beside the contracts, not a package)

from collections.abc import Iterator

from client_fields import MARK, Record, Shapes, face

READING_FACE = '''"""Converts wire messages to records, in a module for each file of the contract.

Entry point: the functions in `__all__`, one for each record.
Must not know calls: each function takes one message.

Values added by a newer daemon become `unspecified`.
"""
'''

EVENT_READER = """
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
"""


# Everything that readers might need; the formatter removes the rest.
IMPORTS = """
from collections.abc import Callable
from typing import Any

from aeond.api.v1 import {contracts}
from aeond_client import events
from aeond_client.calls import values
from aeond_client.records import {records}
"""


class ReadingCode:
    """The source texts of the readers: a module for each file of the contract."""

    def __init__(self, shapes: Shapes) -> None:
        self.shapes = shapes
        self.contract = shapes.contract

    def files(self) -> Iterator[tuple[str, str]]:
        """Each file of the readers with its source, not yet formatted."""
        modules: dict[str, list[str]] = {"events": ["event"]}
        for record in self.shapes.records:
            modules.setdefault(self.module_of(record), []).append(record.reader)
        for module in modules:
            others = {other: names for other, names in modules.items() if other != module}
            yield f"calls/reading/{module}.py", MARK + self.module(module, others)
        yield "calls/reading/__init__.py", face(READING_FACE, "aeond_client.calls.reading", modules)

    def module_of(self, record: Record) -> str:
        return self.contract.contracts[record.message].removesuffix("_pb2")

    def module(self, module: str, others: dict[str, list[str]]) -> str:
        contracts = ", ".join(sorted(set(self.contract.contracts.values())))
        imports = IMPORTS.replace("{contracts}", contracts)
        parts = [
            f'"""Converts messages of {module}.proto to records."""',
            imports.replace("{records}", ", ".join(self.shapes.packages["records"])),
        ]
        parts += [
            f"from aeond_client.calls.reading.{other} import {', '.join(names)}"
            for other, names in others.items()
        ]
        readers = [self.reader(record) for record in self.shapes.records if self.module_of(record) == module]
        parts += [EVENT_READER, *readers, self.kinds()] if module == "events" else readers
        return "\n\n".join(parts)

    def reader(self, record: Record) -> str:
        wire = f"{self.contract.contracts[record.message]}.{record.message}"
        read = [f"{field.name}={field.reader}" for field in self.shapes.fields(record)]
        return (
            f"def {record.reader}({'' if read else '_'}wire: {wire}) -> {record.path}:\n"
            f"    return {record.path}({', '.join(read)})"
        )

    def kinds(self) -> str:
        """The readers of the kinds of events, by their fields of Event."""
        kinds = [
            f'    "{field}": {self.shapes.by_message[message].reader},'
            for field, message in self.contract.kinds.items()
        ]
        return "\n".join(["_KINDS: dict[str, Callable[[Any], events.EventKind]] = {", *kinds, "}"])
