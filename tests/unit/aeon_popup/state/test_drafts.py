"""The requests that the user has begun."""

from aeon_popup.state.drafts import Draft, draft_at, returned, tidied, without, written


def test_each_place_has_its_text() -> None:
    """Text written in one place changes no other, and the key goes when the text changes."""
    drafts = written(written((), "", "new"), "run", "below")
    assert (draft_at(drafts, "").text, draft_at(drafts, "run").text) == ("new", "below")
    sent = returned((), Draft("new", "", "key"), shown=True)
    assert draft_at(written(sent, "", "new"), "").key == "key"
    assert draft_at(written(sent, "", "newer"), "") == Draft("newer")


def test_a_request_that_comes_back_waits_for_the_text_of_its_place() -> None:
    """A request that was not accepted follows the text that was begun meanwhile, also while that text is erased for a time."""
    drafts = returned(written((), "", "begun"), Draft("sent", "", "key"), shown=False)
    assert draft_at(drafts, "").text == "begun"
    erased = written(drafts, "", "")
    assert draft_at(erased, "").text == ""
    assert draft_at(tidied(erased), "").text == "sent"
    assert draft_at(without(drafts, draft_at(drafts, "")), "").text == "sent"
