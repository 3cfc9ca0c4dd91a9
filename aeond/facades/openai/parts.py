"""An answer as it is made, in neither form of the API: what models and runs produce, and what responses are made of."""

from dataclasses import dataclass, field
from typing import Any, Literal

from aeond.facades.openai.failures import ApiError


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a conversation. The result of a function is said by the user."""

    role: Literal["system", "user", "agent"]
    text: str


@dataclass(frozen=True, slots=True)
class Function:
    """A function that the client carries out; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request in either form of the API.

    `choice` says whether functions are called: `auto`, `none`, `required`, or the name of one after `function:`.
    `previous` is the id of the response that this one continues, `workspace` the folder of a run, `request_id` makes a
    repeat of the request the same run.
    """

    model: str
    said: tuple[Said, ...]
    functions: tuple[Function, ...] = ()
    choice: str = "auto"
    parallel: bool = True
    schema: dict[str, Any] | None = None
    max_tokens: int = 0
    temperature: float = 0.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    previous: str = ""
    workspace: str = ""
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of the prompts and of what was generated; `cached` prompt tokens were in the engine's cache."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt + other.prompt, self.completion + other.completion, self.cached + other.cached
        )


@dataclass(frozen=True, slots=True)
class Started:
    """The first part. `name` is unique and part of every id, `created` a Unix time in seconds."""

    name: str
    created: int


@dataclass(frozen=True, slots=True)
class StepBegan:
    """A step of a run has started; `key` is its own, `text` a line without line feed."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class StepDone:
    """A step has ended. One that has not begun was skipped."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call for the client to carry out; `arguments` is JSON text."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The last part of an answer."""

    finish: Literal["stop", "length", "tool_calls"]
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Failed:
    """The last part if there is no answer."""

    error: ApiError
    usage: Usage = field(default_factory=Usage)


Part = Started | StepBegan | StepDone | Text | FunctionCall | Ended | Failed
