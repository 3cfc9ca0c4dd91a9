import pytest

from aeond.domain.names import (
    DATE,
    GROUPING,
    TIME,
    Match,
    between_groups,
    fit,
    folded,
    likeness,
    nearest,
    words_of,
    words_to_match,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Shopping_List", ("shopping", "list")),
        ("Anna's birthday", ("anna", "birthday")),
        ("the dogs\N{RIGHT SINGLE QUOTATION MARK} food", ("the", "dogs", "food")),
        ("Crème Brûlée.TXT", ("creme", "brulee", "txt")),
        ("Zażółć", ("zazolc",)),
        ("STRASSE Straße", ("strasse", "strasse")),
        ("мой_код-7", ("мои", "код", "7")),
        ("हिंदी नोट", ("हिंदी", "नोट")),
        ("車の鍵", ("車の鍵",)),
        ("--- ...", ()),
    ],
)
def test_words_have_no_case_and_no_accents(text: str, words: tuple[str, ...]) -> None:
    """The words of a name are its runs of letters and digits, in small letters without accents."""
    assert words_of(text) == words


@pytest.mark.parametrize(
    ("wanted", "name", "match"),
    [
        ("notes.txt", "notes.txt", Match.EXACT),
        ("Gate Code", "gate_code", Match.FORM),
        ("annas birthday", "Anna's birthday", Match.CLOSE),
        ("anna birthday", "Anna's birthday", Match.FORM),
        ("shoping", "shopping", Match.CLOSE),
        ("recpie", "recipe", Match.CLOSE),
        ("shoppinglist", "shopping lsit", Match.CLOSE),
        ("invoice", "2024_invoices", Match.PART),
        ("code gate", "gate code", Match.PART),
        ("draft_2023", "draft_2024", Match.NONE),
        ("meeting_may", "meeting_mar", Match.NONE),
        ("brother", "mother", Match.NONE),
        ("thursday", "tuesday", Match.NONE),
        ("cat", "car", Match.NONE),
        ("...", "---", Match.NONE),
        ("", "", Match.EXACT),
        ("a", "", Match.NONE),
    ],
)
def test_a_name_fits_in_degrees(wanted: str, name: str, match: Match) -> None:
    """A name fits apart from case and punctuation, by a close spelling or by its words; another number or short word
    does not fit."""
    assert fit(wanted, name) is match


def test_the_nearest_comes_first() -> None:
    """Names are put in the order of their likeness, and far ones are left out on request."""
    names = ("budget.csv", "bike log.txt", "bicycle.txt", "todo.txt")
    assert nearest("bike", names, 2)[0] == "bike log.txt"
    assert nearest("zebra", names, 4, least=0.5) == ()
    assert nearest("anything", names, 0) == ()


def test_likeness_lies_between_none_and_all() -> None:
    """Equal names have the likeness one, names without words the likeness zero."""
    assert likeness("Gate code", "gate_code") == 1.0
    assert likeness("...", "gate") == 0.0
    assert 0.0 < likeness("gate", "gate code") < 1.0


def test_folding_keeps_what_is_no_accent() -> None:
    """Vowel signs of other scripts are letters, not accents."""
    assert folded("हि") == "हि"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Zündkerze", "zundkerze"),
        ("Zuendkerze", "zundkerze"),
        ("smørrebrød, Götter", "smorrebrod gotter"),
        ("Joe, Sue, blue", "joe sue blu"),
    ],
)
def test_vowels_with_a_sign_match_what_is_typed_for_them(text: str, words: str) -> None:
    """Words match whether a vowel has its sign or an e behind it."""
    assert " ".join(words_to_match(text)) == words


@pytest.mark.parametrize(
    "text",
    ["2026-03-02", "2026/3/2", "2026.03.02", "2026-03", "2.3.", "2.3.26", "02-03-2026", "3/2", "03/02/2026"],
)
def test_days_are_dates(text: str) -> None:
    """A date has its parts in either order, with one sign between them."""
    assert DATE.fullmatch(text)
    assert DATE.fullmatch(f"{text} 10:15")
    assert DATE.fullmatch(f"{text}T10:15:30+01:00")


@pytest.mark.parametrize(
    "text", ["3.2", "1.10.2", "192.168.0.1", "5-3", "2026", "2026.3", "2026/03.02", "10:15"]
)
def test_other_numbers_are_no_dates(text: str) -> None:
    """Decimals, versions, scores, years and times of day are no dates."""
    assert not DATE.fullmatch(text)


def test_times_of_day_have_minutes() -> None:
    """Hours stand before a colon or an h."""
    assert all(map(TIME.fullmatch, ("9:05", "10h30", "10:15:30")))
    assert not TIME.fullmatch("10")


def test_only_three_digits_are_a_group() -> None:
    """A sign before two or four digits is no sign between groups."""
    grouped = between_groups(GROUPING)
    assert grouped.sub("", "1 200 and 12'345'678") == "1200 and 12345678"
    assert grouped.sub("", "12 20, 12 2026") == "12 20, 12 2026"
