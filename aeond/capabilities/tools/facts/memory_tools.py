"""The tools remember, recall and forget, over the Memories port."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from aeond.capabilities.tools.facts.fact_conversation import FACT, fact_view
from aeond.capabilities.tools.facts.same_fact import same_facts
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.domain.facts import BY_CLIENT, Fact, FactSource, fact_as_source, unknown_source
from aeond.domain.names import Match, fit
from aeond.domain.policy import Access, Target, TargetKind, joined
from aeond.domain.tools import CompositionView, Effect, RecordedEffect, ToolContext, ToolOutput
from aeond.domain.undo import Change, ChangeKind, owner_of
from aeond.domain.values import JsonObject, JsonValue, canonical_json, display_json, short_line
from aeond.errors import InvalidInputError, ToolError
from aeond.ports import Clock, Memories
from aeond.ports.embedding import Embedder
from aeond.ports.undo import UndoLog
from aeond.schemas.json_size import json_size

MAX_KEY_CHARS: Final = 200
MAX_TEXT_CHARS: Final = 4_000
MAX_LISTED: Final = 50
MAX_LISTED_BYTES: Final = 64 * 1024
MAX_RECALLED: Final = 8
MAX_SHOWN_CHARS: Final = 120  # of a value in a sentence
MAX_NEAR: Final = 3

Meant = tuple[Fact | None, tuple[str, ...]]

_CALLS: Final = 64  # between decision and execution
_COMPARED: Final = 50  # facts that a key is compared with
_NAMED: Final = 20  # keys, where no fact fits
_LEAST_SCORE: Final = 0.2
_LEAST_SHARE: Final = 0.4  # of the best score

Key = Annotated[str, Field(min_length=1, max_length=MAX_KEY_CHARS)]


class RememberArguments(BaseModel):
    """A fact and its name."""

    key: Key
    value: Annotated[str, Field(max_length=MAX_TEXT_CHARS)] | int | float | bool


class Done(BaseModel):
    """One line on what is remembered now."""

    result: str


class RecallArguments(BaseModel):
    """The words to look for."""

    text: Annotated[str, Field(max_length=MAX_TEXT_CHARS, description="empty lists all")] = ""


class RecalledFact(BaseModel):
    """One remembered fact."""

    key: str
    value: Any


class RecallResult(BaseModel):
    """The facts that fit, the best first, or all in order of their keys; `note` says why there are none."""

    facts: Annotated[list[RecalledFact], Field(max_length=MAX_LISTED)]
    truncated: bool
    note: str = ""


class ForgetArguments(BaseModel):
    """The name of a fact."""

    key: Key


def memory_tools(
    memories: Memories, clock: Clock, embedder: Embedder, undo: UndoLog | None = None
) -> Sequence[FunctionTool]:
    """The three tools. With an undo log each change is recorded there before it is made: `before` holds the value as
    JSON, `after` is `content_id` of the new one."""
    facts = _Facts(memories, clock, embedder, undo)

    async def written(arguments: RememberArguments, context: ToolContext) -> tuple[Target, ...]:
        found = await facts.decided(arguments.key, context)
        key = _plain(arguments.key) if found is None else found.key
        return (Target(TargetKind.MEMORY, key, Access.WRITE, found is not None),)

    async def deleted(arguments: ForgetArguments, context: ToolContext) -> tuple[Target, ...]:
        found = await facts.decided(arguments.key, context)
        if found is None:
            raise _unknown(arguments.key)
        return (Target(TargetKind.MEMORY, found.key, Access.DELETE, exists=True),)

    async def read(_arguments: RecallArguments, _context: ToolContext) -> tuple[Target, ...]:
        return ()  # the facts that are found taint the run if they are tainted

    async def keys(context: ToolContext, limit: int, near: str) -> Sequence[str]:
        found = [fact.key for fact in await memories.of(context.uid).recall(near, limit, most_chars=0)]
        # A proposal taints nothing. Without the tainted keys the list would pass for complete, and leave only wrong ones.
        return found if context.taint or not await tainted(context, found) else ()

    async def tainted(context: ToolContext, keys: Sequence[str]) -> tuple[str, ...]:
        """The untrusted sources of what is remembered under these keys now."""
        return _taint(await memories.of(context.uid).sources(keys))

    async def remembered(arguments: RememberArguments, context: ToolContext) -> ToolOutput[Done] | None:
        if undo is None:
            fact = await memories.of(context.uid).find(arguments.key)
            is_there = fact is not None and _same(fact.value, arguments.value)
            return (
                ToolOutput(Done(result=_line(_plain(arguments.key), arguments.value))) if is_there else None
            )
        change = await facts.made(context)
        if change is None:
            return None
        return _remembered(change.path, arguments.value, _before(change), (), _taint_before(change))

    async def forgotten(_arguments: ForgetArguments, context: ToolContext) -> ToolOutput[Done] | None:
        change = await facts.made(context)
        if change is None:
            return None
        return _forgotten(Fact(change.path, _before(change)), _taint_before(change))

    async def view(arguments: JsonObject, context: ToolContext, _request: str) -> CompositionView:
        """With the value of the fact that the call names, unless its source would taint the run."""
        key = arguments.get(FACT.fact)
        fact = await memories.of(context.uid).find(key) if isinstance(key, str) else None
        hidden = fact is not None and not context.taint and await tainted(context, [fact.key])
        return fact_view(None if hidden else fact)

    @tool(
        effect=Effect.MEMORY,
        idempotent=True,
        example={"key": "favourite colour", "value": "green"},
        composed=(FACT, view),
        reconcile=remembered,
        targets=written,
    )
    async def remember(arguments: RememberArguments, context: ToolContext) -> ToolOutput[Done]:
        """Remember a fact under a short key, or change it."""
        found, near = await facts.meant(arguments.key, context)
        sources = await memories.of(context.uid).sources(near if found is None else [found.key])
        taint = _taint(sources)
        if found is not None and _same(found.value, arguments.value):
            return ToolOutput(Done(result=f"{_line(found.key, found.value)} already"), taint=taint)
        key = _plain(arguments.key) if found is None else found.key
        before = None if found is None else found.value
        await facts.record(context, key, found, sources, content_id(arguments.value))
        source = FactSource(context.run_id, context.taint)
        await memories.of(context.uid).write(key, arguments.value, source)
        return _remembered(key, arguments.value, before, near, taint)

    async def sourced(
        context: ToolContext, result: RecallResult, named: Sequence[Fact] = ()
    ) -> ToolOutput[RecallResult]:
        """The result with the untrusted sources of everything that it shows."""
        shown = [*(fact.key for fact in result.facts), *(fact.key for fact in named)]
        return ToolOutput(result, taint=await tainted(context, shown))

    @tool(effect=Effect.READ, example={"text": "birthday of Anna"}, targets=read, shows_facts=True)
    async def recall(arguments: RecallArguments, context: ToolContext) -> ToolOutput[RecallResult]:
        """Look up remembered facts by words or meaning."""
        memory = memories.of(context.uid)
        if not arguments.text.strip():
            every = await memory.search("", MAX_LISTED + 1)
            return await sourced(context, _listed([Fact(key, value) for key, value in every]))
        found = await memory.recall(arguments.text, _COMPARED)
        best = max((fact.score for fact in found), default=0.0)
        least = max(_LEAST_SCORE, best * _LEAST_SHARE)
        fitting = [fact for fact in found if fact.score >= least]
        if fitting:
            return await sourced(context, _listed(fitting[:MAX_RECALLED]))
        near = found[:_NAMED]
        names = ", ".join(fact.key for fact in near)
        none = RecallResult(facts=[], truncated=False, note=f"no fact fits; remembered: {names or 'nothing'}")
        return await sourced(context, none, near)

    @tool(
        effect=Effect.MEMORY,
        idempotent=True,
        example={"key": "old locker number"},
        reconcile=forgotten,
        targets=deleted,
        candidates={"key": keys},
        only_existing=("key",),
    )
    async def forget(arguments: ForgetArguments, context: ToolContext) -> ToolOutput[Done]:
        """Forget a remembered fact."""
        fact, _ = await facts.meant(arguments.key, context)
        if fact is None:
            raise _unknown(arguments.key)
        sources = await memories.of(context.uid).sources([fact.key])
        await facts.record(context, fact.key, fact, sources, "")
        await memories.of(context.uid).delete(fact.key)
        return _forgotten(fact, _taint(sources))

    return remember, recall, forget


def _unknown(key: str) -> ToolError:
    return ToolError(f"nothing is remembered as {key!r}", reason="FACT_NOT_FOUND", field="key")


def content_id(value: JsonValue) -> str:
    """Identifies the value of a fact in the undo log."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


