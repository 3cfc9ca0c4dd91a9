"""A tool from a typed function: pydantic models say what it takes and gives, its docstring what it does."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, Self, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ValidationError

from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.outcome import Problem
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.policy import Target
from aeond.domain.tools import (
    Composition,
    CompositionView,
    Effect,
    ToolCode,
    ToolContext,
    ToolOutput,
    ToolSpec,
)
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import InvalidInputError
from aeond.schemas.models import model_schema
from aeond.schemas.pointers import pointer

Arguments = TypeVar("Arguments", bound=BaseModel)
Result = TypeVar("Result", bound=BaseModel)

# A function returns its model, or a ToolOutput of it with the changes that it made.
Function = Callable[
    [Arguments, ToolContext], Result | ToolOutput[Result] | Awaitable[Result | ToolOutput[Result]]
]
Probe = Callable[[Arguments, ToolContext], Awaitable[Result | ToolOutput[Result] | None]]
Propose = Callable[[ToolContext, int, str], Awaitable[Sequence[str]]]
"""Gives at most so many existing values for an argument, first those nearest to a text."""

Preview = Callable[[Arguments, ToolContext], Awaitable[CallPreview]]
"""What a call would do."""

Report = Callable[[Any, ToolContext], Awaitable[tuple[Target, ...] | None]]
"""Gives everything that a call with these arguments would touch; None if that cannot be determined."""

View = Callable[[JsonObject, ToolContext, str], Awaitable[CompositionView | None]]
"""Shows what the composed arguments are about, from the others and the request."""

_THREADS_PER_TOOL: Final = 4


@dataclass(eq=False, slots=True)
class FunctionTool:
    """A Tool around a function; made by `tool`. `call` runs the function on a validated model.

    `at_once` says that `execute` never waits: a plain function that computes its result. `probe` finds out what became of an
    interrupted call, `propose` has the existing values of each argument with candidates, `look_ahead` says what a call would do,
    `report` what it would touch, and `view` shows what composed arguments are about. `tool_code` is set by the loader of a tool file.
    """

    spec: ToolSpec
    arguments: type[BaseModel]
    call: Callable[[Any, ToolContext], Awaitable[object]]
    probe: Probe[Any, Any] | None
    at_once: bool
    propose: Mapping[str, Propose]
    look_ahead: Preview[Any] | None = None
    report: Report | None = None
    view: View | None = None
    tool_code: ToolCode = field(init=False, default=ToolCode())

    def offering(self, offered: bool) -> Self:
        """The same tool, listed to models or only available to plans that name it."""
        other = copy(self)
        other.spec = replace(self.spec, offered=offered)
        return other

    async def execute(self, arguments: JsonObject, context: ToolContext) -> JsonValue | ToolOutput[JsonValue]:
        """What the function returns, as JSON. Raises InvalidInputError (ARGUMENTS_INVALID) where the
        model is stricter than its schema, and whatever the function raises."""
        return _as_json(await self.call(self._read(arguments), context))

    async def reconcile(
        self, arguments: JsonObject, context: ToolContext
    ) -> JsonValue | ToolOutput[JsonValue] | None:
        if self.probe is None:
            return None
        return _as_json(await self.probe(self._read(arguments), context))

    async def candidates(
        self, argument: str, context: ToolContext, limit: int, near: str = ""
    ) -> Sequence[str]:
        return await self.propose[argument](context, limit, near)

    async def composition_view(
        self, arguments: JsonObject, context: ToolContext, request: str
    ) -> CompositionView | None:
        return await self.view(arguments, context, request) if self.view else None

    async def preview(self, arguments: JsonObject, context: ToolContext) -> CallPreview:
        return await self.look_ahead(self._read(arguments), context) if self.look_ahead else CallPreview()

    async def targets(self, arguments: JsonObject, context: ToolContext) -> tuple[Target, ...] | None:
        return None if self.report is None else await self.report(self._read(arguments), context)

    def _read(self, arguments: JsonObject) -> BaseModel:
        try:
            return self.arguments.model_validate(arguments)
        except ValidationError as error:
            problems = tuple(
                Problem(part["type"], part["msg"], pointer(part["loc"]))
                for part in error.errors(include_url=False, include_context=False, include_input=False)
            )
            raise arguments_invalid(self.spec.name, problems) from error


def arguments_invalid(tool: str, problems: Sequence[Problem]) -> InvalidInputError:
    """The error for arguments that a tool's schema or model rejects; `problems` must not be empty."""
    return InvalidInputError(
        f"the arguments of {tool} are not valid: " + "; ".join(map(str, problems)),
        reason="ARGUMENTS_INVALID",
        field=f"arguments{problems[0].path}",
    )


class _Decorator(Protocol):
    def __call__(self, function: Function[Arguments, Result]) -> FunctionTool: ...


