"""Addresses in canonical form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.capabilities.egress.urls import MAX_URL_CHARS, joined, parse_url
from aeond.errors import ToolError


@pytest.mark.parametrize(
    ("text", "canonical", "host_port"),
    [
        ("HTTP://EXAMPLE.org:80", "http://example.org/", "example.org:80"),
        (
            "https://example.org:443/a/../b?x=1&y=%20#z",
            "https://example.org/a/../b?x=1&y=%20",
            "example.org:443",
        ),
        ("https://example.org?q", "https://example.org/?q", "example.org:443"),
        ("http://example.org:8080/größe", "http://example.org:8080/gr%C3%B6%C3%9Fe", "example.org:8080"),
        ("https://BÜCHER.example/", "https://xn--bcher-kva.example/", "xn--bcher-kva.example:443"),
        ("http://[2606:4700:0::1]:81/", "http://[2606:4700::1]:81/", "[2606:4700::1]:81"),
        ("http://93.184.215.14/", "http://93.184.215.14/", "93.184.215.14:80"),
    ],
)
def test_an_address_has_one_form(text: str, canonical: str, host_port: str) -> None:
    """Scheme, host and port are canonical, the fragment is dropped, and other characters are percent-encoded."""
    url = parse_url(text)
    assert (str(url), url.host_port) == (canonical, host_port)


def test_long_addresses_are_refused() -> None:
    """An address has a maximum length."""
    with pytest.raises(ToolError, match="longer than"):
        parse_url(f"http://example.org/{'x' * MAX_URL_CHARS}")


@given(st.text(max_size=60), st.sampled_from(["http://", "https://a", "http://[", "//", ""]))
def test_any_text_is_an_address_or_an_error(text: str, beginning: str) -> None:
    """Whatever is written, the result is an address of ASCII characters that is its own canonical form, or an error."""
    try:
        url = parse_url(beginning + text)
    except ToolError as error:
        assert error.reason == "URL_INVALID"
    else:
        assert str(url).isascii()
        assert parse_url(str(url)) == url


def test_references_are_joined() -> None:
    """A reference on a page leads to an address; one that leads nowhere is empty."""
    base = parse_url("https://example.org/a/b")
    assert joined(base, "../c") == "https://example.org/c"
    assert joined(base, "//other.example/") == "https://other.example/"
    assert joined(base, "http://[") == ""
