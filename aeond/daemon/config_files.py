"""Configuration files: reading one, saying what is wrong with it and where, and writing the one with
every default."""

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from aeond.daemon.config import Config
from aeond.daemon.config_types import Section
from aeond.daemon.secrets import in_configuration, looks_secret
from aeond.errors import InvalidInputError

_HEADER = re.compile(r"\s*\[([A-Za-z0-9_.]+)\]\s*(#.*)?$")
_KEY = re.compile(r"\s*([A-Za-z0-9_-]+)\s*=")
_USER_INFO = re.compile(r"://[^/]*@")
WIDTH = 100


def load_config(path: Path, *, required: bool) -> Config:
    """The configuration in a file; the defaults when there is none and none is required.

    InvalidInputError (reason CONFIG_INVALID) lists every mistake with its key, file and line, and what
    is allowed there.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if not required:
            return Config()
        raise _invalid(f"there is no file {path}: name another one, or leave --config out") from None
    except (OSError, UnicodeDecodeError) as error:
        raise _invalid(f"{path} cannot be read: {error}") from error
    try:
        # By way of JSON: strict about types, yet a list of TOML may be a tuple and a text an enum's value.
        return Config.model_validate_json(json.dumps(tomllib.loads(text), default=str), strict=True)
    except tomllib.TOMLDecodeError as error:
        raise _invalid(f"{path} is no TOML: {error}") from error
    except ValidationError as error:
        mistakes = [_told(path, text, one) for one in error.errors(include_url=False)]
        raise _invalid("\n".join(mistakes)) from None


def _invalid(message: str) -> InvalidInputError:
    return InvalidInputError(message, reason="CONFIG_INVALID")


def _told(path: Path, text: str, error: ErrorDetails) -> str:
    """One mistake in one line: where, which key, what is wrong, what would be right."""
    location = error["loc"]
    keys = [str(part) for part in location if not isinstance(part, int)]
    line = _line_of(text, keys)
    where = f"{path}:{line}" if line else str(path)
    name = ".".join(keys)
    if looks_secret(keys[-1]):
        return f"{where}: {in_configuration(name)}"
    if error["type"] == "extra_forbidden":
        known = ", ".join(_keys_beside(keys))
        return f"{where}: there is no key {name}; here you may set {known}"
    what = error["msg"].removeprefix("Value error, ")
    shown = "what it must not be" if _USER_INFO.search(str(error["input"])) else repr(error["input"])
    return f"{where}: {name} is {shown}: {what[:1].lower()}{what[1:]}"


def _keys_beside(keys: Sequence[str]) -> Sequence[str]:
    """What may stand where the last of these keys stands."""
    section: Section = Config()
    for key in keys[:-1]:
        section = getattr(section, key)
    return tuple(type(section).model_fields)


def _line_of(text: str, keys: Sequence[str]) -> int:
    """The line on which a key stands, or its section; 0 when neither is found."""
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
    """The text of a configuration file with every key at its default under its description."""
    lines = [
        "# The configuration of aeond. Every key is shown with its default; what you leave out has it.",
        "# `aeond check-config FILE` tells whether a file is right before a daemon has to.",
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
