"""Builds the session part of the prompt: within an exact number of tokens, compacted where it grew too long."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.messages import Message, Role
from aeond.domain.sessions import SessionContext, SessionDigest
from aeond.frozen import frozen
from aeond.orchestration.context.constraints import is_standing, newest, without_repeats
from aeond.orchestration.context.digests import Exchange, binding_lines, exchanges_of, extend
from aeond.orchestration.context.shortening import shorten
from aeond.ports import LLMAdapter
from aeond.ports.sessions import SessionHistory

MAX_SHARE: Final = 3  # no more than a third of the model's context is spent on the session
HOPELESS_CHARS: Final = 16  # a token is hardly ever longer: what has more characters is not worth counting
# Characters per token of room that a compacted session is given: together about half of it, so that it need
# not be compacted again soon, and what binds has the rest.
WHOLE_CHARS: Final = 1.5
SUMMARY_CHARS: Final = 0.75
MIN_ANSWER_CHARS: Final = 120
MAX_STANDING_CHARS: Final = 600
MAX_ROUNDS: Final = 24


@frozen
class SessionContextBuilder:
    """The SessionContexts over a SessionHistory and the tokenizer of an LLMAdapter.

    A session that fits is included verbatim. Of one that does not, the oldest exchanges become a digest,
    which is kept with the session: its goal, binding statements and open questions stay verbatim, the rest
    is summarised. Room is made first in the summary, then in the whole exchanges but for the last, then in
    its answer, and only then in the statements and questions that are kept, the oldest first.
    """

    history: SessionHistory
    llm: LLMAdapter
    max_tokens: int

    async def tell(self, session_id: str, run_id: str) -> SessionContext:
        """The session part of the run's prompts, possibly empty. Errors of the history and the tokenizer propagate."""
        digest, context = await self._compose(session_id, run_id)
        if digest is not None:
            await self.history.keep_digest(session_id, digest)
        return context

    async def preview(self, session_id: str) -> SessionContext:
        """See ports.SessionContexts."""
        return (await self._compose(session_id, ""))[1]

    async def _compose(self, session_id: str, run_id: str) -> tuple[SessionDigest | None, SessionContext]:
        """The context, and the digest it rests on if that is a new one."""
        past = await self.history.read(session_id, run_id)
        exchanges = exchanges_of(past)
        if not exchanges and not past.digest.through:
            return None, SessionContext(max_tokens=self._room)
        told = _Told(past.digest, exchanges)
        if (tokens := await self._cost(told)) is not None:
            return None, told.context(tokens, self._room, past.taint)
        place = _place_of_latest(exchanges, int(self._room * WHOLE_CHARS))
        longer = extend(past.digest, exchanges[:place], exchanges[place:])
        summary = newest(longer.summary.splitlines(), int(self._room * SUMMARY_CHARS))
        longer = replace(longer, summary="\n".join(summary), taint=past.taint)
        told = _Told(longer, exchanges[place:])
        for _ in range(MAX_ROUNDS):
            if (tokens := await self._cost(told)) is not None:
                return longer, told.context(tokens, self._room, past.taint)
            shorter = told.shorter()
            if shorter is None:
                break
            told = shorter
        return longer, SessionContext(max_tokens=self._room)

    @property
    def _room(self) -> int:
        return min(self.max_tokens, self.llm.capabilities.context_length // MAX_SHARE)

    async def _cost(self, told: "_Told") -> int | None:
        """What it costs as a prompt, if it fits."""
        text = told.text
        if len(text) > self._room * HOPELESS_CHARS:
            return None
        tokens = await self.llm.count_tokens((Message(Role.USER, text),))
        return tokens if tokens <= self._room else None


@frozen
class _Told:
    """One way to tell a session: what of the digest, how many exchanges, and how much of their answers."""

    digest: SessionDigest
    whole: tuple[Exchange, ...]
    summary_lines: int = 1_000
    kept_lines: int = 1_000
    answer_chars: int = 4_000

    @property
    def kept(self) -> tuple[str, ...]:
        goal = (self.digest.goal,) if self.digest.goal else ()
        return (*goal, *self._kept, *self._questions)

    @property
    def standing(self) -> tuple[str, ...]:
        """What the user said that holds from then on, the newest of it where that is much."""
        lines = without_repeats(
            line for line in (*self._kept, *binding_lines(self.whole)) if is_standing(line)
        )
        return newest(lines, MAX_STANDING_CHARS)

    @property
    def text(self) -> str:
        parts = []
        if self.digest.through:
            parts.append(f"The conversation began with this request:\n{self.digest.goal}")
            if self._kept:
                parts.append("The user said, and it holds:\n" + _list(self._kept, len(self.digest.kept)))
            if self._questions:
                parts.append("Still open:\n" + _list(self._questions, len(self.digest.questions)))
            if self._summary:
                parts.append("Then, in short:\n" + "\n".join(self._summary))
        if self.whole:
            last = "\n".join(self._spoken(exchange) for exchange in self.whole)
            parts.append(f"Most recently:\n{last}" if parts else last)
        return "\n\n".join(parts)

    def context(self, tokens: int, max_tokens: int, taint: tuple[str, ...]) -> SessionContext:
        return SessionContext(
            text=self.text,
            tokens=tokens,
            max_tokens=max_tokens,
            kept=self.kept,
            standing=self.standing,
            digested_count=self.digest.exchange_count,
            whole_count=len(self.whole),
            taint=taint,
        )

    def shorter(self) -> "_Told | None":
        """The next shorter version; None when nothing more can be dropped."""
        if self._summary:
            return replace(self, summary_lines=len(self._summary) // 2)
        if len(self.whole) > 1:
            return self._digested(len(self.whole) - len(self.whole) // 2)
        if self.whole and self.answer_chars > MIN_ANSWER_CHARS:
            return replace(self, answer_chars=self.answer_chars // 2)
        if self.whole:
            return self._digested(1)
        most = max(len(self._kept), len(self._questions))
        return replace(self, kept_lines=most // 2) if most else None

    @property
    def _kept(self) -> tuple[str, ...]:
        return _last(self.digest.kept, self.kept_lines)

    @property
    def _questions(self) -> tuple[str, ...]:
        return _last(self.digest.questions, self.kept_lines)

    @property
    def _summary(self) -> tuple[str, ...]:
        return _last(self.digest.summary.splitlines(), self.summary_lines)

    def _spoken(self, exchange: Exchange) -> str:
        answer = "(no answer)" if exchange.answer is None else exchange.answer
        said = [("User", exchange.request)]
        for question, reply in exchange.asked:
            said += [("Assistant", question), ("User", reply)]
        said.append(("Assistant", answer))
        return "\n".join(f"{who}: {shorten(text, self.answer_chars)}" for who, text in said)

    def _digested(self, count: int) -> "_Told":
        """The same with the oldest whole exchanges moved into the digest, which keeps their binding statements."""
        old, whole = self.whole[:count], self.whole[count:]
        return replace(self, digest=extend(self.digest, old, whole), whole=whole, summary_lines=0)


def _place_of_latest(exchanges: Sequence[Exchange], max_chars: int) -> int:
    """Where the last exchanges begin that fit into so many characters: at least one, and all from the first
    that is still to be answered, for the digest never looks back."""
    total = 0
    place = len(exchanges)
    while place:
        exchange = exchanges[place - 1]
        total += exchange.chars
        if total > max_chars and place < len(exchanges):
            break
        place -= 1
    return min([place, *(index for index, exchange in enumerate(exchanges) if exchange.open)])


def _last(lines: Sequence[str], count: int) -> tuple[str, ...]:
    return tuple(lines[max(0, len(lines) - count) :])


def _list(lines: Sequence[str], total: int) -> str:
    left_out = total - len(lines)
    note = [f"({left_out} older ones are left out)"] if left_out else []
    return "\n".join([*note, *(f"- {line}" for line in lines)])
