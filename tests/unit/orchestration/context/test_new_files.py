"""New files that a request names."""

from dataclasses import replace

import pytest

from aeond.domain.runs.situations import Situation
from aeond.domain.tools import ToolCall
from aeond.domain.values import JsonValue
from aeond.orchestration.context.new_files import (
    existing_name,
    is_whole_name,
    named_folder,
    names_file,
    names_new_file,
    spelt_as_named,
)
from tests.support.judging import ran
from tests.support.strategy import calls, run_of

SEEN = Situation(files=(("club/members.csv", "name,fee"), ("boat.txt", "Ida"), ("old.cfg", "a=1")))


@pytest.mark.parametrize(
    "request_",
    [
        "Put the boat's length into length.txt",
        "leg mir club/beitraege.csv an, bitte",
        "una lista (compras.md): pan, leche",
        "the same as old.cfg, but call it new.cfg",
        "`NOTES.TXT`!",
        "Put it into ./length.txt",
    ],
)
def test_a_file_that_does_not_exist_is_new(request_: str) -> None:
    """A word with the ending of a text, or of a file in view, names a file."""
    assert names_new_file(run_of(request=request_), SEEN)


@pytest.mark.parametrize(
    "request_",
    [
        "Put Vera into members.csv",
        "Put Vera into Club/Member.csv",
        "it costs 3.75 now.fix that",
        "look at www.harbour.example or write to omar@club.txt",
        "what does https://harbour.example/fees.html say",
        "at 3 p.m. or e.g. at 4",
        "Till has left the club",
    ],
)
def test_other_words_name_no_new_file(request_: str) -> None:
    """Files in view, also those that are spelt almost so, and words without such an ending, are not new."""
    assert not names_new_file(run_of(request=request_), SEEN)


def test_without_all_names_in_view_nothing_is_known_to_be_new() -> None:
    """What is not in view may exist."""
    run = run_of(request="Put it into length.txt")
    assert not names_new_file(run, replace(SEEN, more_files=True))
    assert not names_new_file(run, Situation())
    hidden = run_of(request="Put it into .config/app.json")
    for situation in (SEEN, Situation(folder_seen=True)):
        assert not names_new_file(hidden, situation)


def test_in_an_empty_folder_every_file_is_new() -> None:
    """A folder that was looked at and has no files yet is in view as a whole."""
    assert names_new_file(run_of(request="Put it into length.txt"), Situation(folder_seen=True))


@pytest.mark.parametrize(
    ("path", "spelt"),
    [
        ("fragmen_hafen.txt", "fragen_hafen.txt"),
        ("club/fragenhafen.txt", "club/fragen_hafen.txt"),
        ("fragen_hafen.txt", "fragen_hafen.txt"),
        ("boat.txt", "boat.txt"),
        ("questions.txt", "fragen_hafen.txt"),
        ("club/questions.txt", "club/fragen_hafen.txt"),
        ("questions.md", "questions.md"),
    ],
)
def test_a_new_name_is_spelt_as_in_the_request(path: str, spelt: str) -> None:
    """A name that a model has spelt almost as the request does, or translated, is the request's; names of other files stay."""
    run = run_of(request="Leg fragen_hafen.txt an, eine Zeile: Wann?")
    call = ToolCall("write", {"path": path, "content": "Wann?"})
    assert spelt_as_named(call, run, SEEN).arguments == {"path": spelt, "content": "Wann?"}


@pytest.mark.parametrize(
    ("request_", "folder"),
    [
        ("what do my notes say about Omar?", "notes"),
        ("everything in Notes/ please", "notes"),
        ("Fass den Ordner notes in notes/summary.md zusammen", "notes"),
        ("a file notes/summary.md with one line", ""),
        ("a file .old/notes/summary.md with one line", ""),
        ("notes and club", ""),
        ("what does a.md in notes say", ""),
        ("the noted ones", ""),
        ("what does https://notes.example/notes/x say", ""),
    ],
)
def test_a_folder_is_named_by_its_whole_name(request_: str, folder: str) -> None:
    """The name is a word of its own, outside the name of a new file; it does not count beside a file or another folder."""
    paths = ("notes/a.md", "notes/b.md", "club/members.csv", "boat.txt")
    situation = Situation(files=tuple((path, "") for path in paths))
    assert named_folder(run_of(request=request_), replace(situation, more_files=True)) == ("", ())
    found = (folder, tuple(path for path in paths if folder and path.startswith(folder)))
    assert named_folder(run_of(request=request_), situation) == found


