import pytest

from aeond.orchestration.context.addresses import addresses_in, may_have_address, without_addresses


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Read https://a.example/b.html, please.", ("https://a.example/b.html",)),
        ("(see http://a.example/x_(y))", ("http://a.example/x_(y)",)),
        ("compare «https://a.example» with https://b.example/?q=1&r=2!", ("https://a.example", "https://b.example/?q=1&r=2")),
        ("http://127.0.0.1:8080/a and HTTP://127.0.0.1:8080/b: which?", ("http://127.0.0.1:8080/a", "HTTP://127.0.0.1:8080/b")),
        ("https://a.example, and again https://a.example", ("https://a.example",)),
        ("**https://a.example/x** \u2014 see \u2018https://b.example\u2019, https://c.example/y\u2014then", ("https://a.example/x", "https://b.example", "https://c.example/y")),
        ("[page](https://a.example/x), http://[::1]:80/a", ("https://a.example/x", "http://[::1]:80/a")),
        ("https://a.example,https://b.example", ("https://a.example", "https://b.example")),
        ("an address begins with https://...", ()),
        ("a.example or notes.md, ftp://a.example and https:// alone", ()),
    ],
)  # fmt: skip
def test_addresses_are_known_by_form(text: str, found: tuple[str, ...]) -> None:
    """An address begins with its scheme, and ends before the punctuation and brackets of the sentence."""
    assert addresses_in(text) == found


def test_a_text_without_addresses_keeps_its_other_words() -> None:
    """Nothing but the addresses is left out, however often they stand there."""
    text = "a https://a.example/b.html, https://a.example/b.html?c=1 and a.html"
    assert without_addresses(text).split() == ["a", ",", "and", "a.html"]


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("look at https://a.example/b", True),
        ("what does harbour.example say", True),
        ("www.harbour.example/fees", True),
        ("the page of 192.168.1.1 or localhost:8080", True),
        ("the fees in fees.md", True),
        ("it costs 3.75 now", False),
        ("write to omar@club.example", False),
        ("Is it open? Yes. No.", False),
    ],
)
def test_words_with_dots_may_be_addresses(text: str, may: bool) -> None:
    """A word with a dot inside and letters at its end may be one, also if it is the name of a file; numbers and mail addresses are not."""
    assert may_have_address(text) is may


def test_the_end_of_an_address_is_found_at_once() -> None:
    """An address is no longer than 2,000 characters, so that a text of brackets and dots is read as quickly as any other."""
    (found,) = addresses_in("https://a" + "])}." * 25_000 + "])}." * 2)[:1]
    assert found == "https://a"
    assert len(addresses_in("https://a" + "b" * 90_000)[0]) < 2_100


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("what do letters.md and Script.pl say?", False),
        ("mail/letters.md:12: Dear Ida, see letters.md.", False),
        ("the second page of notes.md", False),
        ("see old.mails/2024.md", False),
        ("what does other.md say?", True),
        ("look at www.letters.md", True),
        ("look at https://letters.md", True),
        ("look at letters.md/fees", True),
        ("look at club.example/letters.md", True),
        ("letters.md, and harbour.example", True),
    ],
)
def test_names_of_known_files_are_no_addresses(text: str, may: bool) -> None:
    """A word that is the name of a known file, or its end, is none, unless it has a scheme, www or a path."""
    names = ("mail/letters.md", "script.pl", "Meeting notes.md", "old.mails/2024.md")
    assert may_have_address(text, names) is may


@pytest.mark.parametrize("path", ["sites/club.example/index.html", "notes about club.example prices.txt"])
def test_folders_and_words_within_names_hide_no_addresses(path: str) -> None:
    """A word that is the name of a folder, or stands within the name of a file, may be an address; the end of that name is none."""
    assert may_have_address("opening hours on club.example", [path])
    assert not may_have_address(f"what does {path.replace('/', ' ').split()[-1]} say", [path])
