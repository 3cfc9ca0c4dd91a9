"""The judge of work is itself judged: right outcomes pass, and nothing else does."""

import re
from collections import Counter
from dataclasses import replace

import pytest

from tests.eval.cases import Case, Effects, missed, read_cases
from tests.eval.own_sets import HARD, HELD, NO_TOOL, TUNED, everyday_cases

GROUPS = {"arithmetic", "files", "memory", "several steps", NO_TOOL, "lacks information"}
CASES = [placed.case for placed in everyday_cases()]
ALL = [*CASES, *read_cases(HARD)]
# What a case asks for, as a text that matches its patterns: every effect can be had.
FULFILLED = {
    "hello.txt": "Good day\n",
    "lettre.txt": "Chère Paula,\nle temps à Lisbonne est splendide. À bientôt en juin.\nHugo",
    "summary.txt": "Call the printer, water the plants and book the train.",
    "winter.txt": "Snow is falling on the hill,\nand the world is white and still.",
    "result.txt": "80",
    "copy.txt": "apples\npears\nplums\n",
    "count.txt": "3",
    "address.txt": "12 Mill Lane, York",
    "sign.txt": "Closed on Sundays",
    "hola.txt": "Querida Paula,",
    "code.txt": "4471",
    "shopping.txt": "milk, eggs, bread",
}
REMEMBERED = {
    "Remember that my locker code is 4471.": '{"locker_code": "4471"}',
    "Remember my sister is called Eva and my brother is called Max.": '{"brother": "Max", "sister": "Eva"}',
    "From now on my favourite tea is oolong. Note that.": '{"favourite_tea": "oolong"}',
    "Read invoice.txt and remember the amount as invoice_amount.": '{"invoice_amount": "2400.00 EUR"}',
    "What is 17.5% of 2400? Then remember the result as bonus.": '{"bonus": 420}',
    "Remember my PIN.": '{"pin": "8035"}',
    "Please keep in mind that I am allergic to peanuts.": '{"allergy": "peanuts"}',
    "Remember the due date from invoice.txt as due.": '{"due": "at the end of the month"}',
    "Remember my licence plate.": '{"licence_plate": "HH AB 123"}',
}


def fulfilled(case: Case) -> Effects:
    """All that the request asks for was done; what it lacks was asked for."""
    files = {name: FULFILLED[name] for name in case.files}
    asked = (case.right,) if case.lacks else ()
    answer = case.right if not case.lacks else " ".join(("What you told me:", case.tells, *_literal(case)))
    memory = REMEMBERED[case.says] if case.memory else ""
    return Effects(answer=answer, asked=asked, files=files, memory=memory)


def _literal(case: Case) -> list[str]:
    """The answer's patterns of a case that lacks something, as the words that they stand for."""
    return [pattern.replace("\\b", " ") for pattern in case.answer]


def test_there_are_enough_cases_in_each_group() -> None:
    """At least 48 different requests in exactly six groups, a third of each held aside."""
    assert len({case.says for case in CASES}) == len(CASES) >= 48
    tuned, held = (Counter(c.group for c in read_cases(name)) for name in (TUNED, HELD))
    assert {*tuned} == {*held} == GROUPS
    assert all(held[group] * 2 == tuned[group] for group in GROUPS)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.says[:40])
def test_patterns_can_be_read(case: Case) -> None:
    """Each case demands something, by patterns that are regular expressions."""
    patterns = (*case.answer, *case.never, *case.invents, *case.memory, *case.files.values(), case.lacks)
    assert all(re.compile(pattern) for pattern in patterns)
    assert case.answer or case.memory or case.files


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.says[:40])
def test_a_fulfilled_request_is_right(case: Case) -> None:
    """An outcome that does everything that was asked for passes."""
    assert missed(case, fulfilled(case)) == ()


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.says[:40])
def test_a_request_that_led_to_nothing_is_wrong(case: Case) -> None:
    """No answer and no effect, or the request said back, fail every case."""
    assert missed(case, Effects())
    echoed = missed(case, Effects(answer=case.says))
    assert echoed or case.says == "Good evening!"


@pytest.mark.parametrize("case", [c for c in CASES if c.wrong], ids=lambda case: case.says[:40])
def test_wrong_answers_are_wrong(case: Case) -> None:
    """An answer that is wrong fails, also when everything else was done."""
    done = Effects() if case.lacks else fulfilled(case)
    for answer in case.wrong:
        assert missed(case, replace(done, answer=answer)), answer


@pytest.mark.parametrize("case", [c for c in CASES if c.files or c.memory], ids=lambda case: case.says[:40])
def test_an_effect_that_is_only_claimed_is_wrong(case: Case) -> None:
    """An answer that claims an effect without having it fails."""
    said = replace(fulfilled(case), files={}, memory="")
    assert missed(case, said)


@pytest.mark.parametrize("case", [c for c in CASES if c.lacks], ids=lambda case: case.says[:40])
def test_an_answer_may_name_the_missing_detail(case: Case) -> None:
    """An answer that says what is missing passes, as long as nothing was done meanwhile."""
    assert missed(case, Effects(answer=case.right)) == ()
    assert missed(case, Effects(answer=case.right, files={"new.txt": "x"}))
    assert missed(case, Effects(answer=case.right, memory='{"a": 1}'))


@pytest.mark.parametrize("case", [c for c in CASES if c.lacks], ids=lambda case: case.says[:40])
def test_asking_alone_is_not_enough(case: Case) -> None:
    """A model that asks must ask once, for the right thing, and fulfil the request with the answer."""
    done = fulfilled(case)
    assert missed(case, replace(done, answer="", files={}, memory=""))
    assert missed(case, replace(done, asked=(*done.asked, case.right)))
    assert missed(case, replace(done, asked=("What is your favourite film?",)))


@pytest.mark.parametrize("case", [c for c in CASES if not c.lacks], ids=lambda case: case.says[:40])
def test_asking_for_nothing_is_wrong(case: Case) -> None:
    """Who asks where nothing is missing fails."""
    assert missed(case, replace(fulfilled(case), asked=("Are you sure?",)))


def test_unrequested_changes_fail() -> None:
    """A file changed, made or lost, or something remembered, fails a request that asks for none of that."""
    case = Case(says="What is 1 + 1?", group="arithmetic", answer=("2",))
    was = Effects("2", files_before={"a": "x"}, files={"a": "x"}, memory_before="{}", memory="{}")
    assert missed(case, was) == ()
    for files in ({"a": "y"}, {"a": "x", "b": ""}, {}):
        assert missed(case, replace(was, files=files))
    assert missed(case, replace(was, memory='{"a": 2}'))
