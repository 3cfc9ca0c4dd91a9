"""Fast copies of frozen values.

Data is frozen: a change creates a new value, about ten times per step. `dataclasses.replace` reads and sets
every field through Python; `replace` here copies all fields at once and takes a sixth of the time for a run's
snapshot. It supports frozen dataclasses without slots and without validation in `__post_init__`; use
`dataclasses.replace` for all others. Type checkers see the signature of `dataclasses.replace`.
"""

from typing import TYPE_CHECKING, Any

__all__ = ["replace"]

if TYPE_CHECKING:
    from dataclasses import replace
else:

    def replace(value: Any, /, **changes: Any) -> Any:
        """The value with these fields changed. TypeError if a field does not exist."""
        made = object.__new__(type(value))
        fields = made.__dict__
        fields.update(value.__dict__)
        count = len(fields)
        fields.update(changes)
        if len(fields) != count:
            raise TypeError(f"{type(value).__name__} has no {', '.join(changes.keys() - value.__dict__)}")
        return made
