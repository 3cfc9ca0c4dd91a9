"""Base types of configuration sections."""

from pathlib import Path
from typing import Annotated, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic.fields import FieldInfo


def _absolute(text: str) -> str:
    try:
        fits = not text or Path(text).expanduser().is_absolute()
    except RuntimeError:
        raise ValueError("there is no such user, or the user has no home folder") from None
    if not fits or "\0" in text:
        raise ValueError("it must be an absolute path, start with ~, or be empty")
    return text


def _permissions(text: str) -> str:
    if not (len(text) == 4 and text[0] == "0" and all(digit in "01234567" for digit in text)):
        raise ValueError('it must be file permissions in octal, such as "0660"')
    return text


def _public(text: str) -> str:
    if "@" in text.partition("://")[2].partition("/")[0]:
        raise ValueError("it must not contain a name and password: configure a credential or a file for them")
    return text


PathText = Annotated[str, AfterValidator(_absolute)]
Permissions = Annotated[str, AfterValidator(_permissions)]
UrlText = Annotated[str, AfterValidator(_public)]


class Section(BaseModel):
    """A section of the configuration: unknown keys are errors, types are strict, and numbers are finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, allow_inf_nan=False)


def named_sections(field: FieldInfo) -> type[Section] | None:
    """The type of the sections in a table of sections that the user names; None for any other key."""
    if get_origin(field.annotation) is not dict:
        return None
    kind = get_args(field.annotation)[1]
    return kind if isinstance(kind, type) and issubclass(kind, Section) else None
