# Generated from protos/ by `make proto`; never edited.
"""Live updates: events without a number, which are not journaled."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of text as the model generates it, or as the program of a step prints it. Not
    journaled."""

    text: str
    """The piece."""
    offset: int = 0
    """The position of the piece in the text, in characters. 0: earlier text is discarded."""
    step_id: str = ""
    """The step. Empty: the answer."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The current activity of a run, for people. Not journaled."""

    activity: str
    """The activity."""
    fraction: float = -1.0
    """The progress, 0 to 1. -1: unknown."""
    step_id: str = ""
    """The step. Empty: the run."""


@dataclass(frozen=True, slots=True)
class Queued:
    """The run waits for its turn. Sent whenever its place changes, and when a client starts to watch.
    Not journaled."""

    ahead: int = 0
    """The number of runs that start before it. 0: it is the next one."""
