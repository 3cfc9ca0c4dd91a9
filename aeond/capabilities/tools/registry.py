"""The names of all tools, each with its checked spec and compiled schemas."""

import hashlib
import logging
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Final

from aeond.capabilities.tools.function_tool import FunctionTool
from aeond.domain.policy import Target
from aeond.domain.tools import (
    CompositionView,
    Effect,
    ToolCode,
    ToolContext,
    ToolOutput,
    ToolSpec,
    description_digest,
)
from aeond.domain.values import JsonObject, JsonValue, canonical_json
from aeond.errors import AlreadyExistsError, InvalidInputError, NotFoundError
from aeond.frozen import frozen
from aeond.ports import Tool, ToolAnswer
from aeond.ports.policy import HoldsCalls, StatesCode, reports_targets
from aeond.ports.serving import LimitsItself
from aeond.ports.situations import Composes, ProposesValues
from aeond.schemas.compiled import CompiledSchema

MAX_DESCRIPTION_CHARS: Final = 1_000
MAX_REPORTED: Final = 1_000  # digests that were logged because they are not accepted
NO_CODE: Final = ToolCode()

log = logging.getLogger(__name__)
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")


@frozen
class RegisteredTool:
    """A tool as it was when it was registered: what it says of itself later is not believed.

    `computes` says that it does nothing but compute its result, at once. `elsewhere` says that another process runs it
    and limits its own calls. The digest of `tool_code` covers the spec as well, so that it changes with everything that
    the tool does or declares.
    """

    tool: Tool
    spec: ToolSpec
    arguments: CompiledSchema
    output: CompiledSchema
    computes: bool = False
    elsewhere: bool = False
    tool_code: ToolCode = NO_CODE

    async def execute(self, arguments: JsonObject, context: ToolContext) -> ToolAnswer:
        return await self.tool.execute(arguments, context)

    async def reconcile(
        self, arguments: JsonObject, context: ToolContext
    ) -> JsonValue | ToolOutput[JsonValue] | None:
        return await self.tool.reconcile(arguments, context)

    def holds(self, arguments: JsonObject, context: ToolContext) -> bool:
        return isinstance(self.tool, HoldsCalls) and self.tool.holds(arguments, context)

    async def targets(self, arguments: JsonObject, context: ToolContext) -> tuple[Target, ...] | None:
        if self.spec.source or not reports_targets(self.tool):
            return None  # a tool of another author is not believed
        return await self.tool.targets(arguments, context)

    async def candidates(
        self, argument: str, context: ToolContext, limit: int, near: str = ""
    ) -> Sequence[str]:
        if argument not in self.spec.candidates or not isinstance(self.tool, ProposesValues):
            return ()
        return await self.tool.candidates(argument, context, limit, near)

    async def composition_view(
        self, arguments: JsonObject, context: ToolContext, request: str
    ) -> CompositionView | None:
        if not self.spec.composed or self.spec.source or not isinstance(self.tool, Composes):
            return None  # what a tool of another author says would become instructions
        return await self.tool.composition_view(arguments, context, request)


class Registry:
    """Tools by name, in memory. Schemas that say nothing of unknown fields are closed against them.

    The registry of a user has the tools of `common` too. A tool of another author is offered to models only if its
    digest is `accepted`: its description is text that goes into every prompt, where it could give instructions. What a
    client serves for its own user needs no acceptance.
    """

    def __init__(self, common: "Registry | None" = None, accepted: Sequence[str] = ()) -> None:
        self._common = common
        self._tools: dict[str, RegisteredTool] = {}
        self._of_users: dict[int, Registry] = {}
        self._accepted = frozenset(accepted)
        self._reported: set[str] = set()

    def of(self, uid: int) -> "Registry":
        """The tools of this user: the common ones, and those registered here for the user alone."""
        found = self._of_users.get(uid)
        if found is None:
            found = self._of_users[uid] = Registry(self)
        return found

    def register(self, tool: Tool) -> None:
        """Takes a tool in after checking its spec.

        Raises AlreadyExistsError (TOOL_EXISTS) and InvalidInputError (NAME_INVALID, DESCRIPTION_INVALID,
        BOUND_INVALID, SCHEMA_INVALID, EXAMPLE_INVALID, CANDIDATES_INVALID) with the part of the spec at fault in
        `field`.
        """
        self.add(check(tool))

    def add(self, registered: RegisteredTool) -> None:
        """Takes in a tool that was checked. Raises AlreadyExistsError (TOOL_EXISTS)."""
        name = registered.spec.name
        if self.get(name) is not None:
            raise AlreadyExistsError(
                f"there is a tool named {name} already: choose another name",
                reason="TOOL_EXISTS",
                field="name",
            )
        self._tools[name] = self._offered_if_accepted(registered)

    def accept(self, accepted: Sequence[str]) -> None:
        """Applies these digests in place of the earlier ones."""
        self._accepted = frozenset(accepted)
        self._tools = {
            name: self._offered_if_accepted(check(one.tool)) if one.spec.source else one
            for name, one in self._tools.items()
        }

    def _offered_if_accepted(self, registered: RegisteredTool) -> RegisteredTool:
        spec = registered.spec
        digest = spec.digest
        if not digest or not spec.offered or digest in self._accepted or self._common is not None:
            return registered
        unoffered = replace(registered, spec=replace(spec, offered=False))
        if digest in self._reported or len(self._reported) >= MAX_REPORTED:
            return unoffered
        self._reported.add(digest)
        log.warning(
            "tool %s of %s is not offered to models: read its description with aeonctl tools %s, then add %r to"
            " tools.accepted",
            spec.name,
            spec.source,
            spec.name,
            digest,
        )
        return unoffered

    def remove(self, name: str) -> None:
        """Forgets a tool; calls in progress continue. KeyError if it is not registered here."""
        del self._tools[name]

    def get(self, name: str) -> RegisteredTool | None:
        found = self._tools.get(name)
        return self._common.get(name) if found is None and self._common is not None else found

    def find(self, name: str) -> RegisteredTool:
        """The tool with its compiled schemas. Raises NotFoundError (TOOL_NOT_FOUND)."""
        registered = self.get(name)
        if registered is None:
            raise not_found(name, self.list_names())
        return registered

    def asking_tools(self) -> tuple[str, ...]:
        """The names of the tools that ask the model themselves. Of those of other authors it is not believed."""
        return tuple(spec.name for spec in self.specs() if spec.asks_model and not spec.source)

    def list_names(self) -> Sequence[str]:
        return [spec.name for spec in self.specs()]

    def specs(self) -> Sequence[ToolSpec]:
        common = () if self._common is None else self._common.specs()
        return (*common, *(self._tools[name].spec for name in sorted(self._tools)))


