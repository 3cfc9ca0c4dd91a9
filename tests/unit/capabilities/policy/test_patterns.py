"""Patterns of rules."""

import pytest

from aeond.capabilities.policy.patterns import MAX_PATTERN_CHARS, host_test, name_test, path_pattern

HOME = "/home/ann/work"


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("write_file", "write_file", True),
        ("write_file", "write_files", False),
        ("*", "", True),
        ("re*", "remember", True),
        ("*a*b*c", "xaxbxc", True),
        ("*a*b*c", "xbxaxc", False),
        ("ab*ab", "ab", False),
        ("[a]", "a", False),
    ],
)
def test_a_name_fits_as_a_whole(pattern: str, name: str, fits: bool) -> None:
    """A star stands for any characters and nothing else is special."""
    assert name_test(pattern)(name) is fits


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("src/**", f"{HOME}/src/a/b.py", True),
        ("src/**", f"{HOME}/src", True),
        ("src/**", f"{HOME}/srcs/a", False),
        ("src/**", "/home/ann/src/a", False),
        ("**/*.py", f"{HOME}/a.py", True),
        ("**/*.py", f"{HOME}/x/y/a.py", True),
        ("**/x/**/z", f"{HOME}/a/x/b/c/z", True),
        ("**/x/**/z", f"{HOME}/a/x/b/c/z/d", False),
        ("*", f"{HOME}/a/b", False),
        ("/etc/**", "/etc/passwd", True),
        ("/etc/*", "/etc/ssh/config", False),
        ("/**", "/anything/at/all", True),
    ],
)
def test_a_path_fits_part_by_part(pattern: str, path: str, fits: bool) -> None:
    """A relative pattern holds below the workspace, an absolute one everywhere."""
    assert path_pattern(pattern).matches(path, HOME) is fits
    assert path_pattern(pattern).covers(path, HOME) is fits


@pytest.mark.parametrize(
    ("pattern", "folder", "any_of_it", "all_of_it"),
    [
        ("private/**", f"{HOME}/", True, False),
        ("private/**", f"{HOME}/private/", True, True),
        ("private/**", f"{HOME}/private/a/", True, True),
        ("private/*", f"{HOME}/private/", True, False),
        ("private/**", f"{HOME}/public/", False, False),
        ("**", f"{HOME}/", True, True),
        ("**", "/home/ann/", True, False),
        ("**", "/home/bob/", False, False),
        ("/home/**", "/", True, False),
    ],
)
def test_a_folder_stands_for_everything_below_it(
    pattern: str, folder: str, any_of_it: bool, all_of_it: bool
) -> None:
    """A restriction concerns a search that could reach what it protects; permission must cover all of the search."""
    assert path_pattern(pattern).matches(folder, HOME) is any_of_it
    assert path_pattern(pattern).covers(folder, HOME) is all_of_it


def test_a_host_without_a_port_means_every_port() -> None:
    """A pattern names a port only if it should."""
    assert host_test("*.Example.org")("a.example.org:8443")
    assert not host_test("example.org:443")("example.org:80")
    assert not host_test("example.org")("example.org.evil.net:443")


@pytest.mark.parametrize(
    "pattern", ["", "a" * (MAX_PATTERN_CHARS + 1), "a\0b", "../x", "a//b", "a/./b", "a**/b", "/"]
)
def test_an_unusable_pattern_is_refused(pattern: str) -> None:
    """A pattern that could not mean what its author expects is an error."""
    with pytest.raises(ValueError, match=r"pattern|parts"):
        path_pattern(pattern)


def test_a_relative_pattern_fits_nothing_without_a_workspace() -> None:
    """Without a workspace there is nothing that a relative pattern could be relative to."""
    assert not path_pattern("**").matches("/a", "")
