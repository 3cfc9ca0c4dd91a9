"""Which files are trusted, and what a call reads."""

import pytest

from aeond.capabilities.policy.trust import Trust
from aeond.domain.policy import Access, CallFacts, Effect, Target, TargetKind
from tests.support.policy_facts import WORKSPACE


def reads(*names: str, **others: object) -> CallFacts:
    targets = tuple(Target(TargetKind.FILE, name, Access.READ, exists=True) for name in names)
    return CallFacts("read_file", Effect.READ, targets=targets, workspace=WORKSPACE, **others)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("trusted", "untrusted", "path", "trusts"),
    [
        ((), (), f"{WORKSPACE}/a", True),
        ((), (), "/srv/a", False),
        (("/srv",), (), "/srv/a", True),
        (("/srv",), ("/srv/in",), "/srv/in/a", False),
        (("/srv/in/ok",), ("/srv/in",), "/srv/in/ok/a", True),
        ((), (f"{WORKSPACE}/mail",), f"{WORKSPACE}/mail/a", False),
        ((), (f"{WORKSPACE}/mail",), f"{WORKSPACE}/mailing", True),
        ((), ("/home/ann",), f"{WORKSPACE}/a", False),
        ((WORKSPACE,), ("/home/ann",), f"{WORKSPACE}/a", True),
        ((), ("/",), f"{WORKSPACE}/a", False),
    ],
)
def test_the_innermost_folder_decides(
    trusted: tuple[str, ...], untrusted: tuple[str, ...], path: str, trusts: bool
) -> None:
    """A workspace is trusted unless it lies in an untrusted folder; everything else must be listed."""
    assert Trust(trusted, untrusted).trusts(path, WORKSPACE) is trusts


def test_a_search_above_an_untrusted_folder_reads_untrusted_files() -> None:
    """A folder is trusted as a whole only if nothing below it is untrusted."""
    trust = Trust(untrusted=(f"{WORKSPACE}/mail",))
    assert trust.sources(reads(f"{WORKSPACE}/")) == (f"file:{WORKSPACE}/",)
    assert trust.sources(reads(f"{WORKSPACE}/notes/")) == ()


def test_untrusted_sources_of_a_call_are_named() -> None:
    """Untrusted files, hosts and the tools of other authors are sources."""
    trust = Trust()
    host = Target(TargetKind.HOST, "example.org:443", Access.USE)
    assert trust.sources(reads("/srv/a", f"{WORKSPACE}/b")) == ("file:/srv/a",)
    assert trust.sources(CallFacts("fetch", Effect.NET, targets=(host,))) == ("host:example.org:443",)
    assert trust.sources(CallFacts("fetch", Effect.NET)) == ("tool:fetch",)
    assert trust.sources(CallFacts("zz", Effect.EXEC_CONTAINED, foreign=True)) == ("tool:zz",)
    assert trust.sources(CallFacts("echo", Effect.PURE)) == ()


def test_a_written_file_is_no_source() -> None:
    """Writing a file outside the workspace tells the model nothing."""
    target = Target(TargetKind.FILE, "/srv/a", Access.WRITE, exists=False)
    assert Trust().sources(CallFacts("w", Effect.WRITE_OUTSIDE, targets=(target,))) == ()


def test_other_folders_can_be_trusted_later() -> None:
    """A reloaded configuration changes what is trusted from then on."""
    trust = Trust()
    trust.adopt(Trust(("/srv",)))
    assert trust.trusts("/srv/a", "")
