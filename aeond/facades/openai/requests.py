"""Requests of the API, checked, in the common form of `parts.Prompt`. What is not listed is ignored."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aeond.facades.openai.engine import shown_calls, shown_result
from aeond.facades.openai.failures import invalid, unsupported
from aeond.facades.openai.parts import Function, Prompt, Said

MAX_MESSAGES: Final = 250  # the daemon takes 256, and functions may add one
MAX_FUNCTIONS: Final = 128
DEFAULT_TOKENS: Final = 512

_EXPECTED: Final = {"string_type": "a string", "list_type": "an array", "dict_type": "an object"}

T = TypeVar("T", bound=BaseModel)
Tokens = Annotated[int | None, Field(ge=1, le=32_768)]
Temperature = Annotated[float | None, Field(ge=0, le=2)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class ContentPart(_Part):
    type: str
    text: str = ""


Content = str | Annotated[list[ContentPart], Field(max_length=256)] | None


class FunctionSpec(_Part):
    name: Name
    description: str | None = None
    parameters: dict[str, Any] | None = None


class CalledFunction(_Part):
    name: str
    arguments: str


class ChatCall(_Part):
    id: str
    function: CalledFunction


class ChatMessage(_Part):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Content = None
    refusal: str | None = None
    tool_calls: list[ChatCall] | None = None
    tool_call_id: str = ""
    name: str = ""


class ChatTool(_Part):
    type: str
    function: FunctionSpec | None = None


class SchemaFormat(_Part):
    json_schema: dict[str, Any] | None = Field(default=None, alias="schema")


class ResponseFormat(_Part):
    type: Literal["text", "json_object", "json_schema"] = "text"
    json_schema: SchemaFormat | None = None
    answer_schema: dict[str, Any] | None = Field(default=None, alias="schema")


class StreamOptions(_Part):
    include_usage: bool = False


class _Request(_Part):
    """The fields that both forms have."""

    model: str = Field(min_length=1, max_length=200)
    stream: bool | None = False
    temperature: Temperature = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = True
    metadata: dict[str, str] | None = None

    def _prompt(self, said: Iterable[Said], tools: Iterable[tuple[str, FunctionSpec | None]]) -> Prompt:
        """The prompt of these messages and tools, each a type with the function that it describes: what is common to both
        forms. The tools are checked first.
        """
        functions = []
        for index, (kind, function) in enumerate(tools):
            if kind != "function" or function is None:
                raise unsupported(f"There is no tool of type {kind}, only functions.", f"tools.{index}")
            parameters = function.parameters or {"type": "object", "properties": {}}
            functions.append(Function(function.name, function.description or "", parameters))
        return Prompt(
            self.model,
            tuple(said),
            tuple(functions),
            choice=_choice(self.tool_choice, functions),
            parallel=self.parallel_tool_calls is not False,
            temperature=self.temperature or 0.0,
            workspace=(self.metadata or {}).get("workspace", ""),
        )


class ChatRequest(_Request):
    messages: list[ChatMessage] = Field(min_length=1, max_length=MAX_MESSAGES)
    stream_options: StreamOptions | None = None
    max_tokens: Tokens = None
    max_completion_tokens: Tokens = None
    seed: int | None = None
    stop: str | list[str] | None = None
    n: int | None = 1
    logprobs: bool | None = False
    tools: list[ChatTool] | None = Field(default=None, max_length=MAX_FUNCTIONS)
    response_format: ResponseFormat | None = None

    @property
    def wants_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage

    def prompt(self, request_id: str = "") -> Prompt:
        """ApiError for what no model here can do."""
        if self.n not in {None, 1}:
            raise unsupported("Only one answer can be made: leave n out.", "n")
        if self.logprobs:
            raise unsupported("Probabilities of tokens are not known: leave logprobs out.", "logprobs")
        tools = [(tool.type, tool.function) for tool in self.tools or []]
        return replace(
            self._prompt(_chat_said(self.messages), tools),
            schema=_schema(self.response_format),
            max_tokens=self.max_completion_tokens or self.max_tokens or DEFAULT_TOKENS,
            seed=self.seed,
            stop=(self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ()),
            request_id=request_id,
        )


class InputItem(_Part):
    type: str = "message"
    role: Literal["system", "developer", "user", "assistant"] | None = None
    content: Content = None
    call_id: str = ""
    name: str = ""
    arguments: str = ""
    output: Content = None


class ResponsesTool(FunctionSpec):
    type: str
    name: str = ""


class TextOptions(_Part):
    format: ResponseFormat | None = None


class ResponsesRequest(_Request):
    input: str | Annotated[list[InputItem], Field(min_length=1, max_length=MAX_MESSAGES)]
    instructions: str | None = None
    previous_response_id: str | None = None
    background: bool | None = False
    max_output_tokens: Tokens = None
    tools: list[ResponsesTool] | None = Field(default=None, max_length=MAX_FUNCTIONS)
    text: TextOptions | None = None

    def prompt(self, request_id: str = "") -> Prompt:
        """ApiError for what no model here can do."""
        if self.background:
            raise unsupported(
                "A response is made while its request is open: leave background out.", "background"
            )
        tools = [(tool.type, tool if tool.name else None) for tool in self.tools or []]
        return replace(
            self._prompt(self._said(), tools),
            schema=_schema(self.text.format if self.text else None),
            max_tokens=self.max_output_tokens or DEFAULT_TOKENS,
            previous=self.previous_response_id or "",
            request_id=request_id,
        )

    def _said(self) -> Iterable[Said]:
        if self.instructions:
            yield Said("system", self.instructions)
        if isinstance(self.input, str):
            yield Said("user", self.input)
        else:
            yield from _input_said(self.input)


def read(kind: type[T], body: bytes) -> T:
    """The request. ApiError, with the path of the parameter, if it does not fit."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        found = error.errors(include_url=False)
        param, message = _nearest([(one["loc"], one["type"], one["msg"]) for one in found])
        raise invalid(f"{param or 'The body'}: {message}.", param) from error


