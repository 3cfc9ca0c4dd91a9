"""Templates from TOML files: those that come with aeond, and those in folders of the user's.

A file is named for its template. It says how a kind of subtask is done and, at the same time, what the
tool is like that begins one: the inputs are the tool's arguments.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aeond.domain.budgets import BudgetRequest
from aeond.domain.subtasks import Template
from aeond.errors import InvalidInputError
from aeond.frozen import frozen
from aeond.plain_files import changeable, read_plain

SHIPPED: Final = Path(__file__).parent
MAX_FILE_BYTES: Final = 64 * 1024
MAX_TEMPLATES: Final = 256

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")

Line = Annotated[str, Field(min_length=1, max_length=300)]
Word = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, str_strip_whitespace=True)


class InputText(_Part):
    """An input of a template: a text."""

    description: Line


class BudgetText(_Part):
    """The most that a run of this template gets; what is not said is what its parent can spare."""

    ttl: Annotated[int, Field(ge=1)] | None = None
    llm_calls: Annotated[int, Field(ge=0)] | None = None
    tokens: Annotated[int, Field(ge=0)] | None = None
    tool_calls: Annotated[int, Field(ge=0)] | None = None
    passes: Annotated[int, Field(ge=1)] | None = None
    wall_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    depth: Annotated[int, Field(ge=0)] | None = None


class TemplateText(_Part):
    """A template file as it is written."""

    description: Line
    task: Line
    hints: Annotated[tuple[Line, ...], Field(min_length=1, max_length=64)]
    instructions: Annotated[str, Field(min_length=1, max_length=8_000)]
    inputs: Annotated[Mapping[Word, InputText], Field(min_length=1, max_length=8)]
    tools: Annotated[tuple[Word, ...], Field(max_length=64)] = ()
    budget: BudgetText = BudgetText()
    example: Mapping[str, str]


@frozen
class TemplateFile:
    """A template, where it stands, and what its tool is told: `task` is what a run of it is asked,
    `input_descriptions` say what each input is, `example` gives one of each."""

    template: Template
    path: Path
    task: str
    input_descriptions: Mapping[str, str]
    example: Mapping[str, str]


def load_templates(folders: Sequence[Path] = ()) -> Sequence[TemplateFile]:
    """The shipped templates and those in these folders, by name; one of the user's takes the place of a
    shipped one or of one in a folder before.

    Raises InvalidInputError (field `tools.templates`, reason TEMPLATE_FOLDER_MISSING, TEMPLATE_UNSAFE,
    TEMPLATE_BROKEN or TEMPLATE_TOO_MANY) with the file and what is wrong in it.
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
            path, "a template's file is named with a-z, 0-9 and _, a letter first", "TEMPLATE_BROKEN"
        )
    try:
        text = TemplateText.model_validate(tomllib.loads(_content(path).decode()))
    except ValidationError as error:
        raise _refused(path, _wrong(error), "TEMPLATE_BROKEN") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _refused(path, f"it is no TOML: {error}", "TEMPLATE_BROKEN") from error
    if set(text.example) != set(text.inputs):
        raise _refused(path, "its example must have each of its inputs, and nothing else", "TEMPLATE_BROKEN")
    template = Template(
        name=name,
        description=text.description,
        hints=text.hints,
        inputs=tuple(text.inputs),
        instructions=text.instructions,
        tools=text.tools,
        budget=BudgetRequest(**text.budget.model_dump()),
    )
    described = {name: part.description for name, part in text.inputs.items()}
    return TemplateFile(template, path, text.task, described, dict(text.example))


def check_names(files: Iterable[TemplateFile], taken: Iterable[str]) -> None:
    """Raises InvalidInputError (TEMPLATE_BROKEN) for a template that is named like one of these tools."""
    known = frozenset(taken)
    for file in files:
        if file.template.name in known:
            why = f"there is a tool named {file.template.name} already: give the file another name"
            raise _refused(file.path, why, "TEMPLATE_BROKEN")


def check_tools(files: Iterable[TemplateFile], names: Iterable[str]) -> None:
    """Raises InvalidInputError (TEMPLATE_TOOL_UNKNOWN) for a template that wants a tool not among these."""
    known = frozenset(names)
    for file in files:
        unknown = sorted(set(file.template.tools) - known)
        if unknown:
            why = f"there is no tool {unknown[0]!r}; there are: {', '.join(sorted(known))}"
            raise _refused(file.path, why, "TEMPLATE_TOOL_UNKNOWN")


def _content(path: Path) -> bytes:
    try:
        facts, content = read_plain(path, MAX_FILE_BYTES)
        unsafe = changeable(path, facts)
    except OSError as error:
        raise _refused(path, f"it cannot be read: {error.strerror}", "TEMPLATE_BROKEN") from error
    # Whoever writes here tells the model what to do with the user's files.
    if unsafe:
        raise _refused(path, unsafe, "TEMPLATE_UNSAFE")
    if len(content) > MAX_FILE_BYTES:
        raise _refused(path, "it is larger than 64 KiB", "TEMPLATE_BROKEN")
    return content


def _wrong(error: ValidationError) -> str:
    """What is wrong in plain words; a name that is unknown comes first: what is missing may be it, misspelled."""
    wrong = error.errors(include_url=False, include_input=False)
    first = next((one for one in wrong if one["type"] == "extra_forbidden"), wrong[0])
    where = ".".join(str(part) for part in first["loc"]) or "the file"
    said = {
        "extra_forbidden": f"there is no {first['loc'][-1]!r} in a template",
        "missing": "it is missing",
        "too_short": "it is empty",
        "string_too_short": "it is empty",
    }
    return f"{where}: {said.get(first['type'], first['msg'].lower())}"


def _refused(path: Path, why: str, reason: str) -> InvalidInputError:
    return InvalidInputError(f"cannot use the template {path}: {why}", reason=reason, field="tools.templates")