@pytest.mark.parametrize(
    ("request_", "path", "placed"),
    [
        ("file it as notes/lake.md", "lake.md", "notes/lake.md"),
        ("file it as notes/lake.md", "Notes/lake.md", "notes/lake.md"),
        ("put lake.md into notes", "notes/lake.md", "notes/lake.md"),
        ("notes/lake.md and club/lake.md", "lake.md", "lake.md"),
        ("notes/lake.md, as short as notes/lake.md of old", "lake.md", "notes/lake.md"),
        ("file it as notes/lake.md, and keep lake.md short", "lake.md", "notes/lake.md"),
        ("a copy of boat.txt as old/boat.txt", "boat.txt", "boat.txt"),
        ("put the checks into .github/checks.md", "checks.md", ".github/checks.md"),
    ],
)
def test_a_new_file_lies_where_the_request_says(request_: str, path: str, placed: str) -> None:
    """A new file lies in the folder that the request names with it, in the spelling of the request."""
    call = ToolCall("write", {"path": path, "text": path})
    spelt = spelt_as_named(call, run_of(request=request_), SEEN, "path")
    assert spelt.arguments == {"path": placed, "text": path}


def test_a_name_in_a_hidden_folder_is_spelt_as_in_the_request() -> None:
    """The name of a file in a hidden folder is the request's too, though that file may exist."""
    run = run_of(request="put the checks into .github/checks.md")
    spelt = spelt_as_named(ToolCall("write", {"path": ".github/chekcs.md"}), run, SEEN)
    assert spelt.arguments == {"path": ".github/checks.md"}
    assert not names_new_file(run, SEEN)


def test_a_second_new_file_keeps_its_name() -> None:
    """Once the file that the request names was made, another name is that of another file."""
    made = ran(calls("s1", "write", path="fragen.txt"))
    run = replace(run_of(request="Leg fragen.txt an und eine Kopie"), steps={"s1": made})
    call = ToolCall("write", {"path": "questions.txt"})
    assert spelt_as_named(call, run, SEEN) == call


@pytest.mark.parametrize(
    ("request_", "named"),
    [
        ("Compare a.txt and b.txt", True),
        ("what is in A.TXT?", True),
        ("read notes/a.txt.", True),
        ("read data.txt", False),
        ("ba.txt please", False),
        ("see https://a.example/a.txt", False),
        ("read a", False),
    ],
)
def test_a_file_is_named_by_its_whole_name(request_: str, named: bool) -> None:
    """The name counts as a word of its own, whatever its case."""
    assert names_file(run_of(request=request_), "folder/a.txt") is named


@pytest.mark.parametrize(
    ("value", "request_", "expected"),
    [
        ("club/rules.md", "noise should be music", "club/rules.md"),
        ("rules.md", "put it at the end of the rules", "club/rules.md"),
        ("rules.md", "a new rules.md, not in any folder", ""),
        ("list.txt", "add it to the list", ""),
        ("other.md", "add it to the list", ""),
        (7, "add it to the list", ""),
    ],
)
def test_a_name_without_its_folder_is_that_of_the_only_such_file(
    value: JsonValue, request_: str, expected: str
) -> None:
    """Unless the request itself has that name, or two files have it."""
    known = ("club/rules.md", "club/list.txt", "home/list.txt")
    assert existing_name(value, known, run_of(request=request_)) == expected


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("rename it to new.txt", True),
        ("call it 'new.txt', please", True),
        ('don\'t keep "old.txt", it\'s "new.txt" now', True),
        ("nenne sie „new.txt“", True),
        ('call it "my new.txt"', False),
        ("nenne sie „neue new.txt“", False),
        ("call it new.txt.bak", False),
        ("call it new.txt.", True),
    ],
)
def test_a_name_is_whole(text: str, *, whole: bool) -> None:
    """Words beside it in the same quotation marks, and a further ending, may belong to a name."""
    assert is_whole_name(text, "new.txt") is whole