class _Facts:
    """Finds the fact that a key means, and records changes."""

    def __init__(self, memories: Memories, clock: Clock, embedder: Embedder, undo: UndoLog | None) -> None:
        self._memories = memories
        self._clock = clock
        self._embedder = embedder
        self._undo = undo
        self._decided: dict[tuple[str, str], tuple[str, Meant]] = {}  # by owner and call, the oldest first

    async def decided(self, key: str, context: ToolContext) -> Fact | None:
        """The fact that a call with this key means; the call itself will mean the same one."""
        meant = await self._find(key, context)
        self._decided[owner_of(context), context.call_id] = key, meant
        while len(self._decided) > _CALLS:
            del self._decided[next(iter(self._decided))]
        return meant[0]

    async def meant(self, key: str, context: ToolContext) -> Meant:
        """The fact if exactly one can be meant, and keys near the given one."""
        asked, (found, near) = self._decided.pop((owner_of(context), context.call_id), ("", (None, ())))
        if asked != key:
            return await self._find(key, context)
        # Its value may have changed since.
        there = await self._memories.of(context.uid).find(key if found is None else found.key)
        same = there is None if found is None else there is not None and there.key == found.key
        return (there, near) if same else await self._find(key, context)

    async def _find(self, key: str, context: ToolContext) -> Meant:
        memory = self._memories.of(context.uid)
        found = await memory.find(key)
        if found is not None:
            return found, ()
        others = {fact.key: fact for fact in await memory.recall(key, _COMPARED)}
        same = await same_facts(self._embedder, key, list(others))
        if len(same) == 1:
            return others[same[0]], ()
        near = [
            other for other in others if other in same or max(fit(key, other), fit(other, key)) >= Match.PART
        ]
        return None, tuple(near[:MAX_NEAR])

    async def record(
        self,
        context: ToolContext,
        key: str,
        before: Fact | None,
        sources: Mapping[str, FactSource],
        after: str,
    ) -> None:
        if self._undo is None:
            return
        content = None if before is None else canonical_json(before.value).encode()
        kept = content is None or len(content) <= self._undo.max_content_bytes
        await self._undo.record(
            Change(
                owner=owner_of(context),
                step_id=context.step_id,
                call_id=context.call_id,
                kind=ChangeKind.FACT,
                root="",
                path=key,
                before=content if kept else None,
                after=after,
                time=self._clock.time(),
                kept=kept,
                source=None if before is None else sources.get(key, BY_CLIENT),
            )
        )

    async def made(self, context: ToolContext) -> Change | None:
        """The change of this call, if the fact is as the call left it."""
        if self._undo is None:
            return None
        for change in await self._undo.find(owner_of(context), context.step_id, context.call_id):
            there = dict(await self._memories.of(context.uid).search(change.path, limit=1))
            now = content_id(there[change.path]) if change.path in there else ""
            if change.kind is ChangeKind.FACT and now == change.after:
                return change
        return None


