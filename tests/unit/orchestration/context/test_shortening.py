from hypothesis import given
from hypothesis import strategies as st

from aeond.orchestration.context.shortening import share, shorten


@given(st.text(), st.integers(0, 50))
def test_shortening_reports_the_missing_characters(text: str, room: int) -> None:
    """A shortened text says how many characters are missing, and keeps its beginning and end."""
    short = shorten(text, room)
    if len(text) <= room:
        assert short == text
    else:
        assert f"[... {len(text) - room} characters left out ...]" in short
        head = int(room * 0.7)
        assert short.startswith(text[:head])
        assert short.endswith(text[len(text) - (room - head) :])


@given(st.lists(st.integers(0, 1000), max_size=8), st.integers(0, 2000))
def test_room_is_shared_without_waste_or_excess(lengths: list[int], total: int) -> None:
    """Short texts are kept whole before long ones lose anything, and all of the room is used."""
    shares = share(lengths, total)
    assert all(0 <= got <= wanted for got, wanted in zip(shares, lengths, strict=True))
    assert sum(shares) <= total
    cut = [got for got, wanted in zip(shares, lengths, strict=True) if got < wanted]
    if cut:
        assert sum(shares) > total - len(lengths)
        assert max(shares) - min(cut) <= 1
