"""Questions to a person: what a tool may return instead of data, and what becomes of it in a run."""

from dataclasses import field

from aeond.domain.values import JsonObject, JsonValue
from aeond.frozen import frozen


@frozen
class InputRequest:
    """A tool's outcome: somebody must answer before the step has a result.

    The answer is JSON that satisfies `schema`, or one of `options` if there are any. With a
    `deadline_seconds` above 0 the question lapses after that time: the step then ends with `default`,
    or fails where there is none.
    """

    prompt: str
    schema: JsonObject = field(default_factory=lambda: {"type": "string"})
    options: tuple[str, ...] = ()
    default: JsonValue = None
    has_default: bool = False
    deadline_seconds: float = 0.0


@frozen
class Question:
    """An InputRequest as asked by a step of a run. `asked_time` is Unix time in seconds."""

    question_id: str
    step_id: str
    request: InputRequest
    asked_time: float

    @property
    def deadline_time(self) -> float:
        """When it lapses, in Unix seconds; 0 for never."""
        seconds = self.request.deadline_seconds
        return self.asked_time + seconds if seconds > 0 else 0.0
