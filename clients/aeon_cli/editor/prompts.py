"""The request that a prompt of an editor makes."""

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from acp import schema

from aeond_client.errors import InvalidInputError

ContentBlock = (
    schema.TextContentBlock
    | schema.ImageContentBlock
    | schema.AudioContentBlock
    | schema.ResourceContentBlock
    | schema.EmbeddedResourceContentBlock
)


def request_of(blocks: Iterable[ContentBlock], folder: Path) -> str:
    """The text of a prompt. A linked file is named by its path, relative to the folder if it is below; the text of an
    embedded resource follows its name.

    InvalidInputError (reason UNSUPPORTED_CONTENT) for pictures, sound and binary resources, (EMPTY_TEXT) if no text is
    left.
    """
    parts: list[str] = []
    for block in blocks:
        match block:
            case schema.TextContentBlock(text=text):
                parts.append(text)
            case schema.ResourceContentBlock(uri=uri):
                parts.append(_name_of(uri, folder))
            case schema.EmbeddedResourceContentBlock(
                resource=schema.TextResourceContents(uri=uri, text=text)
            ):
                parts.append(f"\n\n{_name_of(uri, folder)}:\n{text}\n")
            case _:
                raise InvalidInputError(
                    "aeond reads text: remove the picture, sound or binary file from the prompt.",
                    reason="UNSUPPORTED_CONTENT",
                    field="prompt",
                )
    request = "".join(parts).strip()
    if not request:
        raise InvalidInputError("The prompt is empty.", reason="EMPTY_TEXT", field="prompt")
    return request


def _name_of(uri: str, folder: Path) -> str:
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return uri
    path = Path(unquote(parts.path))
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)
