# Generated from protos/ by `make proto`; never edited.
"""Converts messages of memory.proto to records."""

from aeond.api.v1 import memory_pb2
from aeond_client.calls import values
from aeond_client.records import memory


def memory_entry(wire: memory_pb2.MemoryEntry) -> memory.MemoryEntry:
    return memory.MemoryEntry(
        key=wire.key, value=values.value(wire.value_json), run_id=wire.run_id, taint=tuple(wire.taint)
    )
