"""Builds the session part of the prompt: within an exact number of tokens, compacted where it grew too long."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.messages import Message, Role
from aeond.domain.sessions import SessionContext, SessionDigest
from aeond.frozen import frozen
from aeond.orchestration.context.digests import Exchange, exchanges_of, extend, statements_of
from aeond.orchestration.context.shortening import shorten
from aeond.orchestration.context.statements import comparison_key, newest, statements, without_repeats
from aeond.orchestration.prompts.run_prompts import NO_ANSWER, exchange_text, listed, session_text
from aeond.ports import LLMAdapter
from aeond.ports.sessions import SessionHistory

MAX_SHARE: Final = 3  # no more than a third of the model's context is spent on the session
HOPELESS_CHARS: Final = 16  # a token is hardly ever longer: what has more characters is not worth counting
# Characters per token of room that the parts of a compacted session are given. A token is about four characters:
# the goal and the exchanges to come have the rest, so that it need not be compacted again soon.
KEPT_CHARS: Final = 1.5
WHOLE_CHARS: Final = 1.0
SUMMARY_CHARS: Final = 0.5
MIN_TEXT_CHARS: Final = 120
MAX_STANDING_CHARS: Final = 600
MAX_ROUNDS: Final = 24


@frozen
class SessionContextBuilder:
    """The SessionContexts over a SessionHistory and the tokenizer of an LLMAdapter.

    A session that fits is included verbatim. Of one that does not, the oldest exchanges become a digest,
    which is kept with the session: its goal, the user's statements and the open questions are quoted, the rest
    is summarised. Of the statements and of the questions the newest are included. Room is made first in the summary,
    then in the whole exchanges but for the last, then in its length, and only then in the statements and questions.
    """

    history: SessionHistory
    llm: LLMAdapter
    max_tokens: int

    async def build(self, session_id: str, run_id: str) -> SessionContext:
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
        kept_chars = int(self._room * KEPT_CHARS)
        view = _SessionView(past.digest, exchanges, kept_chars)
        if (tokens := await self._cost(view)) is not None:
            return None, view.context(tokens, self._room, past.taint)
        place = _place_of_latest(exchanges, int(self._room * WHOLE_CHARS))
        longer = extend(past.digest, exchanges[:place], exchanges[place:])
        summary = newest(longer.summary.splitlines(), int(self._room * SUMMARY_CHARS))
        longer = replace(longer, summary="\n".join(summary), taint=past.taint)
        shorter: _SessionView | None = _SessionView(longer, exchanges[place:], kept_chars)
        for _ in range(MAX_ROUNDS):
            if shorter is None:
                break
            if (tokens := await self._cost(shorter)) is not None:
                return longer, shorter.context(tokens, self._room, past.taint)
            shorter = shorter.shorter()
        return longer, SessionContext(max_tokens=self._room)

    @property
    def _room(self) -> int:
        return min(self.max_tokens, self.llm.capabilities.context_length // MAX_SHARE)

    async def _cost(self, view: "_SessionView") -> int | None:
        """What it costs as a prompt, if it fits."""
        text = view.text
        if len(text) > self._room * HOPELESS_CHARS:
            return None
        tokens = await self.llm.count_tokens((Message(Role.USER, text),))
        return tokens if tokens <= self._room else None


@frozen
class _SessionView:
    """The part of a session that is shown: which lines of the digest, how many exchanges, and how much of each text in them."""

    digest: SessionDigest
    whole: tuple[Exchange, ...]
    kept_chars: int
    summary_lines: int = 1_000
    kept_lines: int = 1_000
    text_chars: int = 4_000

    @property
    def text(self) -> str:
        said, questions = self._statements, self._questions
        kept = self._newest(said)
        return session_text(
            self.digest.goal,
            listed(kept, len(said) - len(kept)),
            listed(questions, len(self.digest.questions) - len(questions)),
            "\n".join(self._summary),
            "\n".join(self._exchange(exchange) for exchange in self.whole),
        )

    def context(self, tokens: int, max_tokens: int, taint: tuple[str, ...]) -> SessionContext:
        goal = (self.digest.goal,) if self.digest.goal else ()
        said = without_repeats((*self.digest.kept, *statements_of(self.whole)))
        return SessionContext(
            text=self.text,
            tokens=tokens,
            max_tokens=max_tokens,
            kept=(*goal, *self._kept, *self._questions),
            standing=newest(said, MAX_STANDING_CHARS),
            digested_count=self.digest.exchange_count,
            whole_count=len(self.whole),
            taint=taint,
        )

    def shorter(self) -> "_SessionView | None":
        """The next shorter version; None when nothing more can be dropped."""
        if self._summary:
            return replace(self, summary_lines=len(self._summary) // 2)
        if len(self.whole) > 1:
            return self._digested(len(self.whole) - len(self.whole) // 2)
        if self.whole and self.text_chars > MIN_TEXT_CHARS:
            return replace(self, text_chars=self.text_chars // 2)
        if most := max(len(self._kept), len(self._questions)):
            return replace(self, kept_lines=most // 2)
        return self._digested(1) if self.whole else None

    @property
    def _statements(self) -> tuple[str, ...]:
        """The user's statements that no other part of the text quotes."""
        cut = [e for e in self.whole if any(len(text) > self.text_chars for text in e.by_user)]
        quoted = {
            comparison_key(line) for text in (self.digest.goal, *self._questions) for line in statements(text)
        }
        lines = without_repeats((*self.digest.kept, *statements_of(cut)))
        return tuple(line for line in lines if comparison_key(line) not in quoted)

    @property
    def _kept(self) -> tuple[str, ...]:
        return self._newest(self._statements)

    def _newest(self, lines: Sequence[str]) -> tuple[str, ...]:
        return _last(newest(lines, self.kept_chars), self.kept_lines)

    @property
    def _questions(self) -> tuple[str, ...]:
        return _last(self.digest.questions, self.kept_lines)

    @property
    def _summary(self) -> tuple[str, ...]:
        return _last(self.digest.summary.splitlines(), self.summary_lines)

    def _exchange(self, exchange: Exchange) -> str:
        answer = NO_ANSWER if exchange.answer is None else exchange.answer
        asked = [(self._cut(question), self._cut(reply)) for question, reply in exchange.asked]
        return exchange_text(self._cut(exchange.request), asked, self._cut(answer))

    def _cut(self, text: str) -> str:
        return shorten(text, self.text_chars)

    def _digested(self, count: int) -> "_SessionView":
        """The same with the oldest whole exchanges moved into the digest."""
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
