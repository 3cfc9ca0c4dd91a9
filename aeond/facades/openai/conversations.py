"""Which run a request continues: by the id of a response, or by the messages of a chat."""

import json
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, TypeVar

from aeond.facades.openai.failures import ApiError, invalid
from aeond.facades.openai.parts import Prompt, Said
from aeond.facades.runs import json_or_text
from aeond_client import AsyncClient
from aeond_client.calls.run_calls import RunOptions
from aeond_client.connection.waiting import may_need_a_person, waits
from aeond_client.errors import NotFoundError
from aeond_client.events import Event
from aeond_client.records.judgements import Question
from aeond_client.records.runs import Run

MAX_CHATS: Final = 1_000
MAX_REQUEST_CHARS: Final = 100_000
Kept = TypeVar("Kept")
_ID: Final = re.compile(r"resp_([^_]{1,64})_([0-9]{1,15})_([0-9]{1,15})")


@dataclass(frozen=True, slots=True)
class Place:
    """The events of a run that belong to one answer: its own after `seq`, and those of the runs below after the time
    `since`, in milliseconds of Unix time.
    """

    run_id: str
    seq: int = 0
    since: int = 0

    @property
    def name(self) -> str:
        """The part of ids that names it."""
        return f"{self.run_id}_{self.seq}_{self.since}"

    def holds(self, event: Event) -> bool:
        """Whether an event that was read after `seq` belongs to it; runs below are read from their beginning."""
        return event.run_id == self.run_id or not event.seq or event.time * 1_000 >= self.since


@dataclass(frozen=True, slots=True)
class Asked:
    """What an answer ended with instead of a text: a question, an approval, or the cause of a suspension, of this run."""

    run_id: str
    request_id: str


