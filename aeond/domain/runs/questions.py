"""Questions to a person: what a tool may return instead of data, and their state in a run."""

from dataclasses import field

from aeond.domain.values import JsonObject, JsonValue
from aeond.frozen import frozen


@frozen
class InputRequest:
    """A tool's outcome: a person must answer before the step has a result.

    The answer is JSON that satisfies `schema`, or one of `options` if there are any. With `deadline_seconds`
    above 0 the question times out after that time: the step then ends with `default`, or fails if there is
    none. If it `continues`, the answer is not the result: the step is attempted again, and its call receives the
    answer.
    """

    prompt: str
    schema: JsonObject = field(default_factory=lambda: {"type": "string"})
    options: tuple[str, ...] = ()
    default: JsonValue = None
    has_default: bool = False
    deadline_seconds: float = 0.0
    continues: bool = False


@frozen
class Question:
    """An InputRequest as asked by a step of a run. `asked_time` is Unix time in seconds."""

    question_id: str
    step_id: str
    request: InputRequest
    asked_time: float

    @property
    def deadline_time(self) -> float:
        """The time at which it times out, in Unix seconds; 0 for never."""
        seconds = self.request.deadline_seconds
        return self.asked_time + seconds if seconds > 0 else 0.0
