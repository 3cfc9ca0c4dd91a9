"""The data of a decision: what a model may choose from, and what it chose."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import Final, Protocol

from aeond.domain.llm import ToolSchema
from aeond.domain.messages import Message
from aeond.domain.outcome import Outcome
from aeond.domain.runs.budgets import Grant
from aeond.domain.tools import Effect, ToolCall, ToolSpec
from aeond.domain.values import JsonValue
from aeond.frozen import frozen
from aeond.ports import TextSink
from aeond.schemas.parts import as_object, required_of

FILE_CHANGES: Final = (Effect.WRITE_CONTAINED, Effect.WRITE_OUTSIDE)
CHANGES: Final = (*FILE_CHANGES, Effect.MEMORY)
"""The effects of tools that change files or what is remembered."""
LOOKS: Final = (Effect.READ, Effect.PURE)
"""The effects of tools that change nothing."""


def uncomposed(spec: ToolSpec) -> ToolSpec:
    """The tool without the arguments that are written in a separate conversation."""
    if not spec.composed:
        return spec
    schema = spec.input_schema
    kept = [name for name in required_of(schema) if name not in spec.composed]
    properties = {
        name: part for name, part in as_object(schema.get("properties")).items() if name not in spec.composed
    }
    return replace(
        spec, input_schema={**schema, "properties": properties, "required": kept}, composition=None
    )


@frozen
class Offer:
    """The actions that a model may choose from in one decision.

    `values` holds, for a tool and one of its arguments, the values that exist. `plan` offers a plan of several
    steps, `answer` an answer or a refusal, `refusal` a refusal where no answer is offered. Arguments that are written in a separate conversation are left out where the model
    decides by JSON, unless the offer is `complete`.
    """

    tools: tuple[ToolSpec, ...] = ()
    values: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    plan: bool = False
    answer: bool = True
    refusal: bool = False
    complete: bool = False

    @property
    def uncomposed(self) -> "Offer":
        """The offer as a model sees it that decides by JSON."""
        return self if self.complete else replace(self, tools=tuple(uncomposed(spec) for spec in self.tools))

    @property
    def has_others(self) -> bool:
        """Whether a tool is offered of which only its author knows what it is about, so that it may suit any request."""
        return any(spec.source or required_of(spec.input_schema) for spec in self.others.tools)

    @property
    def others(self) -> "Offer":
        """The tools of which it is not known what they do, and a refusal in place of an answer."""
        return self.beyond(asking=False)

    @property
    def known(self) -> "Offer":
        """The offer without those tools."""
        others = self.others.tools
        return replace(self, tools=tuple(spec for spec in self.tools if spec not in others))

    @property
    def only_tool(self) -> str:
        """The tool that is called because there is no other choice, and nothing to choose for it; "" if there is a choice."""
        if len(self.tools) != 1 or self.plan or self.answer or self.refusal or self.complete:
            return ""
        (spec,) = self.tools
        lists = "required" in spec.input_schema
        return spec.name if lists and set(required_of(spec.input_schema)) <= set(spec.composed) else ""

    def tool(self, name: str) -> ToolSpec | None:
        """The offered tool of this name."""
        return next((spec for spec in self.tools if spec.name == name), None)

    def without_effects(self, effects: Collection[Effect]) -> "Offer":
        """An answer and the tools without these effects."""
        return replace(
            self._limited(lambda spec: spec.effect not in effects), answer=True, refusal=self.refusal
        )

    def to_act(self, effects: Collection[Effect]) -> "Offer":
        """The tools with one of these effects, and those that look here where files are changed; no answer."""
        looks = Effect.MEMORY not in effects
        return self._limited(lambda spec: spec.effect in effects or (looks and looks_here(spec)))

    def to_keep(self) -> "Offer":
        """The tools that keep something in memory, and none that is only about what is there; no answer."""
        return self._limited(
            lambda spec: spec.effect is Effect.MEMORY and bool(spec.composed) and not spec.only_existing
        )

    def beyond(self, *, asking: bool = True) -> "Offer":
        """The tools of which it is not known what they do, and those that ask the user if they may, and a refusal in place of an
        answer."""
        return self._limited(
            lambda spec: not acts_here(spec) and not looks_here(spec) and (asking or not spec.asks_user),
            refusal=True,
        )

    def to_look(self, effects: Collection[Effect] = LOOKS) -> "Offer":
        """The tools that look into what exists here or compute from it, in place of an answer or a refusal."""
        return self._limited(lambda spec: looks_here(spec) and spec.effect in effects)

    def elsewhere(self, named: Collection[JsonValue]) -> "Offer":
        """The tools that look into what exists here, but not at what is named here; no answer."""
        values = {key: tuple(one for one in known if one not in named) for key, known in self.values.items()}
        looking = self.to_look((Effect.READ,))
        tools = tuple(
            spec for spec in looking.tools if all(values.get((spec.name, name)) for name in spec.candidates)
        )
        return replace(looking, tools=tools, values=values)

    def reading(self, name: str) -> ToolCall | None:
        """The call that reads what exists under this name and needs nothing else; None if no tool does that."""

        def only_argument(spec: ToolSpec) -> Sequence[str]:
            needed = required_of(spec.input_schema)
            reads = spec.effect is Effect.READ and not spec.shows_names and not spec.composed
            return needed if reads and len(needed) == 1 else ()

        return self._call(name, only_argument)

    def changing(self, name: str) -> ToolCall | None:
        """The call that changes what exists under this name, without what is composed for it; None if no tool does that."""
        return self._call(name, lambda spec: spec.only_existing if spec.composed else ())

    def selecting(self, read: ToolCall) -> ToolCall | None:
        """The call that selects from what this one has read, by an argument of the same name, without what is composed for it; None if no other
        tool does that."""
        others = (spec for spec in self.tools if spec.effect is Effect.READ and spec.composed)
        return next(
            (
                ToolCall(spec.name, {name: read.arguments[name]})
                for spec in others
                for name in spec.candidates
                if spec.name != read.tool and name in read.arguments
            ),
            None,
        )

    def fetching(self, address: str) -> ToolCall | None:
        """The call that reads the page at this web address; None if no tool does that."""
        readers = (spec for spec in self.tools if spec.page_address)
        return next((ToolCall(spec.name, {spec.page_address: address}) for spec in readers), None)

    def renaming(self, name: str, new: str) -> ToolCall | None:
        """The call that gives what exists under this name the new one; None if no tool does that."""
        call = self._call(
            name, lambda spec: spec.only_existing if spec.new_name and not spec.new_text else ()
        )
        spec = self.tool(call.tool) if call else None
        return replace(call, arguments={**call.arguments, spec.new_name: new}) if call and spec else None

    def to_change(self, effects: Collection[Effect]) -> "Offer":
        """The tools with one of these effects, if there are any with those that ask the user; a refusal in place of an answer."""
        can_change = any(spec.effect in effects for spec in self.tools)
        return self._limited(
            lambda spec: can_change and (spec.effect in effects or spec.asks_user), refusal=True
        )

    def only(self, spec: ToolSpec) -> "Offer":
        """This tool with all its arguments, and nothing else."""
        return replace(self, tools=(spec,), plan=False, answer=False, refusal=False, complete=True)

    def without_pages(self) -> "Offer":
        """The tools that read no web pages."""
        return replace(self, tools=tuple(spec for spec in self.tools if not spec.page_address))

    def without(self, tool: str) -> "Offer":
        """The other tools; at least an answer is left to choose."""
        others = tuple(spec for spec in self.tools if spec.name != tool)
        return replace(self, tools=others, answer=self.answer or not others)

    def _limited(self, wanted: Callable[[ToolSpec], bool], *, refusal: bool = False) -> "Offer":
        """The wanted tools, without a plan or an answer."""
        tools = tuple(filter(wanted, self.tools))
        return replace(self, tools=tools, plan=False, answer=False, refusal=refusal)

    def _call(self, name: str, arguments_of: Callable[[ToolSpec], Sequence[str]]) -> ToolCall | None:
        """The call of the first tool for one of whose arguments, of those returned, this name exists."""
        return next(
            (
                ToolCall(spec.name, {argument: name})
                for spec in self.tools
                for argument in arguments_of(spec)
                if name in self.values.get((spec.name, argument), ())
            ),
            None,
        )


def acts_here(spec: ToolSpec) -> bool:
    """Whether an informed tool changes files or what is remembered, and not a thing elsewhere: a calendar, a lamp."""
    return spec.is_informed and spec.effect in CHANGES


def looks_here(spec: ToolSpec) -> bool:
    """Whether an informed tool only reads what exists here or computes from it, and asks no person."""
    return spec.is_informed and spec.effect in LOOKS and not spec.asks_user


@frozen
class CallTool:
    """Call this tool next."""

    call: ToolCall


@frozen
class GiveAnswer:
    """End with this text. `fulfilled` is false where the model says that the request cannot be carried out."""

    text: str
    fulfilled: bool = True


@frozen
class MakePlan:
    """Let the request be planned as a graph of steps."""


Decision = CallTool | GiveAnswer | MakePlan


@frozen
class Turn:
    """An action that was taken, and what came of it."""

    call: ToolCall
    result: str


class DecisionModel(Protocol):
    """A model that chooses one action: by JSON under a schema, or by its own tool calls."""

    def opening(self, specs: Sequence[ToolSpec], instructions: str) -> tuple[Message, ...]:
        """The part of the conversation that is the same for every request with these tools."""

    def conversation(
        self, opening: Sequence[Message], request: str, turns: Sequence[Turn], remark: str
    ) -> tuple[Message, ...]:
        """The whole conversation: the request with its situation, then the actions and their results. A remark
        follows the last result."""

    def tools(self, offer: Offer) -> tuple[ToolSchema, ...]:
        """The tools that go to the model beside the messages, and take a part of its context."""

    async def decide(
        self, messages: Sequence[Message], offer: Offer, grant: Grant, on_text: TextSink
    ) -> Outcome[Decision | None]:
        """The chosen action, for one model call and repairs of form. The text of an answer is streamed to
        `on_text`. A model that fails and a grant that is spent are problems."""