def _before(change: Change) -> JsonValue:
    value: JsonValue = None if change.before is None else json.loads(change.before)
    return value


def _taint(sources: Mapping[str, FactSource]) -> tuple[str, ...]:
    """The untrusted sources of these facts, and the facts themselves as sources."""
    taint: tuple[str, ...] = ()
    for key, source in sources.items():
        taint = joined(taint, (fact_as_source(key), *source.taint) if source.taint else ())
    return taint


def _taint_before(change: Change) -> tuple[str, ...]:
    """The untrusted sources of the fact that a recorded change replaced."""
    if change.before is None and change.kept:
        return ()
    return _taint({change.path: unknown_source(change.path) if change.source is None else change.source})


def _remembered(
    key: str, value: JsonValue, before: JsonValue, near: Sequence[str], taint: tuple[str, ...]
) -> ToolOutput[Done]:
    line = _line(key, value)
    if before is not None:
        was = _short(before)
        effect = RecordedEffect("fact.changed", key, f"before {was}")
        return ToolOutput(Done(result=f"{line}, before {was}"), (effect,), taint)
    others = f"; similar: {', '.join(near)}" if near else ""
    effect = RecordedEffect("fact.remembered", key, _short(value))
    return ToolOutput(Done(result=f"{line}{others}"), (effect,), taint)


def _forgotten(fact: Fact, taint: tuple[str, ...]) -> ToolOutput[Done]:
    effect = RecordedEffect("fact.forgotten", fact.key, f"before {_short(fact.value)}")
    return ToolOutput(Done(result=f"forgot {fact.key}"), (effect,), taint)


def _listed(facts: Sequence[Fact]) -> RecallResult:
    entries: list[RecalledFact] = []
    room = MAX_LISTED_BYTES
    for fact in facts[:MAX_LISTED]:
        try:
            room -= json_size([fact.key, fact.value], room)
        except InvalidInputError:
            break
        entries.append(RecalledFact(key=fact.key, value=fact.value))
    note = "" if facts else "nothing is remembered"
    return RecallResult(facts=entries, truncated=len(entries) < len(facts), note=note)


def _plain(key: str) -> str:
    """The key as people write it: underscores and rows of spaces are one space."""
    return " ".join(key.replace("_", " ").split()) or key


def _same(one: JsonValue, other: JsonValue) -> bool:
    return display_json(one) == display_json(other)


def _line(key: str, value: JsonValue) -> str:
    return f"{key} = {_short(value)}"


def _short(value: JsonValue) -> str:
    return short_line(display_json(value), MAX_SHOWN_CHARS)
