"""Links, sessions, and the requests that only the page sends."""

from dataclasses import dataclass, replace

import pytest

from aeon_web.access import KEY_HEADER, LINK_SECONDS, MAX_LINKS, MAX_SESSIONS, Access, Session
from aeon_web.exchange import Request


@dataclass
class Clock:
    """Seconds that pass when a test says so."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def token_of(link: str) -> str:
    return link.rpartition("#token=")[2]


def with_secrets(access: Access, session: Session) -> Request:
    cookie = access.cookie_of(session).partition(";")[0]
    others = 'other=1; malformed={"a", "b"}; empty'
    return Request("POST", "/api/x", {"cookie": f"{others}; {cookie}", KEY_HEADER: session.key})


def test_a_link_begins_one_session() -> None:
    """A token is used up by its first use, and its secrets differ from it and from each other."""
    access = Access(80)
    token = token_of(access.new_link())
    session = access.begin(token)
    assert session is not None
    assert len({token, session.key, session.cookie}) == 3
    assert access.begin(token) is None
    assert access.admits(with_secrets(access, session))


def test_a_link_is_valid_for_ten_minutes() -> None:
    """After its time a link begins nothing, and stays useless."""
    clock = Clock()
    access = Access(80, clock)
    early, late = token_of(access.new_link()), token_of(access.new_link())
    clock.now = LINK_SECONDS
    assert access.begin(early) is not None
    clock.now += 1
    assert access.begin(late) is None
    clock.now = 0.0
    assert access.begin(late) is None


def test_links_and_sessions_are_limited() -> None:
    """Beyond the limits the oldest link and the oldest session end."""
    access = Access(80)
    links = [token_of(access.new_link()) for _ in range(MAX_LINKS + 1)]
    assert access.begin(links[0]) is None
    sessions = [access.begin(token_of(access.new_link())) for _ in range(MAX_SESSIONS + 1)]
    admitted = [access.admits(with_secrets(access, one)) for one in sessions if one is not None]
    assert admitted == [False, *[True] * MAX_SESSIONS]


def test_sessions_of_one_browser_do_not_replace_each_other() -> None:
    """A browser that has the cookies of all sessions is admitted with the key of each; a later session takes the name of
    the cookie of one that was dropped, so that a browser has one for each session at most.
    """
    access = Access(80)
    jar: dict[str, str] = {}
    keys = []
    for _ in range(3 * MAX_SESSIONS):
        session = access.begin(token_of(access.new_link()))
        assert session is not None
        name, _, value = access.cookie_of(session).partition(";")[0].partition("=")
        jar[name] = value
        keys.append(session.key)
    cookie = "; ".join(f"{name}={value}" for name, value in jar.items())
    headers = [{"cookie": cookie, KEY_HEADER: key} for key in keys[-MAX_SESSIONS:]]
    assert all(access.admits(Request("POST", "/api/x", one)) for one in headers)
    assert len(jar) == MAX_SESSIONS


def test_both_secrets_are_needed() -> None:
    """Neither the cookie nor the key alone is admitted, nor those of two sessions together."""
    access = Access(80)
    one, other = access.begin(token_of(access.new_link())), access.begin(token_of(access.new_link()))
    assert one is not None
    assert other is not None
    for session in (
        replace(one, cookie=""),
        replace(one, key=""),
        replace(one, key=other.key),
        replace(one, number=other.number),
        replace(one, number=other.number, key=other.key),
        replace(one, cookie="", key=""),
    ):
        assert not access.admits(with_secrets(access, session))


def test_the_cookie_is_for_the_page_alone() -> None:
    """Scripts cannot read the cookie, other sites do not cause it to be sent, and its name has the port."""
    access = Access(8765)
    assert access.cookie_of(Session(3, "c", "k")) == "aeon-8765-3=c; HttpOnly; SameSite=Strict; Path=/api"


@pytest.mark.parametrize(
    ("host", "ours"),
    [
        ("127.0.0.1:80", True),
        ("127.0.0.1", False),
        ("localhost:80", False),
        ("evil.example:80", False),
        ("", False),
    ],
)
def test_only_its_own_name_is_accepted(host: str, ours: bool) -> None:
    """The host of a request must be exactly the address of the server."""
    assert Access(80).is_ours(Request("GET", "/", {"host": host})) is ours


@pytest.mark.parametrize(
    ("headers", "from_page"),
    [
        ({"origin": "http://127.0.0.1:80"}, True),
        ({"origin": "http://127.0.0.1:80", "sec-fetch-site": "same-origin"}, True),
        ({"origin": "http://127.0.0.1:80", "sec-fetch-site": "same-site"}, False),
        ({"origin": "https://127.0.0.1:80"}, False),
        ({"origin": "null"}, False),
        ({}, False),
    ],
)
def test_calls_come_from_the_page(headers: dict[str, str], from_page: bool) -> None:
    """A call needs the origin of the page, and a browser that says more must not contradict it."""
    assert Access(80).is_from_page(Request("POST", "/api/x", headers)) is from_page
