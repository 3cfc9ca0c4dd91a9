"""Prompts of an editor become requests."""

from pathlib import Path

import pytest
from acp.helpers import embedded_text_resource, image_block, resource_block, resource_link_block, text_block

from aeon_cli.editor.prompts import ContentBlock, request_of
from aeond_client.errors import InvalidInputError

FOLDER = Path("/home/ann/work")


def test_links_and_embedded_files_are_named_by_their_path() -> None:
    """A link below the folder becomes a relative path, another one an absolute path, and embedded text is included."""
    blocks: list[ContentBlock] = [
        text_block("Compare "),
        resource_link_block("a", "file:///home/ann/work/my%20notes.md"),
        text_block(" with "),
        resource_link_block("b", "file:///etc/hosts"),
        resource_block(embedded_text_resource("file:///home/ann/work/c.txt", "one\ntwo")),
    ]
    assert request_of(blocks, FOLDER) == "Compare my notes.md with /etc/hosts\n\nc.txt:\none\ntwo"


def test_other_addresses_are_passed_on() -> None:
    """A link that is no file is named by its address."""
    assert (
        request_of([resource_link_block("page", "https://example.org/a")], FOLDER) == "https://example.org/a"
    )


@pytest.mark.parametrize(
    ("block", "reason"),
    [(image_block("aGVsbG8=", "image/png"), "UNSUPPORTED_CONTENT"), (text_block(" \n"), "EMPTY_TEXT")],
    ids=["picture", "nothing"],
)
def test_an_unusable_prompt_is_an_error(block: ContentBlock, reason: str) -> None:
    """A picture and an empty prompt are refused with a reason."""
    with pytest.raises(InvalidInputError) as refused:
        request_of([block], FOLDER)
    assert refused.value.reason == reason
