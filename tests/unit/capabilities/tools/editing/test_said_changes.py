"""Which changes follow from what was said."""

import pytest

from aeond.capabilities.tools.editing.said_changes import said_changes
from aeond.domain.values import JsonValue

TICKED = {"replace": "new rubber rings", "with": "- [x] new rubber rings"}


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ("the rings are in, tick that off", TICKED),
        ("Die Ringe sind eingebaut, 2 Stück", {"add": "2 rings"}),
        ("take the pears off the list", {"remove": "3 pears"}),
        ("half board is 49 from now on", {"replace": "half_board = 46.5", "with": "half_board = 49"}),
        ("Bajamos el precio a 243 mil", {"replace": "asking = 265000", "with": "asking = 243000"}),
        ("Enlève l'adaptateur de ma liste", {"remove": "adapter"}),
        ("Usuń z listy tego Bena", {"sql": "DELETE FROM members WHERE name = 'Ben Hughes'"}),
        ("Omar hat gezahlt", {"sql": "UPDATE members SET paid = 'yes' WHERE name = 'Omar'"}),
        ("new in the club: 7 for Vera", {"sql": "INSERT INTO members VALUES ('Vera', 7, 'no')"}),
    ],
)
def test_a_change_that_shares_a_word_or_number_is_made(said: str, change: JsonValue) -> None:
    """A change of which the old or the new text has a word of what was said, in whatever inflection, or a number of it, is used as it is."""
    assert said_changes([change], said) == [change]


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("dim the lights over the bench", [{"replace": "paint, blue", "with": "grey"}]),
        ("book a table for four at the tavern", [{"sql": "INSERT INTO meter VALUES ('2026-06', 214, 61)"}]),
        ("give Omar a ring", [{"remove": "rope"}, {"add": "- [ ] varnish"}]),
        ("insert a coin and update your values", [{"sql": "INSERT INTO meter VALUES ('2026-06', 214)"}]),
    ],
)
def test_changes_that_share_nothing_are_not_made(said: str, changes: JsonValue) -> None:
    """Where no change has a word or number of what was said, none is made; words of SQL do not count, nor does the name of the table."""
    assert said_changes(changes, said) is None


def test_what_a_model_adds_to_the_change_that_was_meant_is_left_out() -> None:
    """Beside a change that was said, lines that are ticked off, added or removed without a word of what was said are left out."""
    others = [
        {"replace": "left flipper", "with": "- [x] left flipper"},
        {"remove": "new lamps"},
        {"add": "a glass cover"},
    ]
    assert said_changes([*others, TICKED], "rubber rings are in, tick that off") == [TICKED]


def test_a_setting_is_kept_beside_a_change_that_was_said() -> None:
    """A line that gets other words stays beside a change that was said: settings have names that a person may not say."""
    changes = [
        {"replace": "enabled = no", "with": "enabled = yes"},
        {"replace": "channel = 6", "with": "channel = 1"},
    ]
    assert said_changes(changes, "guest wifi on, and move it to channel 1") == changes


def test_what_is_no_list_is_left_to_the_check_of_the_arguments() -> None:
    """Anything else than a list of changes is returned as it is."""
    assert said_changes("none", "take the pears off") == "none"
