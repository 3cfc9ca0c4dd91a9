"""Policy files: what they may say, and that nothing broken becomes a policy."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aeond.capabilities.policy.loading import MAX_FILE_BYTES, Profile, load_policy, parse_policy
from aeond.domain.policy import CallFacts, Effect, Verdict
from aeond.errors import InvalidInputError
from tests.support.policy_facts import policy_text

GOOD = policy_text("trusted-folder", deny=[{"paths": ["/etc/**"]}])


def file_with(folder: Path, text: str | bytes, name: str = "policy.toml") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("profile", list(Profile))
def test_every_shipped_profile_is_a_policy(profile: str) -> None:
    """Each profile allows reading, and none allows programs of the host, the network or secrets."""
    policy = load_policy(profile, None)
    assert policy.decide(CallFacts("read_file", Effect.READ)).verdict is Verdict.ALLOW
    for effect in (Effect.EXEC_HOST, Effect.NET, Effect.SECRET, Effect.WRITE_OUTSIDE, Effect.UNDECLARED):
        assert policy.decide(CallFacts("x", effect)).verdict is not Verdict.ALLOW


def test_profiles_differ_in_what_they_let_a_model_do() -> None:
    """observe denies a change, ask asks about it, trusted-folder allows it."""
    call = CallFacts("remember", Effect.MEMORY)
    assert [load_policy(profile, None).decide(call).verdict for profile in Profile] == [
        Verdict.DENY,
        Verdict.ASK,
        Verdict.ALLOW,
    ]


def test_a_file_adds_rules_to_its_profile(tmp_path: Path) -> None:
    """The file names its profile and may restrict it; the configured profile is for a missing file name only."""
    policy = load_policy("observe", file_with(tmp_path, GOOD))
    assert (policy.profile, policy.file) == ("trusted-folder", str(tmp_path / "policy.toml"))
    assert policy.rules[-1].name == "own.deny.1"


def test_the_version_is_that_of_the_content(tmp_path: Path) -> None:
    """The same text has the same version wherever it is; any other text has another."""
    first = load_policy("ask", file_with(tmp_path, GOOD))
    assert load_policy("ask", file_with(tmp_path, GOOD, "copy.toml")).version == first.version
    assert parse_policy(GOOD + "\n").version != first.version
    assert len({load_policy(profile, None).version for profile in Profile}) == len(Profile)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "does not name its profile"),
        ("# nothing", "does not name its profile"),
        ("profile = ", "not valid TOML"),
        (b"\xff\xfe", "not valid TOML"),
        ('profile = "allow-all"', "profile: input should be 'observe', 'ask' or 'trusted-folder'"),
        ('profile = "ask"\nrules = []', "rules: extra inputs are not permitted"),
        ('profile = "ask"\n[[allow]]\nname = "a"', "allow.1.reason: field required"),
        ('profile = "ask"\n[[allow]]\nname = "A b"\nreason = "x"', "allow.1.name"),
        ('profile = "ask"\n[[allow]]\nname = "a"\nreason = "x"\nclases = ["net"]', "allow.1.clases"),
        ('profile = "ask"\n[[allow]]\nname = "a"\nreason = "x"\nclasses = ["nets"]', "allow.1.classes.1"),
        ('profile = "ask"\n[[allow]]\nname = "a"\nreason = "x"\nclasses = []', "allow.1.classes"),
        ('profile = "ask"\n[[allow]]\nname = "a"\nreason = "x"\ntainted = "no"', "allow.1.tainted"),
        ('profile = "ask"\n[[allow]]\nname = "a"\nreason = "x"\npaths = ["../x"]', "rule a"),
        ('profile = "ask"\n[[allow]]\nname = "a"\nreason = "x"\nusers = ["no-such-user"]', "unknown user"),
        (
            'profile = "ask"\n[[allow]]\nname = "a"\nreason = "x"\n[[deny]]\nname = "a"\nreason = "x"',
            "two rules",
        ),
        ('profile = "ask"\n[[allow]]\nname = "ask.reading"\nreason = "x"', "two rules"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, text: str | bytes, says: str) -> None:
    """A file with a mistake is no policy, and the error says where the mistake is."""
    with pytest.raises(InvalidInputError) as raised:
        load_policy("trusted-folder", file_with(tmp_path, text))
    assert raised.value.reason == "POLICY_INVALID"
    assert says in raised.value.message


def test_a_file_that_cannot_be_trusted_is_refused(tmp_path: Path) -> None:
    """A missing file, a FIFO, a device, a file that others may change and one that is too large are no policies."""
    open_to_all = file_with(tmp_path, GOOD, "open.toml")
    open_to_all.chmod(0o666)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    large = file_with(tmp_path, GOOD + "#" * MAX_FILE_BYTES, "large.toml")
    for path in (tmp_path / "none.toml", fifo, Path("/dev/zero"), open_to_all, large, tmp_path):
        with pytest.raises(InvalidInputError) as raised:
            load_policy("trusted-folder", path)
        assert raised.value.reason == "POLICY_INVALID"


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_no_broken_file_allows_more(data: st.DataObject) -> None:
    """A file that lost or gained bytes is refused, or is a policy that names its profile: never one that allows all."""
    content = bytearray(policy_text("ask", deny=[{"tools": ["remember"]}]).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(place, len(content)))
        content[place:end] = data.draw(st.binary(max_size=6))
    try:
        policy = parse_policy(content.decode("utf-8", "surrogateescape"))
    except InvalidInputError:
        return
    assert policy.profile in set(Profile)
    assert policy.decide(CallFacts("x", Effect.EXEC_HOST)).verdict is not Verdict.ALLOW