def _nearest(found: list[tuple[tuple[int | str, ...], str, str]], depth: int = 0) -> tuple[str, str]:
    """The first parameter at fault, and why. Where several forms are allowed, each form has an error and is part of its
    place: the one that the value nearly has is that whose error is not about its type, or is inside of it.
    """
    first, _, message = found[0]
    form = next((index for index in range(depth, len(first)) if _is_form(first[index])), None)
    if form is None:
        return _path(first), message
    tried = [one for one in found if one[0][:form] == first[:form]]
    nearly = [one for one in tried if len(one[0]) > form + 1 or one[1] not in _EXPECTED]
    if nearly:
        branch = nearly[-1][0][: form + 1]
        return _nearest([one for one in nearly if one[0][: form + 1] == branch], form + 1)
    return _path(first), f"Input should be {' or '.join(_EXPECTED[kind] for _, kind, _ in tried)}"


def _is_form(part: int | str) -> bool:
    return isinstance(part, str) and (part == "str" or "[" in part)


def _path(place: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in place if not _is_form(part))


def _choice(given: str | dict[str, Any] | None, functions: Sequence[Function]) -> str:
    if not functions and (given == "required" or isinstance(given, dict)):
        raise invalid("tool_choice asks for a function, and there are no tools.", "tool_choice")
    match given:
        case None:
            return "auto"
        case "auto" | "none" | "required":
            return str(given)
        case {"type": "function", "function": {"name": str(name)}} | {"type": "function", "name": str(name)}:
            return f"function:{name}"
        case _:
            raise unsupported("tool_choice is auto, none, required, or a function.", "tool_choice")


def _schema(given: ResponseFormat | None) -> dict[str, Any] | None:
    if given is None or given.type == "text":
        return None
    if given.type == "json_object":
        return {"type": "object"}
    nested = given.json_schema.json_schema if given.json_schema else None
    schema = given.answer_schema or nested
    if schema is None:
        raise invalid("The format json_schema needs a schema.", "response_format")
    return schema


def _chat_said(messages: Iterable[ChatMessage]) -> Iterable[Said]:
    names: dict[str, str] = {}
    for index, message in enumerate(messages):
        text = _text(message.content, f"messages.{index}.content")
        match message.role:
            case "system" | "developer":
                yield Said("system", text)
            case "user":
                yield Said("user", text)
            case "assistant":
                calls = message.tool_calls or []
                names |= {call.id: call.function.name for call in calls}
                written = shown_calls([(call.function.name, call.function.arguments) for call in calls])
                yield Said("agent", "\n".join(filter(None, (text, written if calls else ""))))
            case _:
                name = message.name or names.get(message.tool_call_id, "")
                yield shown_result(message.tool_call_id, name, text)


def _input_said(items: Iterable[InputItem]) -> Iterable[Said]:
    names: dict[str, str] = {}
    for index, item in enumerate(items):
        place = f"input.{index}"
        match item.type:
            case "message" if item.role is not None:
                role: Literal["system", "user", "agent"] = "user"
                if item.role != "user":
                    role = "agent" if item.role == "assistant" else "system"
                yield Said(role, _text(item.content, f"{place}.content"))
            case "function_call":
                names[item.call_id] = item.name
                yield Said("agent", shown_calls([(item.name, item.arguments)]))
            case "function_call_output":
                text = _text(item.output, f"{place}.output")
                yield shown_result(item.call_id, names.get(item.call_id, ""), text)
            case "reasoning":
                continue  # of an earlier response; it is not shown to models
            case _:
                raise unsupported(f"An item of type {item.type} cannot be read here.", place)


def _text(content: Content, param: str) -> str:
    """The text of a message. ApiError for pictures, sound and files."""
    if content is None or isinstance(content, str):
        return content or ""
    for index, part in enumerate(content):
        if part.type not in {"text", "input_text", "output_text"}:
            raise unsupported(f"Only text can be read here, no {part.type}.", f"{param}.{index}")
    return "\n".join(part.text for part in content)