def check(tool: Tool) -> RegisteredTool:
    """Reads the spec of a tool once and compiles it. Raises InvalidInputError as `register` does."""
    spec = tool.spec
    if not _NAME.fullmatch(spec.name):
        raise InvalidInputError(
            f"{spec.name!r:.80} cannot name a tool: use 1 to 64 of a-z, 0-9 and _, beginning with a letter",
            reason="NAME_INVALID",
            field="name",
        )
    if not 0 < len(spec.description.strip()) <= MAX_DESCRIPTION_CHARS:
        raise InvalidInputError(
            f"tool {spec.name} needs a description of 1 to {MAX_DESCRIPTION_CHARS} characters",
            reason="DESCRIPTION_INVALID",
            field="description",
        )
    if not (0 < spec.timeout_seconds < math.inf and spec.max_output_bytes > 0):
        raise InvalidInputError(
            f"tool {spec.name} needs a finite time and a size greater than zero",
            reason="BOUND_INVALID",
            field="max_output_bytes" if spec.max_output_bytes <= 0 else "timeout_seconds",
        )
    arguments = _compile(spec.name, {"additionalProperties": False, **spec.input_schema}, "input_schema")
    output = _compile(spec.name, spec.output_schema, "output_schema")
    _require_object(spec.name, arguments.schema)
    if spec.example is not None and (problems := arguments.problems(spec.example)):
        raise InvalidInputError(
            f"the example of tool {spec.name} is not valid: " + "; ".join(map(str, problems)),
            reason="EXAMPLE_INVALID",
            field="example",
        )
    _check_candidates(tool, spec, arguments.schema)
    digest = description_digest(spec) if spec.source else ""
    checked = replace(spec, input_schema=arguments.schema, output_schema=output.schema, digest=digest)
    computes = spec.effect is Effect.PURE and isinstance(tool, FunctionTool) and tool.at_once
    elsewhere = isinstance(tool, LimitsItself)
    code = tool.tool_code if isinstance(tool, StatesCode) else NO_CODE
    whole = replace(code, digest=_digest(checked, code.digest))
    return RegisteredTool(tool, checked, arguments, output, computes, elsewhere, whole)


def _digest(spec: ToolSpec, code: str) -> str:
    """Identifies a tool by its declarations and its code, as 64 hexadecimal digits."""
    declared = {field.name: getattr(spec, field.name) for field in fields(spec)}
    declared["composition"] = asdict(spec.composition) if spec.composition else None
    return hashlib.sha256(canonical_json({"spec": declared, "code": code}).encode()).hexdigest()


def _compile(name: str, schema: JsonObject, field: str) -> CompiledSchema:
    try:
        return CompiledSchema(schema)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"{field} of tool {name}: {error.message}", reason=error.reason, field=field
        ) from error


def _require_object(name: str, schema: JsonObject) -> None:
    if schema.get("type") != "object" or schema.get("additionalProperties") is not False:
        raise InvalidInputError(
            f"the arguments of tool {name} must be an object without additional properties",
            reason="SCHEMA_INVALID",
            field="input_schema",
        )


def _check_candidates(tool: Tool, spec: ToolSpec, schema: JsonObject) -> None:
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    if spec.composed and (not set(spec.composed) <= set(known) or not isinstance(tool, Composes)):
        raise InvalidInputError(
            f"tool {spec.name} cannot begin conversations: it has no argument {' and '.join(spec.composed)!r:.80}, or no method"
            " `composition_view`",
            reason="COMPOSED_INVALID",
            field="composition",
        )
    if unknown := [name for name in spec.candidates if name not in known]:
        why = f"{unknown[0]!r:.80} is not one of its arguments"
    elif spec.candidates and not isinstance(tool, ProposesValues):
        why = "it has no method `candidates`"
    else:
        return
    raise InvalidInputError(
        f"tool {spec.name} cannot propose values: {why}", reason="CANDIDATES_INVALID", field="candidates"
    )


def not_found(name: str, known: Sequence[str]) -> NotFoundError:
    return NotFoundError(
        f"there is no tool named {name!r:.80}; registered: {', '.join(known) or 'none'}"[:1_000],
        reason="TOOL_NOT_FOUND",
        field="tool",
    )
