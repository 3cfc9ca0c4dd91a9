import json

import pytest

from aeond.daemon.logs.printable import json_line, printable

HOSTILE = "\x1b[2J\x1b]0;title\x07 \x9b31m \u202egnp.exe \x7f\ud800\r"


def test_text_from_outside_does_not_control_a_terminal() -> None:
    """Escape sequences and overrides of the direction of text are shown as escapes; lines, tabs and scripts stay."""
    assert printable(HOSTILE).isprintable()
    assert printable("\x1b[2J") == r"\x1b[2J"
    assert printable("größe\t界\n") == "größe\t界\n"


@pytest.mark.parametrize("text", [HOSTILE, "größe 界", "\U000e0041"])
def test_a_json_line_is_printable_and_reads_as_before(text: str) -> None:
    """A record in JSON has no raw control character and still is the same value."""
    line = json_line({"message": text})
    assert line.isprintable()
    assert json.loads(line) == {"message": text}
