"""Maps each enum of the domain to the wire enum of the same name, value by value."""

from enum import StrEnum
from typing import Generic, TypeVar

from google.protobuf.descriptor import EnumDescriptor

from aeond.errors import InvalidInputError

Ours = TypeVar("Ours", bound=StrEnum)

_UNSPECIFIED = "UNSPECIFIED"


def number_by_name(theirs: EnumDescriptor) -> dict[str, int]:
    """The numbers by the names of the domain: RUN_STATE_FAILED is FAILED. Without UNSPECIFIED."""
    prefix = theirs.values[0].name.removesuffix(_UNSPECIFIED)
    return {value.name.removeprefix(prefix): value.number for value in theirs.values if value.number}


class Names(Generic[Ours]):
    """Reads one enum of requests. Built on import, so that a value missing on the wire is detected at once."""

    def __init__(self, ours: type[Ours], theirs: EnumDescriptor) -> None:
        numbers = number_by_name(theirs)
        self._ours = {numbers[member.name]: member for member in ours}
        self._shown = ", ".join(theirs.values_by_number[number].name for number in self._ours)

    def domain(self, number: int, field: str) -> Ours:
        """InvalidInputError (reason UNKNOWN_VALUE) for UNSPECIFIED and for numbers that have no name."""
        member = self._ours.get(number)
        if member is None:
            raise InvalidInputError(
                f"{field} must be one of {self._shown}, not {number}.", reason="UNKNOWN_VALUE", field=field
            )
        return member

    def domain_or(self, number: int, field: str, default: Ours) -> Ours:
        """As `domain`, with a default for UNSPECIFIED."""
        return self.domain(number, field) if number else default
