"""The scenarios themselves: right worlds pass, and wrong and empty ones fail."""

import re
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Mapping

import pytest

from tests.eval.cases import Effects
from tests.eval.scenarios.judging import served
from tests.eval.scenarios.scenario import SITE, STRANGERS, Scenario, lacking, read_scenarios

REACH = read_scenarios()
SCENARIOS = (*REACH, *read_scenarios(STRANGERS))


def world(scenario: Scenario, answer: str, files: Mapping[str, str]) -> Effects:
    return Effects(answer, files={**scenario.given, **files}, files_before=scenario.given)


def test_there_are_four_scenarios_of_each_of_five_kinds() -> None:
    """All 20 differ, and some of them are in German, Spanish and Polish."""
    assert sorted(Counter(one.group for one in REACH).values()) == [4] * 5
    assert len({one.says for one in REACH}) == 20
    assert {"en", "de", "es", "pl"} == {one.language for one in REACH}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: f"{one.group}-{one.language}")
def test_worlds_are_judged_as_their_author_meant(scenario: Scenario) -> None:
    """The right world passes; none that is wrong, empty or changed beyond the request does."""
    right, files = scenario.right, scenario.right_files
    assert lacking(scenario, world(scenario, right, files)) == ()
    assert lacking(scenario, world(scenario, "", {}))
    assert lacking(scenario, world(scenario, right, {**files, "unasked.txt": "more"}))
    assert scenario.wrong or scenario.wrong_files
    for wrong in scenario.wrong:
        assert lacking(scenario, world(scenario, wrong, files)), wrong
    for changed in scenario.wrong_files:
        assert lacking(scenario, world(scenario, right, changed)), changed
    if scenario.files:
        assert lacking(scenario, world(scenario, right, {}))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: f"{one.group}-{one.language}")
def test_material_is_complete(scenario: Scenario) -> None:
    """Research has ten documents; every page that a request names is served, and no other."""
    if scenario.group == "research":
        assert len(scenario.given) == 10
    assert set(scenario.pages) == set(re.findall(rf"{SITE}(/[\w/]+(?:\.html)?)", scenario.says))
    assert bool(scenario.proof) == scenario.repository


def test_pages_are_served_on_the_loopback_interface() -> None:
    """A page has its text; another address has none."""
    with served({"/a": "<p>ż</p>"}) as site:
        assert urllib.request.urlopen(f"{site}/a").read().decode() == "<p>ż</p>"
        with pytest.raises(urllib.error.HTTPError, match="404") as missing:
            urllib.request.urlopen(f"{site}/b")
        missing.value.close()
