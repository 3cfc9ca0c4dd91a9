"""Functions as tools: what their annotations and docstrings become."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel

from aeond.schemas.compiled import CompiledSchema
from aeond_client.serving.client_tool import CallContext, tool
from aeond_client.serving.messages import failure_of, result_of


class Place(BaseModel):
    city: str
    country: str = "DE"


class Trip(BaseModel):
    stops: list[Place]
    then: "Trip | None" = None


def context() -> CallContext:
    return CallContext("run/s1", "run", "s1", 30.0)


@tool(effect="read", example={"city": "Bonn"}, timeout_seconds=5.0)
def weather(
    city: Annotated[str, "a city"], days: int = 1, unit: Literal["C", "F"] | None = None
) -> dict[str, float]:
    """Forecasts the weather."""
    return {city: days + (0.5 if unit else 0)}


def test_annotations_become_the_schemas() -> None:
    """Parameters without a default are required, an Annotated text is the description, the result has a schema too."""
    assert (weather.spec.name, weather.spec.description) == ("weather", "Forecasts the weather.")
    assert (weather.spec.effect, weather.spec.timeout_seconds) == ("read", 5.0)
    assert weather.spec.input_schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "a city"},
            "days": {"type": "integer"},
            "unit": {"anyOf": [{"enum": ["C", "F"]}, {"type": "null"}]},
        },
        "required": ["city"],
        "additionalProperties": False,
    }
    assert weather.spec.output_schema == {"type": "object", "additionalProperties": {"type": "number"}}
    assert weather.call({"city": "Bonn", "unit": "C"}, context()) == {"Bonn": 1.5}


def test_a_model_of_pydantic_is_validated_and_returned_as_json() -> None:
    """A parameter of a model class gets an instance and keeps its description, and a returned instance is sent as its data."""

    @tool
    def move(to: Annotated[Place, "the new place"]) -> Place:
        """Moves there."""
        return Place(city=to.city.upper())

    field = move.spec.input_schema["properties"]["to"]
    assert (field["properties"]["city"]["type"], field["description"]) == ("string", "the new place")
    assert result_of(move.call({"to": {"city": "Bonn"}}, context())).data == {"city": "BONN", "country": "DE"}


def test_models_in_models_are_defined_once_for_the_whole_schema() -> None:
    """The references of a nested or recursive model lead to its definition, among arguments and in the result."""

    @tool
    def plan(first: Trip, other: Trip | None = None) -> list[Trip]:
        """Plans trips."""
        return [first]

    trip = {"stops": [{"city": "Bonn"}], "then": {"stops": []}}
    arguments = CompiledSchema(plan.spec.input_schema)
    assert not arguments.problems({"first": trip, "other": trip})
    assert arguments.problems({"first": {"stops": [{"town": "Bonn"}]}})
    result = CompiledSchema(plan.spec.output_schema)
    assert not result.problems([trip])
    assert result.problems([{"stops": [{"town": "Bonn"}]}])


def test_a_function_may_take_the_context_of_its_call() -> None:
    """A parameter annotated with CallContext is no argument of the tool."""

    @tool
    def identify(context: CallContext) -> str:
        """Gives the id of the call."""
        return context.call_id

    assert identify.spec.input_schema["properties"] == {}
    assert identify.call({}, context()) == "run/s1"


def undocumented(x: int) -> int:
    return x


def with_bytes(x: bytes) -> int:
    """Counts."""
    return len(x)


def with_rest(*rest: int) -> int:
    """Counts."""
    return len(rest)


@pytest.mark.parametrize("function", [undocumented, with_bytes, with_rest])
def test_a_function_that_cannot_be_a_tool_is_refused(function: Any) -> None:
    """A docstring and JSON types are needed; the error names the function."""
    with pytest.raises(TypeError, match=function.__name__):
        tool(function)


def test_an_exception_becomes_a_failed_result() -> None:
    """The daemon learns the class and message of an unexpected error."""
    failed = failure_of(KeyError("x"))
    assert (failed.success, failed.reason, failed.error) == (False, "TOOL_RAISED", "KeyError: 'x'")


def test_an_action_on_cancellation_is_never_missed() -> None:
    """An action that is added after the cancellation runs at once."""
    done: list[str] = []
    one = context()
    one.on_cancel(lambda: done.append("before"))
    one.cancel()
    one.on_cancel(lambda: done.append("after"))
    assert done == ["before", "after"]
    assert one.cancelled.is_set()


def test_an_action_on_cancellation_that_fails_stops_no_other() -> None:
    """The actions after one that raises run, too, and then its error is raised."""
    done: list[str] = []
    one = context()
    one.on_cancel(lambda: done[1])
    one.on_cancel(lambda: done.append("second"))
    with pytest.raises(IndexError):
        one.cancel()
    assert done == ["second"]
