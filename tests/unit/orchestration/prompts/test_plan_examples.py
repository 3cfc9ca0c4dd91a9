from aeond.domain.values import JsonObject
from aeond.orchestration.planning.plan_parsing import plan_from_model
from aeond.orchestration.prompts.plan_examples import examples_for
from tests.support.strategy import SPECS, spec, validator

TEXT: JsonObject = {"type": "string"}
READ = spec("read_file", {"path": TEXT}, ("path",))
WRITE = spec("write_file", {"path": TEXT, "content": TEXT}, ("path", "content"))
OTHER_WRITE = spec("write_file", {"file": TEXT, "content": TEXT}, ("file", "content"))


def tools_in(*specs: object) -> set[str]:
    shown = examples_for(specs, validator(*specs))  # type: ignore[arg-type]  # specs
    plans = [plan_from_model(plan, ()).value for _, plan in shown]
    return {step.tool_call.tool for plan in plans if plan for step in plan if step.tool_call}


def test_only_plans_that_can_be_carried_out_are_shown() -> None:
    """An example appears only when its tools are registered."""
    assert tools_in(*SPECS) == set()
    assert tools_in(READ, WRITE) == {"read_file", "write_file"}


def test_a_tool_of_the_same_name_with_other_arguments_is_not_shown() -> None:
    """An example whose call the registered tool would refuse is left out."""
    assert tools_in(READ, OTHER_WRITE) == {"read_file"}


def test_answering_directly_is_always_shown() -> None:
    """The model sees that many requests need no tool."""
    requests = [request for request, _ in examples_for((), validator())]
    assert len(requests) >= 3


def test_every_example_is_a_valid_plan() -> None:
    """The examples of plans in the prompt pass the Validator."""
    for _, plan in examples_for((READ, WRITE), validator(READ, WRITE)):
        read = plan_from_model(plan, (READ, WRITE))
        assert read.value is not None
        assert validator(READ, WRITE).validate_plan(read.value) == ()
