"""Tools from typed functions."""

import threading
from typing import Annotated, Any

import anyio
import pytest
from pydantic import BaseModel, Field, field_validator

from aeond.capabilities.tools.function_tool import tool
from aeond.domain.tools import Effect, Recovery, ToolContext
from aeond.errors import InvalidInputError, ToolError
from tests.support.tools import CONTEXT, call, invoker_of


class GreetArguments(BaseModel):
    name: Annotated[str, Field(max_length=20, description="Whom to greet")]
    times: Annotated[int, Field(ge=1, le=3)] = 1

    @field_validator("name")
    @classmethod
    def has_a_name(cls, name: str) -> str:
        if name == "nobody":
            raise ValueError("nobody cannot be greeted")
        return name


class Greeting(BaseModel):
    text: str


@tool(effect=Effect.PURE, example={"name": "Ann"})
async def greet(arguments: GreetArguments, context: ToolContext) -> Greeting:
    """Greets somebody.

    Friendly.
    """
    return Greeting(text=f"{context.run_id}: {'hello ' * arguments.times}{arguments.name}")


def test_spec_comes_from_the_function() -> None:
    """Name, description and schemas are those of the function, its docstring and its models."""
    spec = greet.spec
    assert (spec.name, spec.description) == ("greet", "Greets somebody.\n\nFriendly.")
    assert spec.input_schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 20, "description": "Whom to greet"},
            "times": {"type": "integer", "minimum": 1, "maximum": 3, "description": "(default: 1)"},
        },
        "required": ["name"],
        "additionalProperties": False,
    }
    assert spec.output_schema["required"] == ["text"]
    assert (spec.effect, spec.example, spec.recovery) == (Effect.PURE, {"name": "Ann"}, Recovery.RERUN)


async def test_async_function_is_awaited() -> None:
    """An async function gets its model and the context, and its model comes back as JSON."""
    assert await greet.execute({"name": "Ann", "times": 2}, CONTEXT) == {"text": "run1: hello hello Ann"}


async def test_plain_function_runs_at_once() -> None:
    """A plain function runs in the event loop's own thread."""

    @tool(effect=Effect.PURE)
    def where(_arguments: GreetArguments, _context: ToolContext) -> Greeting:
        """Tells the thread."""
        return Greeting(text=str(threading.get_ident()))

    assert await where.execute({"name": "Ann"}, CONTEXT) == {"text": str(threading.get_ident())}


async def test_blocking_function_runs_in_a_thread() -> None:
    """A blocking function runs beside the event loop."""

    @tool(effect=Effect.PURE, blocking=True)
    def where(_arguments: GreetArguments, _context: ToolContext) -> Greeting:
        """Tells the thread."""
        return Greeting(text=str(threading.get_ident()))

    assert await where.execute({"name": "Ann"}, CONTEXT) != {"text": str(threading.get_ident())}


async def test_hanging_blocking_function_is_let_go_of() -> None:
    """A blocking function that hangs ends as TOOL_TIMEOUT and the daemon goes on."""
    release = threading.Event()

    @tool(effect=Effect.PURE, blocking=True, timeout_seconds=0.02)
    def block(_arguments: GreetArguments, _context: ToolContext) -> Greeting:
        """Hangs."""
        release.wait(10)
        return Greeting(text="late")

    with anyio.fail_after(60):
        result = await invoker_of(block).invoke(call("block", name="Ann"), CONTEXT)
    release.set()
    assert result.reason == "TOOL_TIMEOUT"


async def test_model_may_be_stricter_than_its_schema() -> None:
    """Arguments that only the model's own checks refuse are ARGUMENTS_INVALID too, with their path."""
    result = await invoker_of(greet).invoke(call("greet", name="nobody"), CONTEXT)
    assert (result.success, result.reason) == (False, "ARGUMENTS_INVALID")
    assert "/name" in result.error
    assert "cannot be greeted" in result.error


async def test_direct_calls_are_checked_by_the_model() -> None:
    """Arguments of the wrong type are refused also where no schema was looked at before."""
    with pytest.raises(InvalidInputError) as refusal:
        await greet.execute({"name": 3}, CONTEXT)
    assert refusal.value.field == "arguments/name"


async def test_function_that_returns_something_else_is_caught() -> None:
    """A function that breaks its own annotation is judged by its output schema."""

    @tool(effect=Effect.PURE)
    def lie(_arguments: GreetArguments, _context: ToolContext) -> Greeting:
        """Lies."""
        return {"txt": 1}  # type: ignore[return-value]  # the point

    result = await invoker_of(lie).invoke(call("lie", name="Ann"), CONTEXT)
    assert result.reason == "OUTPUT_INVALID"


async def test_tool_error_keeps_its_reason() -> None:
    """A ToolError of the function arrives with its own reason and words."""

    @tool(effect=Effect.PURE)
    def fail(_arguments: GreetArguments, _context: ToolContext) -> Greeting:
        """Fails."""
        raise ToolError("closed on Sundays", reason="SHOP_CLOSED")

    result = await invoker_of(fail).invoke(call("fail", name="Ann"), CONTEXT)
    assert (result.reason, result.error) == ("SHOP_CLOSED", "closed on Sundays")


async def test_reconcile_is_the_given_probe() -> None:
    """A probe given to the decorator answers for earlier calls; without one nothing is known."""

    async def sent(arguments: GreetArguments, _context: ToolContext) -> Greeting | None:
        return Greeting(text="sent") if arguments.name == "Ann" else None

    @tool(effect=Effect.WRITE_CONTAINED, idempotent=True, reconcile=sent)
    async def send(_arguments: GreetArguments, _context: ToolContext) -> Greeting:
        """Sends."""
        return Greeting(text="sent")

    assert send.spec.recovery is Recovery.RECONCILE
    assert await send.reconcile({"name": "Ann"}, CONTEXT) == {"text": "sent"}
    assert await send.reconcile({"name": "Bob"}, CONTEXT) is None
    assert await greet.reconcile({"name": "Ann"}, CONTEXT) is None


async def only_arguments(arguments: GreetArguments) -> Greeting:
    return Greeting(text=arguments.name)


async def no_model(arguments: dict[str, Any], context: ToolContext) -> Greeting:
    return Greeting(text="")


async def no_result(arguments: GreetArguments, context: ToolContext) -> None:
    return None


async def no_annotation(arguments, context):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201  the point
    return Greeting(text="")


async def fine(arguments: GreetArguments, context: ToolContext) -> Greeting:
    return Greeting(text="")


@pytest.mark.parametrize("function", [only_arguments, no_model, no_result, no_annotation])
def test_functions_of_another_shape_are_refused(function: Any) -> None:
    """A function without the two models and the context is refused by its name when it is decorated."""
    with pytest.raises(TypeError, match=function.__name__):
        tool(effect=Effect.PURE)(function)


def test_async_function_cannot_be_blocking() -> None:
    """Asking for a thread for an async function is refused: it would never run there."""
    with pytest.raises(TypeError, match="fine is async"):
        tool(effect=Effect.PURE, blocking=True)(fine)
