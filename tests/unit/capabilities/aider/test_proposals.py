"""Proposals on disk."""

from pathlib import Path

import pytest

from aeond.capabilities.aider.proposals import MAX_KEPT, Proposal, Proposals, proposed
from aeond.errors import ToolError


def proposal(number: int = 1, uid: int = 7) -> Proposal:
    files = (proposed("a.py", "", f"{number}".encode()), proposed("b.py", "x", None))
    return Proposal(
        uid=uid, workspace="/w", call_id=f"call{number}", message="m", files=files, result={"n": number}
    )


def test_a_proposal_is_found_by_its_digest_call_and_folder(tmp_path: Path) -> None:
    """A kept proposal is found by its user alone, with the same contents."""
    kept = Proposals(tmp_path / "p")
    digest = kept.keep(proposal())
    assert kept.find(digest, 7) == proposal()
    assert [one.after for one in kept.find(digest, 7).files] == [b"1", None]
    assert kept.made_by("call1", 7) == proposal()
    assert (kept.made_by("call1", 8), kept.made_by("call2", 7)) == (None, None)
    assert (kept.latest(7, "/w", 9), kept.latest(7, "/v", 9), kept.latest(8, "/w", 9)) == ([digest], [], [])
    for digest_of, uid in ((digest, 8), ("0" * 32, 7)):
        with pytest.raises(ToolError, match="there is no proposal"):
            kept.find(digest_of, uid)


def test_a_proposal_that_was_altered_is_not_found(tmp_path: Path) -> None:
    """The digest covers the contents: a file that was altered, or is damaged, counts as missing."""
    kept = Proposals(tmp_path)
    digest = kept.keep(proposal())
    place = tmp_path / f"{digest}.json"
    for content in (proposal(2).model_dump_json(), "{"):
        place.write_text(content, encoding="utf-8")
        with pytest.raises(ToolError, match="there is no proposal"):
            kept.find(digest, 7)


def test_the_oldest_go_first(tmp_path: Path) -> None:
    """No more proposals are kept than the limit."""
    kept = Proposals(tmp_path)
    digests = [kept.keep(proposal(number)) for number in range(MAX_KEPT + 3)]
    assert len(list(tmp_path.iterdir())) == MAX_KEPT
    assert kept.find(digests[-1], 7) == proposal(MAX_KEPT + 2)
