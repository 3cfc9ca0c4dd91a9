"""Findings of `aeond doctor`."""

from enum import StrEnum

from aeond.frozen import frozen


class Verdict(StrEnum):
    """The severity of a finding."""

    GOOD = "good"
    DOUBTFUL = "doubtful"  # it works, with a disadvantage
    BAD = "bad"  # the daemon cannot work


@frozen
class Finding:
    """The result of one check, with its remedy ("" if none is needed)."""

    subject: str
    verdict: Verdict
    found: str
    advice: str = ""
