"""What a look at one thing that the daemon needs found."""

from enum import StrEnum

from aeond.frozen import frozen


class Verdict(StrEnum):
    """How one look went."""

    GOOD = "good"
    DOUBTFUL = "doubtful"  # it works, with a drawback
    BAD = "bad"  # the daemon cannot work like this


@frozen
class Finding:
    """What one look found, and what to do about it ("" when nothing is to be done)."""

    subject: str
    verdict: Verdict
    found: str
    advice: str = ""
