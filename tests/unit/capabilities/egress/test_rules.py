"""The configured hosts."""

import pytest

from aeond.capabilities.egress.rules import EgressRules, host_pattern, host_port
from aeond.capabilities.egress.urls import parse_url


@pytest.mark.parametrize(
    "text",
    [
        "",
        "exa mple.org",
        "http://example.org",
        "*example.org",
        "a.*.b",
        "example.org:0",
        "*.",
        "a:b",
        "127.1",
    ],
)
def test_an_invalid_host_is_rejected(text: str) -> None:
    """An entry that is not a host, or has a pattern elsewhere than in front, is an error."""
    with pytest.raises(ValueError, match="has "):
        host_pattern(text)


@pytest.mark.parametrize("text", ["example.org", "*:80", "127.0.0.1", "[::1]", "127.0.0.1:99999"])
def test_local_services_are_exact(text: str) -> None:
    """A service of this machine needs a host and a port, without a pattern."""
    with pytest.raises(ValueError, match="has "):
        host_port(text)


def test_entries_are_canonical() -> None:
    """Entries match addresses whatever the spelling of both."""
    rules = EgressRules.of(["BÜCHER.example", "[2606:4700:0::1]"], ["[0::1]:80", "LocalHost:8080"])
    for url in (
        "http://xn--bcher-kva.example/",
        "http://[2606:4700::1]/",
        "http://[::1]/",
        "http://localhost:8080/",
    ):
        assert rules.allow(parse_url(url))
    assert rules.is_local(parse_url("http://[::1]/"))
    assert not rules.is_local(parse_url("http://bücher.example/"))
