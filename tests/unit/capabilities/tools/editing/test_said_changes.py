"""Whether changes follow from what was said."""

import pytest

from aeond.capabilities.tools.editing.said_changes import said_changes
from aeond.domain.values import JsonValue

TICKED = {"replace": "new rubber rings", "with": "- [x] new rubber rings"}
PATH = "pinball/jobs.md"


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ("the rings are in, tick that off", TICKED),
        ("Die Ringe sind eingebaut, 2 Stück", {"add": "2 rings"}),
        ("take the pears off the list", {"remove": "3 pears"}),
        ("half board is 49 from now on", {"replace": "half_board = 46.5", "with": "half_board = 49"}),
        ("Bajamos el precio a 243 mil", {"replace": "asking = 265000", "with": "asking = 243000"}),
        ("Enlève l'adaptateur de ma liste", {"remove": "adapter"}),
        ("put pi on the list", {"add": "pi"}),
        ("买了牛奶", {"replace": "牛奶", "with": "- [x] 牛奶"}),
        ("Usuń z listy tego Bena", {"sql": "DELETE FROM members WHERE name = 'Ben Hughes'"}),
        ("Omar hat gezahlt", {"sql": "UPDATE members SET paid = 'yes' WHERE name = 'Omar'"}),
        ("new in the club: 7 for Vera", {"sql": "INSERT INTO members VALUES ('Vera', 7, 'no')"}),
        ("tick off the first two pinball jobs", {"replace": "flipper", "with": "- [x] flipper"}),
    ],
)
def test_a_change_that_shares_a_word_or_number_is_made(said: str, change: JsonValue) -> None:
    """A change is used where its old or new text, or the name of its file, has a word of what was said, in whatever inflection, or a number
    of it."""
    assert said_changes([change], said, PATH) == [change]


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("dim the lights over the bench", [{"replace": "paint, blue", "with": "grey"}]),
        ("book a table for four at the tavern", [{"sql": "INSERT INTO meter VALUES ('2026-06', 214, 61)"}]),
        ("give Omar a ring", [{"remove": "rope"}, {"add": "- [ ] varnish"}]),
        ("insert a coin and update your values", [{"sql": "INSERT INTO meter VALUES ('2026-06', 214)"}]),
        ("call pa, is it on", [{"replace": "oil is on", "with": "oil is off"}]),
    ],
)
def test_changes_that_share_nothing_are_not_made(said: str, changes: JsonValue) -> None:
    """Where nothing in the changes was said, none is made; words of SQL and short words beside longer ones do not count."""
    assert said_changes(changes, said, PATH) is None


def test_all_changes_are_made_where_one_was_said() -> None:
    """Beside a change that was said the others stay: "everything on the list, and add bread" names none of its items."""
    changes = [{"remove": "rope"}, {"add": "bread"}]
    assert said_changes(changes, "I have everything, and add bread", PATH) == changes


def test_what_is_no_list_is_left_to_the_check_of_the_arguments() -> None:
    """Anything else than a list of changes is returned as it is."""
    assert said_changes("none", "take the pears off", PATH) == "none"


@pytest.mark.parametrize(
    ("said", "assigned", "kept"),
    [
        ("cabin 12 is in service", "state = 'in service', next_check = '2026-07-13'", "state = 'in service'"),
        ("12 seit dem 5. Mai fertig", "state = 'done', since = '05.05.'", ""),
        (
            "12 is for Lotte, test on 7 July 2026",
            "test = '2026-07-07', at = 'Pier, 9'",
            "test = '2026-07-07'",
        ),
        ("12 won, no fouls, 3 goals", "goals = 3, fouls = 0", ""),
        ("12 is a day longer", "days = 8", ""),
        ("12 is back and free", "state = 'back', owner = NULL", ""),
    ],
)
def test_numbers_that_were_not_said_are_left_out_of_an_update(said: str, assigned: str, kept: str) -> None:
    """A new value with numbers, none of which was said, is left out where others remain; 0 may be said in a word."""
    begin, end = "UPDATE cabins SET ", " WHERE no = 12"
    expected = [{"sql": f"{begin}{kept or assigned}{end}"}]
    assert said_changes([{"sql": f"{begin}{assigned}{end}"}], said, "cabins.csv") == expected
