"""What a look at one thing that the daemon needs found."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How one look went."""

    GOOD = "good"
    DOUBTFUL = "doubtful"  # it works, with a drawback
    BAD = "bad"  # the daemon cannot work like this


@dataclass(frozen=True, slots=True)
class Finding:
    """What one look found, and what to do about it ("" when nothing is to be done)."""

    subject: str
    verdict: Verdict
    found: str
    advice: str = ""