def tool(
    *,
    effect: Effect = Effect.UNDECLARED,
    example: JsonObject | None = None,
    idempotent: bool = False,
    blocking: bool = False,
    reconcile: Probe[Any, Any] | None = None,
    candidates: Mapping[str, Propose] | None = None,
    only_existing: tuple[str, ...] = (),
    composed: tuple[Composition, View] | None = None,
    for_existing: str = "",
    for_part: str = "",
    followed_by: str = "",
    source_code: tuple[str, ...] = (),
    request_argument: str = "",
    new_name: str = "",
    new_text: str = "",
    page_address: str = "",
    shows_facts: bool = False,
    shows_names: bool = False,
    preview: Preview[Any] | None = None,
    targets: Report | None = None,
    threads: WorkerThreads | None = None,
    timeout_seconds: float = 30.0,
    max_output_bytes: int = 1 << 20,
    offered: bool = True,
    private: bool = False,
    asks_model: bool = False,
) -> _Decorator:
    """Makes a tool of `def f(arguments: SomeModel, context: ToolContext) -> OtherModel`, or `-> ToolOutput[OtherModel]`
    for one that changes something and reports its effects.

    Its name is the function's, its description the docstring. An `async def` is awaited; a `def` runs at
    once and so must be quick, unless it is `blocking`: then it runs in a thread (one of `threads`) and is
    let go of when its time is up. `reconcile` tells the result of an earlier call that was cut short, or
    None. `candidates` has a function for each argument whose existing values the tool can propose, `only_existing` names
    those of them that can have no other. `composed` is the conversation in which a small model writes some of the
    arguments, and the function that shows it what a call is about; `for_existing` names the tool that such a call becomes where its target
    exists, `for_part` the one that it becomes where the request means a part of its target, `followed_by` the one that may
    follow; `source_code` are patterns of the names of files whose code it changes. `request_argument`
    names the argument for a request in a person's own words. `new_name` names the argument with a new name
    for what exists, or, together with `new_text` for its text, for something new, `page_address` the one with the web address of a page that is read. `preview` shows what a call would do to a person who approves it. `targets` gives what a
    call would touch, for the policy: without it, calls with effects are more often asked about. A tool without an
    `effect` counts as the most dangerous. A `private` one leaves nothing behind but its result.
    One that `asks_model` takes calls of the model from its step's grant. One that is not `offered` is for plans that name it. Raises TypeError when the
    function has another shape.
    """

    def decorate(function: Function[Arguments, Result]) -> FunctionTool:
        arguments, result = _models_of(function)
        spec = ToolSpec(
            name=function.__name__,
            description=inspect.cleandoc(function.__doc__ or ""),
            input_schema=model_schema(arguments),
            output_schema=model_schema(result),
            effect=effect,
            idempotent=idempotent,
            example=example,
            timeout_seconds=timeout_seconds,
            max_output_bytes=max_output_bytes,
            offered=offered,
            candidates=tuple(candidates or ()),
            only_existing=only_existing,
            composition=composed[0] if composed else None,
            for_existing=for_existing,
            for_part=for_part,
            followed_by=followed_by,
            source_code=source_code,
            request_argument=request_argument,
            new_name=new_name,
            new_text=new_text,
            page_address=page_address,
            shows_facts=shows_facts,
            shows_names=shows_names,
            private=private,
            asks_model=asks_model,
        )
        call = _awaitable(function, blocking, threads)
        at_once = not blocking and not inspect.iscoroutinefunction(function)
        return FunctionTool(
            spec,
            arguments,
            call,
            reconcile,
            at_once,
            candidates or {},
            preview,
            targets,
            composed[1] if composed else None,
        )

    return decorate


def _models_of(function: Callable[..., object]) -> tuple[type[BaseModel], type[BaseModel]]:
    hints = get_type_hints(function)
    names = list(inspect.signature(function).parameters)
    given = hints.get("return")
    returned = get_args(given)[0] if get_origin(given) is ToolOutput else given
    models = hints.get(names[0]) if names else None, returned
    if len(names) != 2 or not all(isinstance(m, type) and issubclass(m, BaseModel) for m in models):
        raise TypeError(
            f"{function.__name__} must take a pydantic model and a ToolContext and return a pydantic model "
            "or a ToolOutput of one, all three annotated"
        )
    return models[0], models[1]  # type: ignore[return-value]  # issubclass in all() narrows nothing


def _awaitable(
    function: Callable[[Any, ToolContext], Any], blocking: bool, threads: WorkerThreads | None
) -> Callable[[Any, ToolContext], Awaitable[object]]:
    if inspect.iscoroutinefunction(function):
        if blocking:
            raise TypeError(f"{function.__name__} is async: only a plain def can be blocking")
        return function
    if not blocking:

        async def at_once(arguments: Any, context: ToolContext) -> object:
            return function(arguments, context)

        return at_once
    workers = threads or WorkerThreads(_THREADS_PER_TOOL)

    async def in_thread(arguments: Any, context: ToolContext) -> object:
        return await workers.run(lambda _stopped: function(arguments, context))

    return in_thread


def _as_json(result: object) -> JsonValue | ToolOutput[JsonValue]:
    """A model as JSON, with the effects reported beside it; anything else as it is, for the invoker to judge."""
    if isinstance(result, ToolOutput) and isinstance(result.data, BaseModel):
        return ToolOutput(result.data.model_dump(mode="json"), result.effects, result.taint)
    if isinstance(result, BaseModel):
        dumped: JsonValue = result.model_dump(mode="json")
        return dumped
    return result  # type: ignore[return-value]  # foreign: the output schema decides
