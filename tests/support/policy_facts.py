"""Facts of calls for tests of the policy, and strategies that generate them and rules."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from aeond.domain.policy import Access, CallFacts, Effect, Origin, Target, TargetKind

WORKSPACE = "/home/ann/work"


def write(path: str, *, exists: bool | None = False, **others: Any) -> CallFacts:
    """A call of write_file."""
    target = Target(TargetKind.FILE, path, Access.WRITE, exists)
    facts: dict[str, Any] = {"workspace": WORKSPACE, "targets": (target,), **others}
    return CallFacts("write_file", Effect.WRITE_CONTAINED, {"path": path}, **facts)


def of_class(effect: Effect, **others: Any) -> CallFacts:
    """A call of a tool of this class, with known targets."""
    return CallFacts("some_tool", effect, workspace=WORKSPACE, **others)


_NAMES = st.sampled_from(["a", "b.txt", ".bashrc", "src", ".git", "notes"])
_FILES = st.builds(
    lambda root, parts: "/".join((root, *parts)),
    st.sampled_from([WORKSPACE, "/home/ann", "/etc"]),
    st.lists(_NAMES, min_size=1, max_size=3),
)
_NAMES_BY_KIND = {
    TargetKind.FILE: _FILES,
    TargetKind.HOST: st.sampled_from(["example.org:443", "10.0.0.1:80", "a.example.org:443"]),
    TargetKind.COMMAND: st.sampled_from(["git", "/usr/bin/git", "/tmp/git", "rm"]),
    TargetKind.MEMORY: st.sampled_from(["door code", "bank account", "name"]),
}
TARGETS = st.sampled_from(list(TargetKind)).flatmap(
    lambda kind: st.builds(
        Target,
        st.just(kind),
        _NAMES_BY_KIND[kind],
        st.sampled_from(list(Access)),
        st.sampled_from([None, True, False]),
    )
)
FACTS = st.builds(
    CallFacts,
    tool=st.sampled_from(["write_file", "remember", "fetch", "run"]),
    effect=st.sampled_from(list(Effect)),
    arguments=st.dictionaries(st.sampled_from("abc"), st.integers(), max_size=3),
    targets=st.lists(TARGETS, max_size=3).map(tuple),
    targets_known=st.booleans(),
    taint=st.sampled_from([(), ("host:example.org:443",)]),
    origin=st.sampled_from(list(Origin)),
    uid=st.sampled_from([-1, 0, 1000]),
    workspace=st.sampled_from(["", WORKSPACE]),
    foreign=st.booleans(),
)

_CONDITIONS: dict[str, st.SearchStrategy[Any]] = {
    "tools": st.lists(st.sampled_from(["write_file", "re*", "*", "run"]), min_size=1, max_size=2),
    "classes": st.lists(st.sampled_from([str(effect) for effect in Effect]), min_size=1, max_size=4),
    "paths": st.lists(
        st.sampled_from(["**", "src/**", "/etc/*", "**/*.txt", "/home/ann/**"]), min_size=1, max_size=2
    ),
    "hosts": st.lists(st.sampled_from(["*.example.org", "example.org:443", "10.*"]), min_size=1, max_size=2),
    "commands": st.lists(st.sampled_from(["git", "/usr/bin/*", "rm"]), min_size=1, max_size=2),
    "memory": st.lists(st.sampled_from(["bank*", "*code", "Name"]), min_size=1, max_size=2),
    "tainted": st.booleans(),
    "origins": st.lists(st.sampled_from([str(origin) for origin in Origin]), min_size=1, max_size=2),
    "users": st.lists(st.sampled_from([0, 1000]), min_size=1, max_size=2),
}
RULES = st.fixed_dictionaries({}, optional=_CONDITIONS)
"""The conditions of a rule."""


def policy_text(profile: str, **rules: Sequence[dict[str, Any]]) -> str:
    """A policy file; the rules of each list are named by their place."""
    lines = [f'profile = "{profile}"']
    for verdict, given in rules.items():
        for number, conditions in enumerate(given, start=1):
            lines += [f"[[{verdict}]]", f'name = "own.{verdict}.{number}"', 'reason = "the test says so"']
            lines += [f"{key} = {_toml(value)}" for key, value in conditions.items()]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)
