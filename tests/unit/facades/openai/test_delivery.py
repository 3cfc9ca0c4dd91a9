"""How an answer is sent while it is made."""

import json
from collections.abc import AsyncGenerator, Sequence

import anyio
import pytest
from starlette.types import Message

from aeond.facades.openai import delivery
from aeond.facades.openai.chat import LAST, ChatForm
from aeond.facades.openai.delivery import COMMENT, Delivery
from aeond.facades.openai.failures import ApiError
from aeond.facades.openai.parts import Ended, Failed, Part, Started, Text
from aeond_client.errors import NoDaemonError

SECONDS = 10.0
WHOLE = (Started("x", 0), Text("hello"), Ended("stop"))


class Producer:
    """Parts one after another; then an error, or a wait without end. `ended` is set when the generator is closed."""

    def __init__(self, parts: Sequence[Part], *, error: Exception | None = None, waits: bool = False) -> None:
        self._parts = parts
        self._error = error
        self._waits = waits
        self.made = 0
        self.waiting = anyio.Event()
        self.ended = anyio.Event()

    async def parts(self) -> AsyncGenerator[Part, None]:
        try:
            for part in self._parts:
                self.made += 1
                yield part
            if self._error is not None:
                raise self._error
            if self._waits:
                self.waiting.set()
                await anyio.sleep_forever()
        finally:
            self.ended.set()


class HttpClient:
    """Receives a response; it hangs up when it has `leave_after` messages, 0 for never."""

    def __init__(self, leave_after: int = 0) -> None:
        self.messages: list[Message] = []
        self._leave_after = leave_after
        self._left = anyio.Event()

    async def receive(self) -> Message:
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.messages.append(message)
        if len(self.messages) == self._leave_after:
            self._left.set()
            await anyio.sleep_forever()  # a client that went away reads nothing more

    def leave(self) -> None:
        self._left.set()

    @property
    def status(self) -> int:
        status: int = self.messages[0]["status"]
        return status

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.messages[1:])


async def sent(producer: Producer, client: HttpClient, *, stream: bool) -> HttpClient:
    with anyio.fail_after(SECONDS):
        await _deliver(producer, client, stream)
        await producer.ended.wait()
    return client


async def test_a_whole_answer_is_one_object() -> None:
    """Without a stream, the answer is sent when it is complete."""
    client = await sent(Producer(WHOLE), HttpClient(), stream=False)
    assert client.status == 200
    assert json.loads(client.body)["choices"][0]["message"]["content"] == "hello"


async def test_a_stream_is_sent_part_by_part() -> None:
    """Each part is a message of its own, and only the last one ends the response."""
    client = await sent(Producer(WHOLE), HttpClient(), stream=True)
    assert [message["more_body"] for message in client.messages[1:]] == [True, True, False]
    assert client.body.decode().endswith(LAST)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("error", "status", "code"),
    [(ApiError(400, "unsupported", "x"), 400, "unsupported"), (NoDaemonError("x"), 503, "no_daemon")],
)
async def test_an_early_error_is_the_status(
    error: Exception, status: int, code: str, *, stream: bool
) -> None:
    """An error before the first part has a status and a body of its own, in a stream too."""
    client = await sent(Producer((), error=error), HttpClient(), stream=stream)
    assert (client.status, json.loads(client.body)["error"]["code"]) == (status, code)


async def test_a_late_error_is_an_event() -> None:
    """After the first part the status has been sent: the error is the last event."""
    client = await sent(Producer(WHOLE[:2], error=NoDaemonError("x")), HttpClient(), stream=True)
    assert client.status == 200
    assert '"no_daemon"' in client.body.decode().splitlines()[-2]
    assert not client.messages[-1]["more_body"]


async def test_parts_after_the_last_are_not_asked_for() -> None:
    """The answer ends with its last part, and so does the work."""
    producer = Producer((*WHOLE, Text("more")))
    await sent(producer, HttpClient(), stream=True)
    assert producer.made == len(WHOLE)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_hangs_up_ends_the_work(*, stream: bool) -> None:
    """When the client goes away, the generator of the parts is closed, although it is waiting."""
    producer, client = Producer(WHOLE[:2], waits=True), HttpClient()
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(_deliver, producer, client, stream)
            await producer.waiting.wait()
            client.leave()
            await producer.ended.wait()


async def _deliver(producer: Producer, client: HttpClient, stream: bool) -> None:
    await Delivery(producer.parts(), ChatForm("m"), stream=stream)(
        {"type": "http"}, client.receive, client.send
    )


async def test_a_slow_client_stops_the_producer() -> None:
    """No more than QUEUED_PARTS are made ahead of a client that does not read."""
    producer = Producer([Started("x", 0), *[Text("a")] * 100], waits=True)
    client = HttpClient(leave_after=2)
    await sent(producer, client, stream=True)
    assert producer.made <= delivery.QUEUED_PARTS + 3


async def test_silence_is_a_comment(monkeypatch: pytest.MonkeyPatch) -> None:
    """While nothing is made, comments are sent, so that clients do not take the silence for a dead connection."""
    monkeypatch.setattr(delivery, "QUIET_SECONDS", 0.01)
    client = HttpClient(leave_after=3)
    await sent(Producer(WHOLE[:1], waits=True), client, stream=True)
    assert COMMENT in [message["body"] for message in client.messages[1:]]


@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_has_a_deadline(monkeypatch: pytest.MonkeyPatch, *, stream: bool) -> None:
    """An answer that takes too long ends with an error, and its work ends."""
    # The first part of a stream must have been sent before.
    monkeypatch.setattr(delivery, "TURN_SECONDS", 1.0 if stream else 0.05)
    client = await sent(Producer(WHOLE[:1], waits=True), HttpClient(), stream=stream)
    assert b'"timed_out"' in client.body
    assert client.status == (200 if stream else 504)


def test_a_failed_part_is_an_error_body() -> None:
    """The body and the headers of an error are those of the API."""
    response = delivery.failure(ApiError(429, "overloaded", "wait", retry_after=3))
    assert (response.status_code, response.headers["retry-after"]) == (429, "3")
    assert json.loads(bytes(response.body)) == Failed(ApiError(429, "overloaded", "wait")).error.body
