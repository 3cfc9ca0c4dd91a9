from aeond.orchestration.prompts.session_prompts import exchange_text, listed, session_text


def test_an_exchange_names_its_speakers() -> None:
    """Request, questions with the user's answers, and answer follow each other, each with its speaker."""
    assert exchange_text("Book it.", [("For whom?", "Ada")], "Done.") == (
        "User: Book it.\nAssistant: For whom?\nUser: Ada\nAssistant: Done."
    )


def test_empty_parts_are_left_out() -> None:
    """A session has a label for each part that is there; exchanges alone need none."""
    assert session_text("", "", "", "", "User: Hi") == "User: Hi"
    assert session_text("Plan", "- A", "", "", "User: Hi") == (
        "The conversation began with this request:\nPlan\n\nThe user said:\n- A\n\nMost recently:\nUser: Hi"
    )
    assert session_text("", "", "- A?", "- a -> b", "") == "Still open:\n- A?\n\nThen, in short:\n- a -> b"


def test_a_list_says_how_much_is_missing() -> None:
    """Lines are listed, with a note of how many are left out."""
    assert listed(["a", "b"]) == "- a\n- b"
    assert listed(["b"], 1) == "(older lines left out: 1)\n- b"
    assert listed([]) == ""
