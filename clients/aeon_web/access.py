"""Who may use the page: one-time links, sessions, and the requests that only the page itself can send.

Every program on the machine, and every web page in the browser, can reach a port of the loopback interface. A
session therefore has two secrets. The cookie cannot be read by scripts, but browsers send it to every port of the
host; the key is sent by the page's own script alone and belongs to its origin. A call needs both.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from aeon_web.exchange import Request

HOST = "127.0.0.1"
KEY_HEADER = "x-aeon-key"
LINK_SECONDS = 600.0
# The oldest is dropped beyond these.
MAX_LINKS = 8
MAX_SESSIONS = 8


@dataclass(frozen=True, slots=True)
class Session:
    """The two secrets of one browser tab, and the number in the name of its cookie."""

    number: int
    cookie: str
    key: str


class Access:
    """The links and sessions of the server on a port. `clock` is in seconds and never goes back."""

    def __init__(self, port: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.origin = f"http://{HOST}:{port}"
        self._authority = f"{HOST}:{port}"
        self._port = port
        self._clock = clock
        self._links: dict[str, float] = {}
        self._sessions: list[Session] = []
        self._begun = 0

    def new_link(self) -> str:
        """An address that opens the page once, within `LINK_SECONDS`. Its token is in the fragment, which browsers do
        not send and servers do not log.
        """
        token = secrets.token_urlsafe(32)
        self._links[token] = self._clock() + LINK_SECONDS
        while len(self._links) > MAX_LINKS:
            del self._links[next(iter(self._links))]
        return f"{self.origin}/#token={token}"

    def begin(self, token: str) -> Session | None:
        """A session in exchange for the token of a link, which is used up; None if it is not valid."""
        found = next((known for known in self._links if _same(known, token)), None)
        if found is None or self._links.pop(found) < self._clock():
            return None
        # The numbers of sessions that were dropped are used again, so that their cookies do not pile up in the browser.
        number = self._begun % MAX_SESSIONS
        self._begun += 1
        session = Session(number, secrets.token_urlsafe(32), secrets.token_urlsafe(32))
        self._sessions = [*self._sessions, session][-MAX_SESSIONS:]
        return session

    def cookie_of(self, session: Session) -> str:
        """The Set-Cookie header of a session; the browser forgets it when it ends."""
        return f"{self._cookie_name(session)}={session.cookie}; HttpOnly; SameSite=Strict; Path=/api"

    def is_ours(self, request: Request) -> bool:
        """Whether the request was made for this origin: other names of the host, as in DNS rebinding, are refused."""
        return request.headers.get("host", "") == self._authority

    def is_from_page(self, request: Request) -> bool:
        """Whether a browser says that the page itself made the request."""
        headers = request.headers
        return headers.get("origin") == self.origin and headers.get("sec-fetch-site") in {None, "same-origin"}

    def admits(self, request: Request) -> bool:
        """Whether the request has the cookie and the key of one session."""
        key = request.headers.get(KEY_HEADER, "")
        cookies = _cookies(request.headers.get("cookie", ""))
        # All are compared, also after a match: the time taken says nothing about which one it was.
        matches = [
            _same(one.key, key) and _same(one.cookie, cookies.get(self._cookie_name(one), ""))
            for one in self._sessions
        ]
        return any(matches)

    def _cookie_name(self, session: Session) -> str:
        """Browsers share the cookies of a host among its ports and among their tabs."""
        return f"aeon-{self._port}-{session.number}"


def _cookies(header: str) -> dict[str, str]:
    """The cookies by name. Those of other programs on the host are among them, and need not be well-formed."""
    pairs = (pair.strip().partition("=") for pair in header.split(";"))
    return {name: value for name, _, value in pairs}


def _same(known: str, given: str) -> bool:
    return secrets.compare_digest(known.encode(), given.encode("utf-8", "replace"))