class Conversations:
    """The place of each request. A response id is a place, so that it outlives this process; a chat sends all of its
    messages instead, of which the last MAX_CHATS conversations are recognised. A message answers the question with which
    the last answer ended, and no other.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._chats: OrderedDict[str, Place] = OrderedDict()
        self._asked: OrderedDict[str, Asked] = OrderedDict()  # by the names of places
        self._followers: Counter[str] = Counter()

    async def enter(self, client: AsyncClient, prompt: Prompt) -> Place:
        """The place of a new run, or that at which a run goes on; `leave` it at the end. AeondError; ApiError if the run
        waits for something else than words.
        """
        split = next(
            (index for index in range(len(prompt.said), 0, -1) if prompt.said[index - 1].role == "agent"), 0
        )
        earlier, new = prompt.said[:split], prompt.said[split:]
        if not any(one.role == "user" and one.text.strip() for one in new):
            raise invalid("The last message must be one of the user, with a text.", "messages")
        previous = _place(prompt.previous) if prompt.previous else self._chats.get(_key(earlier))
        if previous is not None:
            place = await self._continued(client, previous, prompt, new)
        else:
            place = await self._begun(client, "", prompt, flat(prompt.said))
        self._followers[place.run_id] += 1
        return place

    def leave(self, place: Place) -> bool:
        """Whether no other request follows the run; several do with the same request id."""
        self._followers[place.run_id] -= 1
        if self._followers[place.run_id]:
            return False
        del self._followers[place.run_id]
        return True

    def remember(self, prompt: Prompt, place: Place, answer: str, asked: Asked | None) -> None:
        """Recognises the conversation when it continues after this answer."""
        if asked is not None:
            _keep(self._asked, place.name, asked)
        if not prompt.previous:
            _keep(self._chats, _key((*prompt.said, Said("agent", answer))), place)

    async def _begun(self, client: AsyncClient, session_id: str, prompt: Prompt, text: str) -> Place:
        if len(text) > MAX_REQUEST_CHARS:
            raise ApiError(
                400, "context_length_exceeded", f"A request has at most {MAX_REQUEST_CHARS} characters."
            )
        if not session_id:
            session = await client.create_session(request_id=prompt.request_id)
            session_id = session.session_id
        options = RunOptions(workspace=prompt.workspace, session_id=session_id)
        run = await client.create_run(text, options, request_id=prompt.request_id)
        return Place(run.run_id)

    async def _continued(
        self, client: AsyncClient, previous: Place, prompt: Prompt, new: Sequence[Said]
    ) -> Place:
        try:
            run = await client.get_run(previous.run_id)
        except NotFoundError as error:
            raise _no_response(prompt.previous) from error
        if run.run_id in self._followers:
            raise ApiError(
                409, "conversation_busy", "Another request of this conversation is being answered."
            )
        here = Place(run.run_id, run.last_seq, int(self._clock() * 1_000))
        asked = self._asked.get(previous.name)
        if run.state.ended:
            # An answer that was composed after the question, while no request was open, has not been delivered yet.
            if asked is not None or await _asked_after(client, previous):
                return here
            return await self._begun(client, run.session_id, prompt, flat(new))
        if asked is not None:
            waiting = await client.get_run(asked.run_id)
            for question in waiting.questions:
                if question.question_id == asked.request_id:
                    value = value_of(question, _last_words(new))
                    await client.answer_run(waiting.run_id, value, question.question_id)
                    return here
            if waits(waiting) and asked_by(waiting) == asked:
                raise _needs_a_person(waiting)
        return here  # a run that waits for something else ends the next answer with it


def asked_by(run: Run) -> Asked:
    """What a run that waits for a person asks first."""
    if run.questions:
        return Asked(run.run_id, run.questions[0].question_id)
    if run.approvals:
        return Asked(run.run_id, run.approvals[0].approval_id)
    return Asked(run.run_id, run.suspend_reason)


def value_of(question: Question, text: str) -> Any:
    """The answer in these words: an option or its number, text where text is asked for, otherwise JSON."""
    said = text.strip()
    if question.options:
        same = [one for one in question.options if one.casefold() == said.casefold()]
        if not same and said.isdecimal() and 0 < int(said) <= len(question.options):
            return question.options[int(said) - 1]
        return same[0] if same else said
    if question.schema.get("type", "string") == "string":
        return text
    return json_or_text(text)


def flat(said: Sequence[Said]) -> str:
    """Messages as the text of one request: the last one, with the earlier ones before it."""
    if len(said) == 1:
        return said[0].text
    rules = [one.text for one in said if one.role == "system"]
    talk = [one for one in said if one.role != "system"]
    parts = [f"Instructions: {rule}" for rule in rules]
    if len(talk) > 1:
        names = {"user": "User", "agent": "Assistant"}
        parts.append("The conversation so far:")
        parts += [f"{names[one.role]}: {one.text}" for one in talk[:-1]]
        parts.append("The request:")
    return "\n\n".join([*parts, talk[-1].text])


def _last_words(said: Sequence[Said]) -> str:
    """The text of the last message of the user."""
    return next(one.text for one in reversed(said) if one.role == "user" and one.text.strip())


def _keep(kept: OrderedDict[str, Kept], key: str, value: Kept) -> None:
    kept[key] = value
    while len(kept) > MAX_CHATS:
        kept.popitem(last=False)


def _key(said: Sequence[Said]) -> str:
    return sha256(json.dumps([[one.role, one.text] for one in said]).encode()).hexdigest()


def _place(response_id: str) -> Place:
    found = _ID.fullmatch(response_id)
    if found is None:
        raise _no_response(response_id)
    return Place(found[1], int(found[2]), int(found[3]))


def _no_response(response_id: str) -> ApiError:
    return ApiError(
        404,
        "previous_response_not_found",
        f"There is no response {response_id!r} of a run.",
        param="previous_response_id",
    )


def _needs_a_person(waiting: Run) -> ApiError:
    """The error for a message to a run that no message continues."""
    if waiting.approvals:
        message = f"The run waits for an approval, which no message gives: aeonctl approvals {waiting.run_id}"
        return ApiError(409, "approval_required", message)
    message = f"The run waits: aeonctl show {waiting.run_id} says what it waits for."
    return ApiError(409, "run_suspended", message)


async def _asked_after(client: AsyncClient, place: Place) -> bool:
    """Whether the ended run asked a person in the events of this place."""
    async with client.watch(place.run_id, place.seq, children=True) as events:
        async for event in events:
            if place.holds(event) and may_need_a_person(event):
                return True
    return False
