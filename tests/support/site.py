"""A web server on a free port of the loopback interface, whose pages are whole responses."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.support.network import page

Answer = bytes | Callable[[str], bytes]
"""A response, or one made of what was received: the request line, the fields and the body."""


@contextmanager
def serving(answers: Mapping[str, Answer]) -> Iterator[str]:
    """Yields `127.0.0.1:PORT` of a server with these answers by path without the query; everything else is missing."""

    class Pages(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length).decode()
            received = f"{self.requestline}\n{self.headers}\n{body}"
            answer = answers.get(self.path.partition("?")[0], page(b"there is no such page", 404))
            self.wfile.write(answer if isinstance(answer, bytes) else answer(received))
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Requests are not written to the terminal."""

    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"):
        setattr(Pages, f"do_{method}", Pages.answer)

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Clients that leave early are expected."""

    with Server(("127.0.0.1", 0), Pages) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
