from dataclasses import replace

from aeond.domain.messages import Role
from aeond.domain.runs.run import RunRequest
from aeond.orchestration.prompts.preamble import Preamble
from tests.support.strategy import SPECS, registry, run_of, validator


def test_it_is_the_same_for_every_request() -> None:
    """Two runs begin with the same messages, so that an engine's prefix cache serves both."""
    preamble = Preamble(registry(), validator())
    first, second = preamble.messages(run_of(request="one")), preamble.messages(run_of(request="two"))
    assert [(m.role, m.content) for m in first] == [(m.role, m.content) for m in second]
    assert first[0].role is Role.SYSTEM
    assert preamble.specs(run_of()) == SPECS


def test_a_child_run_sees_the_tools_of_its_template_alone() -> None:
    """A tool that the run may not use is in no prompt; with an empty list there is none."""
    preamble = Preamble(registry(), validator())
    for names in (("look",), ()):
        run = replace(run_of(), request=RunRequest("x", tools=names, instructions="Be brief."))
        assert tuple(spec.name for spec in preamble.specs(run)) == names
        system = str(preamble.messages(run)[0].content)
        assert [s.name for s in SPECS if f"{s.name}: The" in system] == list(names)
        assert system.endswith("Be brief.")


def test_the_usual_preamble_is_that_of_an_unrestricted_run() -> None:
    """The preamble that is read before there is a run is the one that a run without restrictions begins with."""
    preamble = Preamble(registry(), validator())
    usual, begun = preamble.usual(), preamble.messages(run_of())
    assert [(m.role, m.content) for m in usual] == [(m.role, m.content) for m in begun]
