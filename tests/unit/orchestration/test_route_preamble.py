from dataclasses import replace

from aeond.orchestration.route_preamble import RoutePreamble
from tests.support.strategy import registry, run_of, spec, validator

READ = spec("read_file", {"path": {"type": "string"}}, ("path",))


def told(run_tools: tuple[str, ...] | None) -> list[object]:
    run = run_of()
    preamble = RoutePreamble(registry(READ), validator(READ))
    chosen = replace(run, request=replace(run.request, tools=run_tools))
    return [message.content for message in preamble.messages(chosen)]


def test_a_run_with_all_tools_begins_as_usual() -> None:
    """What was read ahead is what such a run's questions begin with."""
    usual = RoutePreamble(registry(READ), validator(READ)).usual()
    assert told(None) == [message.content for message in usual]


def test_a_run_with_fewer_tools_is_told_of_no_other() -> None:
    """Neither a description nor an example speaks of a tool that the run may not use."""
    assert "read_file" in str(told(("read_file",)))
    assert "read_file" not in str(told(()))
