"""Places that words name in a text."""

import pytest

from aeond.capabilities.tools.editing.places import only_place
from aeond.errors import ToolError


def test_a_part_of_another_word_is_no_place() -> None:
    """A single word is not found inside another one."""
    with pytest.raises(ToolError) as raised:
        only_place("- steak\n", "tea", "a.txt")
    assert raised.value.reason == "TEXT_NOT_FOUND"
