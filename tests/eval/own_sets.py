"""The product's own sets: everyday requests, harder ones and simple ones, with the files that they are made beside."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from tests.eval.case_files import Placed, place
from tests.eval.cases import read_cases
from tests.eval.everyday import chatted, judge_placed, worked
from tests.eval.subjects import Subject
from tests.eval.verdicts import OnVerdict, Terms

TUNED, HELD, HARD = "everyday.toml", "everyday_held.toml", "hard_work.toml"
SIMPLE, SIMPLE_HELD = "simple.toml", "simple_held.toml"
NO_TOOL: Final = "no tool needed"
CHAT: Final = "in a plain chat"
DAEMON: Final = "to the daemon"
FILES: Final = {
    "measurements.csv": "time,value\n" + "".join(f"{n},{n * n % 97}\n" for n in range(2_000)),
    "invoice.txt": "Invoice 17: 2400.00 EUR, due at the end of the month.\n",
    "notes.md": "# Notes\n\n" + "Call the printer. Water the plants. Book the train.\n" * 20,
    "a.txt": "apples\npears\nplums\n",
    "letter.txt": "Dear Paula,\nthe weather in Lisbon is lovely. See you in June.\nYours, Hugo\n",
    "b.txt": "apples\npears\ncherries\n",  # the newest
}
HARD_FILES: Final = {
    "notes.md": "# Notes\n\nCall the printer on Monday. Water the plants. Book the train to Vienna.\n",
    "invoice.txt": "Invoice 17: 2400.00 EUR, due at the end of the month.\n",
    "letter_anna.md": "Dear Tom,\nI would be grateful for my book when it suits you.\nKind regards, Anna\n",
    "letter_tom.md": "Anna,\nstop nagging. You get your book when I feel like it.\nTom\n",
    "travel/spring.md": "In spring I went to Paris and saw the Louvre.\n",
    "numbers.txt": "12\n30\n58\n",
    "reports/q3.txt": "Third quarter. Revenue was 81250 EUR. Costs were 64000 EUR.\n",
    "budget.csv": "item,eur\nrent,900\nfood,350\nsport,60\n",
}


def everyday_cases() -> Sequence[Placed]:
    return _cases((TUNED, HELD), FILES)


def hard_cases() -> Sequence[Placed]:
    return _cases((HARD,), HARD_FILES)


def simple_cases() -> Sequence[Placed]:
    return _cases((SIMPLE, SIMPLE_HELD), FILES)


async def judge_everyday(subject: Subject, terms: Terms, on_verdict: OnVerdict) -> None:
    """Requests of six groups, a third of them held."""
    await judge_placed(everyday_cases(), subject, terms, on_verdict)


async def judge_hard(subject: Subject, terms: Terms, on_verdict: OnVerdict) -> None:
    """Requests whose first attempt tends to go wrong."""
    await judge_placed(hard_cases(), subject, terms, on_verdict)


async def judge_simple(subject: Subject, terms: Terms, on_verdict: OnVerdict) -> None:
    """Each request to the daemon and in a plain chat, the one or the other first by turns."""
    chosen = terms.sample([one for one in simple_cases() if terms.admit(one.case.says, one.held)])
    for number, one in enumerate(chosen):
        for group in (CHAT, DAEMON) if number % 2 else (DAEMON, CHAT):
            asked = chatted(subject, one) if group == CHAT else worked(subject, one, terms)
            on_verdict(replace(await asked, group=group))


def _cases(names: Sequence[str], files: Mapping[str, str]) -> Sequence[Placed]:
    """The cases of these files; those whose name ends in `_held` are held."""
    return [
        place(case, files, held=Path(name).stem.endswith("_held"))
        for name in names
        for case in read_cases(name)
    ]
