"""Which run a request continues: by the id of a response, or by the messages of a chat."""

import json
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from aeond.facades.openai.failures import ApiError, invalid
from aeond.facades.openai.parts import Prompt, Said
from aeond.facades.runs import waiting_run
from aeond_client import AsyncClient
from aeond_client.calls.run_calls import RunOptions
from aeond_client.connection.waiting import may_need_a_person
from aeond_client.errors import NotFoundError
from aeond_client.events import Event
from aeond_client.records.judgements import Question

MAX_CHATS: Final = 1_000
MAX_REQUEST_CHARS: Final = 100_000
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


class Conversations:
    """The place of each request. A response id is a place, so that it outlives this process; a chat sends all of its
    messages instead, of which the last MAX_CHATS conversations are recognised.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._chats: OrderedDict[str, Place] = OrderedDict()
        self._followed: set[str] = set()

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
            place = await self._continued(client, previous, prompt, flat(new))
        else:
            place = await self._begun(client, "", prompt, flat(prompt.said))
        self._followed.add(place.run_id)
        return place

    def leave(self, place: Place) -> None:
        self._followed.discard(place.run_id)

    def remember(self, prompt: Prompt, place: Place, answer: str) -> None:
        """Recognises the chat when it continues after this answer."""
        if prompt.previous:
            return
        self._chats[_key((*prompt.said, Said("agent", answer)))] = place
        while len(self._chats) > MAX_CHATS:
            self._chats.popitem(last=False)

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

    async def _continued(self, client: AsyncClient, previous: Place, prompt: Prompt, text: str) -> Place:
        try:
            run = await client.get_run(previous.run_id)
        except NotFoundError as error:
            raise _no_response(prompt.previous) from error
        if run.run_id in self._followed:
            raise ApiError(
                409, "conversation_busy", "Another request of this conversation is being answered."
            )
        here = Place(run.run_id, run.last_seq, int(self._clock() * 1_000))
        if run.state.ended:
            # An answer that was composed after the question, while no request was open, has not been delivered yet.
            if await _asked_after(client, previous):
                return here
            return await self._begun(client, run.session_id, prompt, text)
        waiting = await waiting_run(client, run)
        if waiting is None:
            return here
        if waiting.questions:
            question = waiting.questions[0]
            await client.answer_run(waiting.run_id, value_of(question, text), question.question_id)
            return here
        if waiting.approvals:
            raise ApiError(
                409,
                "approval_required",
                f"The run waits for an approval, which no message gives: aeonctl approvals {waiting.run_id}",
            )
        raise ApiError(
            409, "run_suspended", f"The run waits: aeonctl show {waiting.run_id} says what it waits for."
        )


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
    try:
        return json.loads(text)
    except ValueError:
        return text  # the daemon says what it expects


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


async def _asked_after(client: AsyncClient, place: Place) -> bool:
    """Whether the ended run asked a person in the events of this place."""
    async with client.watch(place.run_id, place.seq, children=True) as events:
        async for event in events:
            if place.holds(event) and may_need_a_person(event):
                return True
    return False
