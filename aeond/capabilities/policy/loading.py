"""Loads a policy: a shipped profile, and the rules of a file. Whatever is wrong with the file is an error.

InvalidInputError (reason POLICY_INVALID) says what is wrong and where; no policy results from a broken, missing, empty
or unreadable file.
"""

import hashlib
import json
import pwd
import tomllib
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aeond.capabilities.policy.patterns import PathPattern, PathPatterns, host_test, name_test, path_pattern
from aeond.capabilities.policy.rule_policy import RulePolicy
from aeond.capabilities.policy.rules import Rule, TargetTest
from aeond.domain.policy import Effect, Origin, TargetKind, Verdict
from aeond.errors import InvalidInputError
from aeond.plain_files import UnsafeFileError, read_trusted

PROFILES: Final = Path(__file__).parent / "profiles"
MAX_FILE_BYTES: Final = 256 * 1024
MAX_RULES: Final = 512
MEANING: Final = 1
"""The version of the evaluation itself: part of every policy's version."""


class Profile(StrEnum):
    """The shipped profiles, the strictest first."""

    OBSERVE = "observe"
    ASK = "ask"
    TRUSTED_FOLDER = "trusted-folder"


Texts = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=512)], ...], Field(min_length=1, max_length=256)
]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, strict=True)


class RuleText(_Part):
    """A rule as it is written. A condition that is not given is always satisfied."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9._-]{0,63}$")]
    reason: Annotated[str, Field(min_length=1, max_length=300)]
    tools: Texts | None = None
    classes: Annotated[tuple[Effect, ...], Field(min_length=1)] | None = None
    paths: Texts | None = None
    hosts: Texts | None = None
    commands: Texts | None = None
    memory: Texts | None = None
    tainted: bool | None = None
    origins: Annotated[tuple[Origin, ...], Field(min_length=1)] | None = None
    users: Annotated[tuple[str | int, ...], Field(min_length=1, max_length=256)] | None = None


class PolicyText(_Part):
    """The content of a policy file: the profile that it is based on, and further rules."""

    profile: Literal["observe", "ask", "trusted-folder"]
    deny: Annotated[tuple[RuleText, ...], Field(max_length=MAX_RULES)] = ()
    ask: Annotated[tuple[RuleText, ...], Field(max_length=MAX_RULES)] = ()
    allow: Annotated[tuple[RuleText, ...], Field(max_length=MAX_RULES)] = ()


def load_policy(profile: str, file: Path | None) -> RulePolicy:
    """The policy of a file, which names its own profile; without a file, the given profile alone."""
    if file is None:
        return _policy(f'profile = "{profile}"'.encode(), "")
    try:
        content = read_trusted(file, MAX_FILE_BYTES)
    except UnsafeFileError as error:
        raise _invalid(str(file), str(error)) from error
    return _policy(content, str(file))


def parse_policy(text: str) -> RulePolicy:
    """The policy of the text of a file."""
    return _policy(text.encode("utf-8", "surrogatepass"), "")


def _policy(content: bytes, file: str) -> RulePolicy:
    where = file or "the policy"
    own = _read(content, where)
    shipped = (PROFILES / f"{own.profile}.toml").read_bytes()
    base = _read(f'profile = "{own.profile}"\n'.encode() + shipped, own.profile)
    rules = [*_rules(base, own.profile), *_rules(own, where)]
    names = [rule.name for rule in rules]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise _invalid(where, f"two rules are named {twice[0]}: give each a name of its own")
    digest = hashlib.sha256(b"\0".join((str(MEANING).encode(), shipped, content))).hexdigest()
    return RulePolicy(rules, f"{own.profile}-{digest[:16]}", profile=own.profile, file=file)


def _read(content: bytes, where: str) -> PolicyText:
    try:
        table = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _invalid(where, f"it is not valid TOML: {error}") from error
    if "profile" not in table:
        known = ", ".join(Profile)
        raise _invalid(where, f'it does not name its profile: begin it with profile = "..." (one of {known})')
    try:
        # Via JSON: strict about types, but accepts a TOML list as a tuple and a string as an enum value.
        return PolicyText.model_validate_json(json.dumps(table, default=str))
    except ValidationError as error:
        raise _invalid(where, "; ".join(_mistakes(error))) from None


def _mistakes(error: ValidationError) -> list[str]:
    """The first mistakes, each with its place: the list, the number of the rule, and the key."""
    found = []
    for one in error.errors(include_url=False)[:10]:
        place = ".".join(str(part + 1) if isinstance(part, int) else part for part in one["loc"])
        message = one["msg"].removeprefix("Value error, ")
        found.append(f"{place}: {message[:1].lower()}{message[1:]}")
    return found


def _rules(text: PolicyText, where: str) -> list[Rule]:
    written = ((Verdict.DENY, text.deny), (Verdict.ASK, text.ask), (Verdict.ALLOW, text.allow))
    return [_rule(rule, verdict, where) for verdict, rules in written for rule in rules]


def _rule(text: RuleText, verdict: Verdict, where: str) -> Rule:
    try:
        return Rule(
            text.name,
            verdict,
            text.reason,
            text.model_dump(mode="json", exclude={"name", "reason"}, exclude_none=True),
            _any(text.tools, name_test),
            None if text.classes is None else frozenset(text.classes),
            _targets(text, verdict),
            text.tainted,
            None if text.origins is None else frozenset(text.origins),
            None if text.users is None else frozenset(map(_uid, text.users)),
        )
    except ValueError as error:
        raise _invalid(where, f"rule {text.name}: {error}") from error


def _targets(text: RuleText, verdict: Verdict) -> dict[TargetKind, TargetTest]:
    tests: dict[TargetKind, TargetTest] = {}
    if text.paths is not None:
        patterns = [path_pattern(pattern) for pattern in text.paths]
        tests[TargetKind.FILE] = _covering(patterns) if verdict is Verdict.ALLOW else _matching(patterns)
    if (hosts := _any(text.hosts, host_test)) is not None:
        tests[TargetKind.HOST] = lambda target, _facts: hosts(target.name)
    if (commands := _any(text.commands, name_test)) is not None:
        # A restriction of `rm` holds for /tmp/rm, too; permission for it does not.
        bare = verdict is not Verdict.ALLOW
        tests[TargetKind.COMMAND] = lambda target, _facts: (
            commands(target.name) or (bare and commands(target.name.rpartition("/")[2]))
        )
    if (keys := _any(text.memory and tuple(key.casefold() for key in text.memory), name_test)) is not None:
        tests[TargetKind.MEMORY] = lambda target, _facts: keys(target.name.casefold())
    return tests


def _covering(patterns: Sequence[PathPattern]) -> TargetTest:
    return lambda target, facts: any(pattern.covers(target.name, facts.workspace) for pattern in patterns)


def _matching(patterns: Sequence[PathPattern]) -> TargetTest:
    match = PathPatterns(patterns).match
    return lambda target, facts: match(target.name, facts.workspace)


def _any(
    patterns: Sequence[str] | None, compiled: Callable[[str], Callable[[str], bool]]
) -> Callable[[str], bool] | None:
    if patterns is None:
        return None
    tests = [compiled(pattern) for pattern in patterns]
    return lambda name: any(test(name) for test in tests)


def _uid(user: str | int) -> int:
    if isinstance(user, int):
        return user
    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        raise ValueError(f"unknown user {user!r}: correct the name, or give the number") from None


def _invalid(where: str, why: str) -> InvalidInputError:
    return InvalidInputError(
        f"{where} is not a usable policy: {why}", reason="POLICY_INVALID", field="policy.file"
    )
