"""Reads configuration files, reports their errors with positions, and writes the file with all defaults."""

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from aeond.daemon.config.schema import Config
from aeond.daemon.config.secrets import in_configuration, looks_secret
from aeond.daemon.config.section import Section, named_sections
from aeond.errors import InvalidInputError
from aeond.plain_files import read_plain, writable_by_others

_HEADER = re.compile(r"\s*\[([A-Za-z0-9_.]+)\]\s*(#.*)?$")
_KEY = re.compile(r"\s*([A-Za-z0-9_-]+)\s*=")
_USER_INFO = re.compile(r"://[^/]*@")
WIDTH = 100
MAX_CONFIG_BYTES = 256 * 1024
MAX_SHOWN_CHARS = 200  # of a wrong value


def load_config(path: Path, *, required: bool) -> Config:
    """The configuration in a file; the defaults if there is no file and none is required.

    InvalidInputError (reason CONFIG_INVALID) lists every error with its key, file and line, and the allowed
    values.
    """
    try:
        facts, content = read_plain(path, MAX_CONFIG_BYTES)
        unsafe = writable_by_others(path, facts)
        text = content.decode()
    except FileNotFoundError:
        if not required:
            return Config()
        raise _invalid(f"file {path} does not exist: give another one, or omit --config") from None
    except (OSError, UnicodeDecodeError) as error:
        raise _invalid(f"{path} cannot be read: {error}") from error
    if unsafe:
        raise _invalid(f"{path} names programs that the daemon runs, and other users can change it: {unsafe}")
    if len(content) > MAX_CONFIG_BYTES:
        raise _invalid(f"{path} is larger than {MAX_CONFIG_BYTES // 1024} KiB: give the configuration file")
    try:
        # Via JSON: strict about types, but accepts a TOML list as a tuple and a string as an enum value.
        return Config.model_validate_json(json.dumps(tomllib.loads(text), default=str), strict=True)
    except ValidationError as error:
        mistakes = [_error_line(path, text, one) for one in error.errors(include_url=False)]
        raise _invalid("\n".join(mistakes)) from None
    except (ValueError, RecursionError) as error:  # no TOML, a number of thousands of digits, or deep nesting
        raise _invalid(f"{path} is not valid TOML: {error}") from error


def _invalid(message: str) -> InvalidInputError:
    return InvalidInputError(message, reason="CONFIG_INVALID")


def _error_line(path: Path, text: str, error: ErrorDetails) -> str:
    """One error on one line: position, key, problem, and valid values."""
    location = error["loc"]
    keys = [str(part) for part in location if not isinstance(part, int)]
    line = _line_of(text, keys)
    where = f"{path}:{line}" if line else str(path)
    name = ".".join(keys)
    if looks_secret(keys[-1]):
        return f"{where}: {in_configuration(name)}"
    if error["type"] == "extra_forbidden":
        known = ", ".join(_keys_beside(keys))
        return f"{where}: unknown key {name}; valid keys are {known}"
    what = error["msg"].removeprefix("Value error, ")
    shown = "a forbidden value" if _USER_INFO.search(str(error["input"])) else _shown(error["input"])
    return f"{where}: {name} is {shown}: {what[:1].lower()}{what[1:]}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]} ..."


def _keys_beside(keys: Sequence[str]) -> Sequence[str]:
    """The keys allowed beside the last of these keys."""
    section: type[Section] = Config
    path = iter(keys[:-1])
    for key in path:
        field = section.model_fields[key]
        named = named_sections(field)
        if named:
            next(path)
        section = named or field.annotation  # type: ignore[assignment]  # only sections have keys
    return tuple(section.model_fields)


def _line_of(text: str, keys: Sequence[str]) -> int:
    """The line of a key, or of its section; 0 if neither is found."""
    section: list[str] = []
    section_line = 0
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            section = header[1].split(".")
            if section == list(keys):
                return number
            if section == list(keys[: len(section)]):
                section_line = number
        elif (key := _KEY.match(line)) and [*section, key[1]] == list(keys[: len(section) + 1]):
            return number
    return section_line


def documented_defaults() -> str:
    """A configuration file with every key, its default and its description."""
    lines = [
        "# The configuration of aeond. Each key is shown with its default value.",
        "# `aeond check-config FILE` validates a file.",
        *_documented(Config(), ()),
    ]
    return "\n".join(lines) + "\n"


def _documented(section: Section, names: tuple[str, ...]) -> list[str]:
    lines: list[str] = []
    inner: list[str] = []
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if isinstance(value, Section):
            doc = (type(value).__doc__ or "").strip()
            inner += [
                "",
                "",
                f"# {doc}",
                f"[{'.'.join((*names, name))}]",
                *_documented(value, (*names, name)),
            ]
        elif named_sections(field):
            inner += ["", "", *_comment(field.description or "")]
        else:
            lines += ["", *_comment(field.description or ""), f"{name} = {_toml(value)}"]
    return lines + inner


def _comment(text: str) -> list[str]:
    lines, line = [], "#"
    for word in text.split():
        if len(line) + len(word) >= WIDTH:
            lines.append(line)
            line = "#"
        line += f" {word}"
    return [*lines, line]


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return f"[{', '.join(_toml(one) for one in value)}]"
    return f"{value}"
