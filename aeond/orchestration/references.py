"""What a request means in its session: "that", "it" and "again" spelled out, by one constrained call."""

import json
from dataclasses import dataclass
from typing import Final

from aeond.domain.budgets import Grant
from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message, Role
from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.runs import RunSnapshot
from aeond.domain.sessions import SessionContext
from aeond.domain.values import JsonObject
from aeond.errors import AeondError
from aeond.orchestration.contracts import Resolved
from aeond.orchestration.metering import MeteredLLM, is_cut, problem_of
from aeond.orchestration.pointing import may_point_back
from aeond.orchestration.rewriting_checks import MAX_GROWTH_CHARS, is_quoted, what_is_wrong
from aeond.orchestration.session_telling import SessionTelling
from aeond.orchestration.strict_json import read_json
from aeond.ports import LLMAdapter

# Longer ones are letters and reports, which hardly point back, and would cost as much to write again.
MAX_REWRITTEN_CHARS: Final = 800
MAX_TOKENS: Final = 320
_MAX_POINTED_CHARS: Final = 120

_RULES: Final = """\
You make the user's last request complete, so that it can be understood without the conversation. Words \
that point back (it, that, they, there, he, the file, the result, again, the same, the second one) are \
replaced by what they point to, and what was left out is added; both are copied letter by letter from the \
conversation. Nothing else changes: a question stays a question, an order stays an order, a request that is \
complete stays as it is. You never answer and never do what is asked. Reply with JSON: \
{"points_to":"what is pointed to, or nothing","request":"the complete request"}"""

_EXAMPLES: Final = (
    (
        "Who is the king of Spain?",
        "Felipe VI",
        "And of Denmark?",
        "who is the king",
        "Who is the king of Denmark?",
    ),
    (
        "How heavy is an African elephant?",
        "About 6000 kg",
        "How long does it live?",
        "an African elephant",
        "How long does an African elephant live?",
    ),
    (
        "Close the window in the kitchen.",
        "The window is closed.",
        "Do the same in the bedroom.",
        "close the window",
        "Close the window in the bedroom.",
    ),
    (
        "How many guests come on Sunday?",
        "24 guests",
        "Order twice as many chairs as that.",
        "24",
        "Order twice as many chairs as 24.",
    ),
    (
        "Write a letter to my aunt.",
        "Dear aunt, how are you?",
        "Which metal melts first, tin or lead?",
        "",
        "Which metal melts first, tin or lead?",
    ),
    (
        "Write a letter to my aunt.",
        "Dear aunt, how are you?",
        "Now make it longer.",
        "the letter to my aunt",
        "Make the letter to my aunt longer.",
    ),
    (
        "Draw a horse.",
        "Here is a horse.",
        "Again, but with a rider.",
        "draw a horse",
        "Draw a horse with a rider.",
    ),
    (
        "When does the shop in Bonn open?",
        "At 9 in the morning.",
        "And on Sunday?",
        "when the shop in Bonn opens",
        "When does the shop in Bonn open on Sunday?",
    ),
    (
        "Which instruments have strings?",
        "Violin, harp and guitar.",
        "Who invented the second one?",
        "the harp",
        "Who invented the harp?",
    ),
    (
        "How much is the ticket in yen?",
        "4000 yen",
        "In roubles?",
        "how much is the ticket",
        "How much is the ticket in roubles?",
    ),
    (
        "Open photos/beach.png.",
        "It is open.",
        "Print the picture.",
        "photos/beach.png",
        "Print the picture photos/beach.png.",
    ),
)


@dataclass(frozen=True, slots=True)
class ModelReferences:
    """The References over a model and the telling of sessions.

    The model is asked once, and only where a session tells something and the request may point back. What
    it writes is checked: nothing new, nothing lost, a question still a question. A rewrite that fails, or
    changes nothing, gives way to the user's own words; if what they point to was found in the conversation,
    it is added to them in brackets. `note` says so in either case.
    """

    llm: LLMAdapter
    telling: SessionTelling

    async def resolve(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[Resolved]:
        said = snapshot.request.text
        try:
            context = await self.telling.tell(snapshot.request.session_id, snapshot.run_id)
        except AeondError as error:
            problem = problem_of(error)
            note = f"the session could not be told ({problem.reason})"
            return failure(problem, Resolved(said, note=note))
        if not context.text or not may_point_back(said):
            return success(Resolved(said, context.text))
        if len(said) > MAX_REWRITTEN_CHARS:
            return success(Resolved(said, context.text, "too long to be written again"))
        return await self._rewrite(said, context, grant)

    async def _rewrite(self, said: str, context: SessionContext, grant: Grant) -> Outcome[Resolved]:
        request = LLMRequest(
            rewriting_messages(context.text, said),
            max_tokens=MAX_TOKENS,
            schema=_schema(said) if self.llm.capabilities.schema else None,
        )
        answered = await MeteredLLM(self.llm, grant).generate(request)
        if answered.value is None:
            problem = answered.problem or Problem("REFERENCES_FAILED", "the model gave nothing")
            return failure(problem, Resolved(said, context.text, f"kept as said ({problem.reason})"))
        if is_cut(answered.value):
            return success(Resolved(said, context.text, "kept as said: the rewritten request was cut off"))
        return success(_judged(said, answered.value.text, context.text))


def rewriting_messages(conversation: str, said: str) -> tuple[Message, ...]:
    """Asks for the request as one would say it to somebody who had not listened."""
    messages = [Message(Role.SYSTEM, _RULES)]
    for asked, answer, request, points_to, complete in _EXAMPLES:
        reply = {"points_to": points_to, "request": complete}
        messages += [
            Message(Role.USER, _question(f"User: {asked}\nAssistant: {answer}", request)),
            Message(Role.AGENT, json.dumps(reply, separators=(",", ":"))),
        ]
    return (*messages, Message(Role.USER, _question(conversation, said)))


def _question(conversation: str, said: str) -> str:
    return f"{conversation}\n\nLast request: {said}"


def _schema(said: str) -> JsonObject:
    return {
        "type": "object",
        "properties": {
            "points_to": {"type": "string", "maxLength": _MAX_POINTED_CHARS},
            "request": {"type": "string", "minLength": 1, "maxLength": len(said) + MAX_GROWTH_CHARS},
        },
        "required": ["points_to", "request"],
        "additionalProperties": False,
    }


def _judged(said: str, text: str, conversation: str) -> Resolved:
    """What of the model's reply may go on."""
    parsed = read_json(text).value
    fields = parsed if isinstance(parsed, dict) else {}
    rewritten, points_to = (
        value.strip() if isinstance(value := fields.get(name), str) else ""
        for name in ("request", "points_to")
    )
    wrong = what_is_wrong(said, rewritten, conversation)
    if not wrong and rewritten != said.strip():
        return Resolved(rewritten, conversation)
    found = is_quoted(points_to, conversation) and not is_quoted(points_to, said)
    if found and len(points_to) <= _MAX_POINTED_CHARS:
        note = f"what it points to was added{': ' + wrong if wrong else ''}"
        return Resolved(f"{said.rstrip()} ({points_to})", conversation, note)
    return Resolved(said, conversation, f"kept as said: {wrong}" if wrong else "")
