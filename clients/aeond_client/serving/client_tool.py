"""Tools made of functions: the schemas come from the type hints, the description from the docstring."""

import inspect
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, overload

from aeond_client.records.tools import ToolSpec

Call = Callable[[dict[str, Any], "CallContext"], Any]
"""Carries out a call; what it returns (a JSON value, a model, or a ToolResult), or a coroutine of that."""

_PLAIN: Mapping[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    NoneType: {"type": "null"},
    None: {"type": "null"},
    Any: {},
    object: {},
    list: {"type": "array"},
    dict: {"type": "object"},
}


class CallContext:
    """The call that a function carries out, for a parameter annotated with this class.

    `call_id` is the same if the daemon repeats the call. `cancelled` is set when its result is no longer needed.
    """

    def __init__(self, call_id: str, run_id: str, step_id: str, timeout_seconds: float) -> None:
        self.call_id = call_id
        self.run_id = run_id
        self.step_id = step_id
        self.timeout_seconds = timeout_seconds
        self.cancelled = threading.Event()
        self._lock = threading.Lock()
        self._on_cancel: list[Callable[[], object]] = []

    def on_cancel(self, action: Callable[[], object]) -> None:
        """Calls `action` when the call is cancelled, from another thread; now if it is already."""
        with self._lock:
            if not self.cancelled.is_set():
                self._on_cancel.append(action)
                return
        action()

    def mark_cancelled(self) -> bool:
        """Sets `cancelled`, so that later actions run at once. Returns whether `cancel` has any to run."""
        with self._lock:
            self.cancelled.set()
            return bool(self._on_cancel)

    def cancel(self) -> None:
        """Runs every action once, also after one that raises; raises the error of the last one that did."""
        with self._lock:
            self.cancelled.set()
            acting, self._on_cancel = self._on_cancel, []
        with ExitStack() as actions:
            for action in reversed(acting):
                actions.callback(action)


class ToolFailure(Exception):  # noqa: N818 - a result, not an error of the program
    """Raised by a function whose call failed: the message is for models and people, `reason` (UPPER_SNAKE) for programs."""

    def __init__(self, message: str, reason: str = "TOOL_FAILED") -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class ClientTool:
    """A tool to serve: its description, and the function that carries out a call."""

    spec: ToolSpec
    call: Call


@overload
def tool(function: Callable[..., Any], /) -> ClientTool: ...


@overload
def tool(
    *,
    effect: str = "undeclared",
    example: dict[str, Any] | None = None,
    idempotent: bool = False,
    timeout_seconds: float = 0.0,
) -> Callable[[Callable[..., Any]], ClientTool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    effect: str = "undeclared",
    example: dict[str, Any] | None = None,
    idempotent: bool = False,
    timeout_seconds: float = 0.0,
) -> ClientTool | Callable[[Callable[..., Any]], ClientTool]:
    """Makes a ClientTool of a function; usable as a decorator, with or without arguments.

    Its name and docstring are those of the function. Parameters may be annotated with str, int, float, bool, None, list,
    dict, Literal, unions of these, and classes with the schema methods of pydantic; `Annotated[str, "a city"]` adds a
    description. A result that is annotated is checked. `effect` is a class of the policy, such as "read"; without one,
    every call is asked about. TypeError for a function without docstring or with other annotations.
    """
    made = partial(
        _tool_of, effect=effect, example=example, idempotent=idempotent, timeout_seconds=timeout_seconds
    )
    return made if function is None else made(function)


def _tool_of(function: Callable[..., Any], *, effect: str, **more: Any) -> ClientTool:
    name = getattr(function, "__name__", "")
    description = inspect.getdoc(function) or ""
    if not description:
        raise TypeError(f"{name} needs a docstring: models choose tools by it")
    hints = get_type_hints(function, include_extras=True)
    properties: dict[str, Any] = {}
    required: list[str] = []
    models: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    results: dict[str, Any] = {}
    context_name = ""
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{name}: *{parameter.name} cannot be an argument of a tool")
        hint = hints.get(parameter.name, Any)
        if hint is CallContext:
            context_name = parameter.name
            continue
        properties[parameter.name] = schema_of(hint, f"{name}: {parameter.name}", definitions)
        if hasattr(hint, "model_validate"):
            models[parameter.name] = hint
        if parameter.default is parameter.empty:
            required.append(parameter.name)

    def call(arguments: dict[str, Any], context: CallContext) -> Any:
        given = {
            key: models[key].model_validate(value) if key in models else value
            for key, value in arguments.items()
        }
        return function(**given, **({context_name: context} if context_name else {}))

    output_schema = schema_of(hints.get("return", Any), f"{name}: its result", results)
    spec = ToolSpec(
        name=name,
        description=description,
        effect=effect,
        input_schema={
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
            **({"$defs": definitions} if definitions else {}),
        },
        output_schema={**output_schema, **({"$defs": results} if results else {})},
        **more,
    )
    return ClientTool(spec, call)


def schema_of(hint: Any, place: str, definitions: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an annotation; the models in it are added to `definitions`, the `$defs` of the whole schema.
    TypeError, naming the place, for one that is not supported."""
    if get_origin(hint) is Annotated:
        inner, *notes = get_args(hint)
        described = [note for note in notes if isinstance(note, str)]
        return {
            **schema_of(inner, place, definitions),
            **({"description": described[0]} if described else {}),
        }
    if hasattr(hint, "model_json_schema"):
        model = re.sub(r"\W", "_", hint.__name__)
        schema = dict(hint.model_json_schema(ref_template=f"#/$defs/{model}.{{model}}"))
        inner_models = schema.pop("$defs", {})
        definitions.update({f"{model}.{name}": inner_models[name] for name in inner_models})
        return schema
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(part, place, definitions) for part in parts]}
    if origin in (list, dict) and parts:
        inner = schema_of(parts[-1], place, definitions)
        key = "items" if origin is list else "additionalProperties"
        return {**_PLAIN[origin], key: inner}
    try:
        return dict(_PLAIN[hint])
    except (KeyError, TypeError):
        raise TypeError(f"{place} has the type {hint!r}, which a tool cannot have: use JSON types") from None
