# Generated from protos/ by `make proto`; never edited.
"""Facts in the memory as a client sees them."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """A key and its value."""

    key: str
    """1 to 512 characters."""
    value: Any
    """The value; never empty."""
    run_id: str = ""
    """The run that wrote it. Empty: a client wrote it directly, or a version that did not record
    this."""
    taint: tuple[str, ...] = ()
    """Untrusted sources that the writing run had read. Empty: none."""
