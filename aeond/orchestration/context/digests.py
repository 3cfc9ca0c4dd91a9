"""Sessions that grew long: their oldest exchanges become a digest, whose goal, statements and open questions are
quoted."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.messages import Role
from aeond.domain.sessions import SessionDigest, SessionPast
from aeond.frozen import frozen
from aeond.orchestration.context.statements import (
    comparison_key,
    is_question,
    last_question,
    line_of,
    newest,
    sentences,
    statements,
    without_repeats,
)

# A digest is bounded whatever is said: beyond this the oldest lines go.
MAX_KEPT_CHARS: Final = 16_000
MAX_SUMMARY_CHARS: Final = 3_000
_EXCERPT_CHARS: Final = 110


@frozen
class Exchange:
    """A request and its answer; without one it is `open`, or its run was cancelled. `asked` are the questions in
    between, each with the user's answer."""

    number: int
    request: str
    answer: str | None = None
    open: bool = False
    asked: tuple[tuple[str, str], ...] = ()

    @property
    def by_user(self) -> tuple[str, ...]:
        """The user's words: the request, and the answers to questions."""
        return (self.request, *(answer for _, answer in self.asked))

    @property
    def chars(self) -> int:
        """The length of everything said."""
        return sum(map(len, (*self.by_user, *(question for question, _ in self.asked), self.answer or "")))


def exchanges_of(past: SessionPast) -> tuple[Exchange, ...]:
    """Messages by run, in the order of the requests."""
    answers = {m.run_id: m.text for m in past.messages if m.role is Role.AGENT and not m.of_question}
    return tuple(
        Exchange(m.number, m.text, answers.get(m.run_id), m.run_id in past.open_runs, _asked(past, m.run_id))
        for m in past.messages
        if m.role is Role.USER and not m.of_question
    )


def _asked(past: SessionPast, run_id: str) -> tuple[tuple[str, str], ...]:
    said = [message for message in past.messages if message.run_id == run_id and message.of_question]
    by_agent = (message.text for message in said if message.role is Role.AGENT)
    by_user = (message.text for message in said if message.role is Role.USER)
    return tuple(zip(by_agent, by_user, strict=False))


def extend(digest: SessionDigest, old: Sequence[Exchange], later: Sequence[Exchange]) -> SessionDigest:
    """The digest with the exchanges that come next in it. `later` are those after them: they may settle
    what was open."""
    if not old:
        return digest
    kept = [*digest.kept, *statements_of(old)]
    unanswered = [line_of(exchange.request) for exchange in old if exchange.answer is None]
    questions = [*digest.questions, *unanswered, *_unheard(old, later)]
    settled = {comparison_key(e.request) for e in (*old, *later) if e.answer is not None}
    summary = [*digest.summary.splitlines(), *map(_excerpt, old)]
    return replace(
        digest,
        through=old[-1].number,
        exchange_count=digest.exchange_count + len(old),
        goal=digest.goal or line_of(old[0].request),
        kept=newest(without_repeats(kept), MAX_KEPT_CHARS),
        questions=newest(
            without_repeats(line for line in questions if comparison_key(line) not in settled), MAX_KEPT_CHARS
        ),
        summary="\n".join(newest(summary, MAX_SUMMARY_CHARS)),
    )


def statements_of(exchanges: Iterable[Exchange]) -> list[str]:
    """The user's statements in these exchanges."""
    return [line for exchange in exchanges for text in exchange.by_user for line in statements(text)]


def _unheard(old: Sequence[Exchange], later: Sequence[Exchange]) -> list[str]:
    """What the model asked and the user passed over with a question of their own."""
    following = [exchange.request for exchange in (*old[1:], *later)]
    return [
        question
        for exchange, reply in zip(old, following, strict=False)
        if (question := last_question(exchange.answer or "")) and all(map(is_question, sentences(reply)))
    ]


def _excerpt(exchange: Exchange) -> str:
    answer = "no answer" if exchange.answer is None else _beginning(exchange.answer)
    return f"- {_beginning(exchange.request)} -> {answer}"


def _beginning(text: str) -> str:
    line = " ".join(text[: 4 * _EXCERPT_CHARS].split())
    return line if len(line) <= _EXCERPT_CHARS else line[: _EXCERPT_CHARS - 3].rstrip() + "..."
