"""The checker of meaning is itself checked: it lets right rewrites through and none that is wrong."""

import pytest

from tests.eval.counted_model import CountedModel
from tests.eval.references import STRANGERS, Case, read_cases, resolved
from tests.support.strategy import says

CASES = (*read_cases(), *read_cases(STRANGERS))


def test_there_are_enough_cases_of_each_kind() -> None:
    """At least 60 rewrites of each set in at least 6 groups, no request and conversation twice."""
    assert len(CASES) >= 120
    assert len({case.group for case in CASES}) >= 6
    assert len({(case.talk, case.says) for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", [c for c in CASES if c.group != "complete"], ids=lambda c: c.says[:40])
def test_a_request_as_it_was_said_is_not_right(case: Case) -> None:
    """A request that points back fails if it is left as it is, or answered with the last answer."""
    assert case.missed(case.says)
    assert case.missed(case.talk[-1])


@pytest.mark.parametrize("case", [c for c in CASES if c.group == "complete"], ids=lambda c: c.says[:40])
def test_a_complete_request_is_right_as_it_is(case: Case) -> None:
    """A request that needs nothing is right as it was said, and wrong with the conversation put in."""
    assert case.missed(case.says) == ()
    assert case.missed(f"{case.says} {' '.join(case.talk)}")


async def test_a_model_is_judged_case_by_case() -> None:
    """A model that never rewrites anything gets the complete requests right, and no others."""
    llm = says({"json": {"points_to": "", "request": "x"}})
    verdicts = [await resolved(CountedModel(llm), case) for case in CASES]
    assert {v.group for v in verdicts if not v.missed} == {"complete"}
    assert all(v.missed for v in verdicts if v.group != "complete")
