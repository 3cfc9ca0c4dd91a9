"""The connection to the daemon, and the port on which Aider asks the model over it."""

import json
import os
import socket
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from typing import Any, Final

MAX_BODY_BYTES: Final = 4 << 20
OK: Final = 200

ShowPiece = Callable[[str], None]


class Connection:
    """The connection to the daemon: messages as lines of JSON. One question is asked at a time.

    `obey` receives the messages that are no answers, in a thread of its own. If the daemon closes the connection, the
    process ends. `refused` is true once a question was not answered; `asked` is the number of questions.
    """

    def __init__(self, wire: socket.socket, obey: Callable[[Any], None] = lambda _message: None) -> None:
        self._wire = wire
        self._reader = wire.makefile("rb")
        self._obey = obey
        self._answers: SimpleQueue[Any] = SimpleQueue()
        self._asking = threading.Lock()
        self._sending = threading.Lock()
        self.refused = False
        self.asked = 0

    def order(self) -> Any:
        """The first message. Afterwards all others are read in the background."""
        order = json.loads(self._reader.readline())
        threading.Thread(target=self._read, daemon=True).start()
        return order

    def send(self, message: Mapping[str, Any]) -> None:
        line = json.dumps(message).encode() + b"\n"
        with self._sending:
            self._wire.sendall(line)

    def ask(self, body: Any, show: ShowPiece) -> tuple[int, Any]:
        """The status and the body of the answer; `show` receives pieces of a streamed one before. If it raises, the
        model is stopped."""
        with self._asking:
            self.asked += 1
            self.send({"ask": body})
            stopped: OSError | None = None
            while True:
                match self._answers.get():
                    case {"piece": str(text)}:
                        if stopped is None:
                            try:
                                show(text)
                            except OSError as error:
                                stopped = error
                                self.send({"stop": True})
                    case answer:
                        if stopped is not None:
                            raise stopped
                        self.refused = self.refused or answer["status"] != OK
                        return answer["status"], answer["body"]

    def _read(self) -> None:
        for line in self._reader:
            message = json.loads(line)
            if "piece" in message or "status" in message:
                self._answers.put(message)
            else:
                self._obey(message)
        os._exit(1)


def serve(connection: Connection) -> int:
    """Answers requests of Aider on a port of the loopback in the background: the port."""

    class Questions(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            if not self.path.endswith("/chat/completions") or not 0 < size <= MAX_BODY_BYTES:
                self.send_error(400)
                return
            body = json.loads(self.rfile.read(size))
            try:
                if isinstance(body, dict) and body.get("stream"):
                    self._stream(body)
                else:
                    self._whole(*connection.ask(body, lambda _text: None))
            except OSError:  # Aider does not wait for the answer any more
                self.close_connection = True

        def _whole(self, status: int, body: Any) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _stream(self, body: Any) -> None:
            """As server-sent events, until the connection is closed."""
            begun = False

            def send(event: str) -> None:
                nonlocal begun
                if not begun:
                    begun = self.close_connection = True
                    self.send_response(200)
                    self.send_header("content-type", "text/event-stream")
                    self.send_header("connection", "close")
                    self.end_headers()
                self.wfile.write(f"data: {event}\n\n".encode())

            status, answer = connection.ask(body, lambda text: send(_chunk({"content": text}, None)))
            if status != OK and not begun:
                self._whole(status, answer)
                return
            if status == OK:
                send(_chunk({}, answer["choices"][0]["finish_reason"], answer["usage"]))
                send("[DONE]")

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the base class
            """Requests are not logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Questions)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return int(server.server_address[1])


def _chunk(delta: Mapping[str, Any], reason: str | None, usage: Any = None) -> str:
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": reason}
    chunk = {
        "id": "aeond",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "aeond",
        "choices": [choice],
    }
    return json.dumps(chunk | ({"usage": usage} if usage else {}))
