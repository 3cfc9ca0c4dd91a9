import pytest

from aeond.capabilities.tools.relevance.line_ranking import Line, rank

LINES = tuple(
    Line(path, number, text)
    for path, texts in {
        "boat/log.txt": (
            "the mast was painted in March",
            "the anchor chain was replaced",
            "the sails are stored",
        ),
        "boat/costs.csv": ("date,what,amount", "2025-03-02,mast paint,48.50", "2025-04-11,anchor chain,120"),
        "letters/harbour.md": ("Dear Mr Quist", "the mooring is paid until October", "Yours, Ida"),
    }.items()
    for number, text in enumerate(texts, 1)
)


def found(request: str, most: int = 6, per_file: int = 3) -> list[str]:
    return [f"{line.path}:{line.number}" for line in rank(request, LINES, most, per_file)]


@pytest.mark.parametrize(
    ("request_text", "first"),
    [
        ("When was the mooring payed until?", "letters/harbour.md:2"),
        ("how much was the ANCHOR chain", "boat/costs.csv:3"),
        ("what did Quist write", "letters/harbour.md:1"),
        ("moorings?", "letters/harbour.md:2"),
    ],
)
def test_rare_words_decide(request_text: str, first: str) -> None:
    """A line with a rare word of the request is found, in another case, and with another ending."""
    assert first in found(request_text)[:2]


def test_nothing_is_found_for_a_request_about_something_else() -> None:
    """Short and frequent words alone find no line."""
    assert found("Name the capital of Peru") == []
    assert found("") == []
    assert rank("anchor", (), 6, 3) == ()


def test_the_number_of_lines_is_bounded() -> None:
    """No more lines are found than asked for, in all and of one file."""
    assert len(found("mast anchor chain painted replaced mooring", most=2)) == 2
    assert (
        len([one for one in found("mast anchor chain sails", per_file=1) if one.startswith("boat/log")]) <= 1
    )
