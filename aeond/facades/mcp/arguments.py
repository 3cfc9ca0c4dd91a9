"""The tools of the server: names, descriptions, and the arguments that each takes."""

from typing import Any

import mcp_types as types
from pydantic import BaseModel, ConfigDict, Field


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Ask(Arguments):
    request: str = Field(min_length=1, max_length=100_000, description="What is to be done, in plain words.")
    workspace: str = Field(
        default="", description="Absolute path of the folder to work in. Empty: a private, empty folder."
    )
    session_id: str = Field(default="", description="A session of the daemon to continue. Empty: none.")
    wait: bool = Field(
        default=True, description="Wait for the answer. False: return the run_id at once; the run continues."
    )


class OneRun(Arguments):
    run_id: str = Field(min_length=1, description="As returned by `ask` or `runs`.")


class Answer(OneRun):
    answer: Any = Field(description="One of the question's options, or what its schema asks for.")
    question_id: str = Field(default="", description="Empty: the only open question.")


class Runs(Arguments):
    limit: int = Field(default=20, ge=1, le=200, description="How many, newest first.")


# Approvals are missing on purpose: a model that calls tools could approve its own request.
TOOLS: dict[str, tuple[type[Arguments], str]] = {
    "ask": (Ask, "Send a request to aeond, which plans and carries it out, and wait for the answer."),
    "wait": (OneRun, "Wait for the end of a run and return its answer."),
    "run_status": (OneRun, "The state of a run: its steps, open questions, and the answer."),
    "runs": (Runs, "List runs, newest first."),
    "answer": (Answer, "Answer an open question of a run, then `wait` for it."),
    "cancel": (OneRun, "Cancel a run."),
    "undo": (OneRun, "Take back what an ended run changed: files and facts."),
}
_READ_ONLY = {"wait", "run_status", "runs"}


def listed() -> list[types.Tool]:
    """The tools as clients see them."""
    return [
        types.Tool(
            name=name,
            description=description,
            input_schema=model.model_json_schema(),
            annotations=types.ToolAnnotations(read_only_hint=name in _READ_ONLY),
        )
        for name, (model, description) in TOOLS.items()
    ]
