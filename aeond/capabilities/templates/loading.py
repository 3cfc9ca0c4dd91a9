"""Loads templates from TOML files: the shipped ones, and those in the user's folders.

The file name is the template's name. The file defines how a kind of subtask is executed and, at the same
time, the tool that starts one: the inputs are the tool's arguments.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aeond.domain.plans.subtasks import Template
from aeond.domain.runs.budgets import BudgetRequest
from aeond.errors import InvalidInputError
from aeond.frozen import frozen
from aeond.plain_files import UnsafeFileError, read_trusted

SHIPPED: Final = Path(__file__).parent
MAX_FILE_BYTES: Final = 64 * 1024
MAX_TEMPLATES: Final = 256

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")

Line = Annotated[str, Field(min_length=1, max_length=300)]
Word = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, str_strip_whitespace=True)


class InputText(_Part):
    """A text input of a template."""

    description: Line


class BudgetText(_Part):
    """The maximum budget of a run of this template; unset limits are those that the parent can spare."""

    ttl: Annotated[int, Field(ge=1)] | None = None
    llm_calls: Annotated[int, Field(ge=0)] | None = None
    tokens: Annotated[int, Field(ge=0)] | None = None
    tool_calls: Annotated[int, Field(ge=0)] | None = None
    passes: Annotated[int, Field(ge=1)] | None = None
    wall_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    depth: Annotated[int, Field(ge=0)] | None = None


class TemplateText(_Part):
    """The content of a template file."""

    description: Line
    task: Line
    hints: Annotated[tuple[Line, ...], Field(min_length=1, max_length=64)]
    instructions: Annotated[str, Field(min_length=1, max_length=8_000)]
    inputs: Annotated[Mapping[Word, InputText], Field(min_length=1, max_length=8)]
    tools: Annotated[tuple[Word, ...], Field(max_length=64)] = ()
    agent: Word | None = None
    budget: BudgetText = BudgetText()
    example: Mapping[str, str]


@frozen
class TemplateFile:
    """A template with its path and the description of its tool: `task` is the request of its runs,
    `input_descriptions` describe the inputs, `example` has a value for each.
    """

    template: Template
    path: Path
    task: str
    input_descriptions: Mapping[str, str]
    example: Mapping[str, str]


def load_templates(folders: Sequence[Path] = ()) -> Sequence[TemplateFile]:
    """The shipped templates and those in these folders, by name; a user's template replaces a shipped one, or
    one in an earlier folder, with the same name.

    Raises InvalidInputError (field `tools.templates`, reason TEMPLATE_FOLDER_MISSING, TEMPLATE_UNSAFE,
    TEMPLATE_BROKEN or TEMPLATE_TOO_MANY) with the file and the error in it.
    """
    found: dict[str, TemplateFile] = {}
    for folder in (SHIPPED, *folders):
        try:
            paths = sorted(path for path in folder.iterdir() if path.suffix == ".toml")
        except OSError as error:
            raise _refused(
                folder, f"it cannot be read: {error.strerror}", "TEMPLATE_FOLDER_MISSING"
            ) from error
        for path in paths:
            file = read_template(path)
            found[file.template.name] = file
        if len(found) > MAX_TEMPLATES:
            raise _refused(folder, f"there are more than {MAX_TEMPLATES} templates", "TEMPLATE_TOO_MANY")
    return tuple(found[name] for name in sorted(found))


def read_template(path: Path) -> TemplateFile:
    """One file. Raises InvalidInputError as `load_templates` does."""
    name = path.stem
    if not _NAME.fullmatch(name):
        raise _refused(
            path,
            "a template's file name must consist of a-z, 0-9 and _, starting with a letter",
            "TEMPLATE_BROKEN",
        )
    try:
        text = TemplateText.model_validate(tomllib.loads(_content(path).decode()))
    except ValidationError as error:
        raise _refused(path, _wrong(error), "TEMPLATE_BROKEN") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _refused(path, f"it is not valid TOML: {error}", "TEMPLATE_BROKEN") from error
    if set(text.example) != set(text.inputs):
        raise _refused(
            path, "its example must have a value for each input, and nothing else", "TEMPLATE_BROKEN"
        )
    template = Template(
        name=name,
        description=text.description,
        hints=text.hints,
        inputs=tuple(text.inputs),
        instructions=text.instructions,
        tools=text.tools,
        budget=BudgetRequest(**text.budget.model_dump()),
        agent=text.agent or "",
    )
    described = {name: part.description for name, part in text.inputs.items()}
    return TemplateFile(template, path, text.task, described, dict(text.example))


def check_names(files: Iterable[TemplateFile], taken: Iterable[str]) -> None:
    """Raises InvalidInputError (TEMPLATE_BROKEN) if a template has the name of one of these tools."""
    known = frozenset(taken)
    for file in files:
        if file.template.name in known:
            why = f"a tool named {file.template.name} exists already: rename the file"
            raise _refused(file.path, why, "TEMPLATE_BROKEN")


def check_tools(files: Iterable[TemplateFile], names: Iterable[str]) -> None:
    """Raises InvalidInputError (TEMPLATE_TOOL_UNKNOWN) if a template needs a tool that is not among these."""
    known = frozenset(names)
    for file in files:
        unknown = sorted(set(file.template.tools) - known)
        if unknown:
            why = f"unknown tool {unknown[0]!r}; known tools are {', '.join(sorted(known))}"
            raise _refused(file.path, why, "TEMPLATE_TOOL_UNKNOWN")


def check_agents(files: Iterable[TemplateFile], names: Iterable[str]) -> None:
    """Raises InvalidInputError (TEMPLATE_AGENT_UNKNOWN) if a template needs an agent that is not among these."""
    known = frozenset(names)
    for file in files:
        agent = file.template.agent
        if agent and agent not in known:
            why = f"unknown agent {agent!r}; known agents are {', '.join(sorted(known))}"
            raise _refused(file.path, why, "TEMPLATE_AGENT_UNKNOWN")


def _content(path: Path) -> bytes:
    try:
        return read_trusted(path, MAX_FILE_BYTES)  # its author instructs the model about the user's files
    except UnsafeFileError as error:
        reason = "TEMPLATE_UNSAFE" if error.kind == "changeable" else "TEMPLATE_BROKEN"
        raise _refused(path, str(error), reason) from error


def _wrong(error: ValidationError) -> str:
    """A description of the error. Unknown names come first: a missing key may be a misspelt one."""
    wrong = error.errors(include_url=False, include_input=False)
    first = next((one for one in wrong if one["type"] == "extra_forbidden"), wrong[0])
    where = ".".join(str(part) for part in first["loc"]) or "the file"
    said = {
        "extra_forbidden": f"unknown key {first['loc'][-1]!r}",
        "missing": "it is missing",
        "too_short": "it is empty",
        "string_too_short": "it is empty",
    }
    return f"{where}: {said.get(first['type'], first['msg'].lower())}"


def _refused(path: Path, why: str, reason: str) -> InvalidInputError:
    return InvalidInputError(f"cannot use the template {path}: {why}", reason=reason, field="tools.templates")
