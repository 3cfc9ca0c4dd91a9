"""Live updates of a run: sent to watchers, never journaled, never numbered."""

from aeond.frozen import frozen


@frozen
class TextDelta:
    """A piece of text as the model generates it or a step's program prints it: sent live, never journaled, never
    numbered.

    `step_id` is "" for the answer. `offset` is the position of the piece in the text, in characters; a piece
    with offset 0 discards the earlier text (the model was called again).
    """

    run_id: str
    step_id: str
    text: str
    offset: int


@frozen
class Progress:
    """The current activity of a run, for people: never journaled. `fraction` is 0..1, or -1 if unknown."""

    run_id: str
    step_id: str
    activity: str
    fraction: float = -1.0


@frozen
class Queued:
    """The run waits for its turn, after this many other runs. It ends with the next event."""

    run_id: str
    ahead: int


LiveUpdate = TextDelta | Progress | Queued
