"""The git tools, also in repositories that try to run programs."""

import subprocess
from pathlib import Path

import pytest

from aeond.capabilities.hands import git as git_module
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.policy import Access
from aeond.domain.tools import ToolCall
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.hands import Hands, git, repository

pytestmark = [needs_bubblewrap, pytest.mark.slow]


@pytest.fixture
def hands(tmp_path: Path) -> Hands:
    (tmp_path / "poem.txt").write_text("first line\n", encoding="utf-8")
    repository(tmp_path)
    (tmp_path / "poem.txt").write_text("first line\nsecond line\n", encoding="utf-8")
    (tmp_path / "new.txt").write_text("new\n", encoding="utf-8")
    return Hands(tmp_path)


async def preview(hands: Hands) -> CallPreview:
    return await hands.invoker.preview(ToolCall("git_commit", {"message": "Go on"}), hands.context)


async def test_status_and_diff_show_what_differs(hands: Hands) -> None:
    """The status names the branch and the files, the diff the lines; of one file if it is named, also inexactly."""
    status = await hands.done("git_status")
    assert status["text"] == "## main\n M poem.txt\n?? new.txt\n"
    assert "+second line\n" in (await hands.done("git_diff"))["text"]
    assert "+second line\n" in (await hands.done("git_diff", path="Poem"))["text"]
    assert (await hands.done("git_diff", path="new.txt"))["text"] == ""
    unknown = await hands.call("git_diff", path="q8 no such value 7x")
    assert unknown.reason == "FILE_NOT_FOUND"


async def test_a_commit_has_all_changes(hands: Hands) -> None:
    """A commit contains all changes, is reported as an effect, and shows its diff to the person who approves."""
    shown = await preview(hands)
    assert "+second line" in shown.diff
    assert shown.problem == ""
    result = await hands.call("git_commit", message="Go on\n\nwith the poem")
    assert result.success, result.error
    head = git(hands.folder, "rev-parse", "HEAD").strip()
    (effect,) = result.effects
    assert (effect.kind, effect.target, effect.detail) == ("git.committed", head, "Go on")
    assert git(hands.folder, "log", "--format=%an: %s", "-1") == "aeond: Go on\n"
    assert git(hands.folder, "status", "--short") == ""
    assert (await hands.call("git_commit", message="x")).reason == "NOTHING_TO_COMMIT"


async def test_the_preview_shows_everything_that_is_committed(tmp_path: Path) -> None:
    """New, changed and deleted files, the new pointer of a submodule and files staged against the ignore rules are in the
    preview of a commit, which changes nothing in the repository."""
    part = tmp_path / "part"
    part.mkdir()
    (part / "a.txt").write_text("one\n", encoding="utf-8")
    repository(part)
    for name in ("gone.txt", "old.txt"):
        (tmp_path / name).write_text("before\n", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("*.log\n", encoding="utf-8")
    repository(tmp_path)
    (part / "a.txt").write_text("two\n", encoding="utf-8")
    repository(part)
    (tmp_path / "gone.txt").unlink()
    (tmp_path / "new").mkdir()
    for name in ("old.txt", "new/file.txt", "staged.log", "ignored.log"):
        (tmp_path / name).write_text(f"after in {name}\n", encoding="utf-8")
    git(tmp_path, "add", "--force", "staged.log")
    before = {path: path.read_bytes() for path in (tmp_path / ".git").rglob("*") if path.is_file()}
    hands = Hands(tmp_path)
    shown = await preview(hands)
    assert {path: path.read_bytes() for path in (tmp_path / ".git").rglob("*") if path.is_file()} == before
    names = {line.split(" b/")[1] for line in shown.diff.splitlines() if line.startswith("diff --git")}
    for text in ("+after in new/file.txt", "+after in old.txt", "+Subproject commit", "-before"):
        assert f"\n{text}" in shown.diff
    await hands.done("git_commit", message="Go on")
    committed = git(tmp_path, "show", "--format=", "--name-only", "HEAD").split()
    assert names == {*committed} == {"gone.txt", "new/file.txt", "old.txt", "part", "staged.log"}


async def test_a_moved_submodule_is_a_change(tmp_path: Path) -> None:
    """A repository of which only the pointer of a submodule differs can be shown and committed."""
    part = tmp_path / "part"
    part.mkdir()
    (part / "a.txt").write_text("one\n", encoding="utf-8")
    repository(part)
    repository(tmp_path)
    (part / "a.txt").write_text("two\n", encoding="utf-8")
    repository(part)
    hands = Hands(tmp_path)
    assert (await hands.done("git_status"))["text"] == "## main\n M part\n"
    assert "+Subproject commit" in (await hands.done("git_diff"))["text"]
    await hands.done("git_commit", message="Move on")
    assert git(tmp_path, "status", "--short") == ""


async def test_an_unresolved_merge_is_not_concluded(tmp_path: Path) -> None:
    """While a merge has conflicts nothing is committed and the index stays as it is; the preview says why."""
    poem = tmp_path / "poem.txt"
    poem.write_text("first\n", encoding="utf-8")
    repository(tmp_path)
    git(tmp_path, "checkout", "--quiet", "-b", "other")
    poem.write_text("theirs\n", encoding="utf-8")
    repository(tmp_path)
    git(tmp_path, "checkout", "--quiet", "main")
    poem.write_text("ours\n", encoding="utf-8")
    repository(tmp_path)
    with pytest.raises(subprocess.CalledProcessError):
        git(tmp_path, "merge", "other")
    before = git(tmp_path, "ls-files", "--unmerged")
    hands = Hands(tmp_path)
    assert "'poem.txt'" in (await preview(hands)).problem
    assert (await hands.call("git_commit", message="Merge")).reason == "MERGE_UNRESOLVED"
    assert git(tmp_path, "ls-files", "--unmerged") == before != ""


async def test_the_filters_of_many_files_are_checked(hands: Hands) -> None:
    """Among more than a thousand new files one that must pass a filter is found, and without such a file they are
    committed."""
    for number in range(1_200):
        (hands.folder / f"a file of many that are new {number:04}").touch()
    (hands.folder / "z.bin").write_text("z\n", encoding="utf-8")
    attributes = hands.folder / ".gitattributes"
    attributes.write_text("*.bin filter=lfs\n", encoding="utf-8")
    refused = await hands.call("git_commit", message="Go on")
    assert (refused.reason, "'lfs'" in refused.error) == ("GIT_FILTERED", True)
    assert "'lfs'" in (await preview(hands)).problem
    attributes.unlink()
    await hands.done("git_commit", message="Go on")


async def test_a_listing_that_is_cut_off_is_not_used(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit whose settings or files cannot be listed completely is refused."""
    monkeypatch.setattr(git_module, "MAX_LISTING_BYTES", 100)
    assert (await hands.call("git_commit", message="Go on")).reason == "GIT_OUTPUT_TOO_LARGE"
    assert git(hands.folder, "log", "--format=%s") == "Begin\n"


async def test_the_repository_s_own_name_is_used(hands: Hands) -> None:
    """A commit carries the name in the repository's configuration."""
    git(hands.folder, "config", "user.name", "Ann")
    git(hands.folder, "config", "user.email", "ann@example.org")
    await hands.done("git_commit", message="Go on")
    assert git(hands.folder, "log", "--format=%an <%ae>", "-1") == "Ann <ann@example.org>\n"


async def test_a_repository_cannot_run_programs(hands: Hands) -> None:
    """Hooks, filters, diff drivers, text converters, the file system monitor, signing and editors are not run."""
    mark = "touch ran-$0 .git/ran; cat"
    for key, value in (
        ("core.fsmonitor", mark),
        ("core.hooksPath", ".git/hooks"),
        ("core.editor", mark),
        ("core.pager", mark),
        ("diff.external", mark),
        ("diff.d.command", mark),
        ("diff.d.textconv", mark),
        ("filter.f.clean", mark),
        ("filter.f.smudge", mark),
        ("filter.g.process", mark),
        ("filter.g.required", "true"),
        ("gpg.program", mark),
        ("commit.gpgSign", "true"),
        ("gc.auto", "1"),
    ):
        git(hands.folder, "config", key, value)
    for name in ("pre-commit", "commit-msg", "post-commit", "post-index-change", "prepare-commit-msg"):
        hook = hands.folder / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\n{mark}\n", encoding="utf-8")
        hook.chmod(0o755)
    (hands.folder / ".gitattributes").write_text(
        "poem.txt diff=d filter=f\nnew.txt filter=g\n", encoding="utf-8"
    )
    for tool in ("git_status", "git_diff"):
        await hands.done(tool)
    before = (hands.folder / ".git/config").read_bytes()
    refused = await hands.call("git_commit", message="Go on")
    assert refused.reason == "GIT_FILTERED"
    (hands.folder / ".gitattributes").write_text("poem.txt diff=d\n", encoding="utf-8")
    await hands.done("git_commit", message="Go on")
    left = {path.name for path in hands.folder.iterdir()} | {
        path.name for path in (hands.folder / ".git").iterdir()
    }
    assert [name for name in left if name.startswith("ran")] == []
    assert (hands.folder / ".git/config").read_bytes() == before


@pytest.mark.parametrize("kind", ["clean", "process"])
async def test_comparing_files_runs_no_filter(hands: Hands, kind: str) -> None:
    """Status and diff show the files as they are, and not as a program of the repository changes them."""
    program = "echo ran >&2; sed s/line/RAN/"
    git(hands.folder, "config", f"filter.f.{kind}", program)
    git(hands.folder, "config", "filter.f.required", "true")
    for number in range(2_000):  # so that a part of a long configuration is not missed
        with (hands.folder / ".git/config").open("a", encoding="utf-8") as file:
            file.write(f'[x "{number:030}"]\ny = z\n')
    (hands.folder / ".gitattributes").write_text("poem.txt filter=f\n", encoding="utf-8")
    shown = (await hands.done("git_diff"))["text"]
    assert "+second line\n" in shown
    assert "RAN" not in shown
    assert " M poem.txt\n" in (await hands.done("git_status"))["text"]


async def test_a_filter_that_cannot_be_switched_off_is_refused(hands: Hands) -> None:
    """A filter whose name is not UTF-8 cannot be named in a setting: nothing is compared."""
    with (hands.folder / ".git/config").open("ab") as file:
        file.write(b'[filter "f\xff"]\nclean = sed s/line/RAN/\n')
    (hands.folder / ".gitattributes").write_bytes(b"poem.txt filter=f\xff\n")
    for tool in ("git_status", "git_diff"):
        assert (await hands.call(tool)).reason == "GIT_FILTERED"


async def test_a_repository_without_a_commit_can_be_shown(tmp_path: Path) -> None:
    """Before the first commit the diff shows what is staged, and a commit becomes the first."""
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (tmp_path / "a").write_text("one\n", encoding="utf-8")
    git(tmp_path, "add", "a")
    hands = Hands(tmp_path)
    assert "+one\n" in (await hands.done("git_diff"))["text"]
    (tmp_path / "b").write_text("two\n", encoding="utf-8")
    shown = await preview(hands)
    assert "+one\n" in shown.diff
    assert "+two\n" in shown.diff
    await hands.done("git_commit", message="Begin")
    assert git(tmp_path, "log", "--format=%s") == "Begin\n"


async def test_a_folder_without_a_repository_is_refused(tmp_path: Path) -> None:
    """Without a repository the tools say so."""
    for tool, arguments in (("git_status", {}), ("git_diff", {}), ("git_commit", {"message": "x"})):
        assert (await Hands(tmp_path).call(tool, **arguments)).reason == "NOT_A_REPOSITORY"


async def test_a_damaged_repository_is_an_error(hands: Hands) -> None:
    """The message of git about a repository that it cannot read is the error."""
    (hands.folder / ".git/HEAD").write_text("x", encoding="utf-8")
    result = await hands.call("git_status")
    assert (result.reason, result.error.startswith("git failed: fatal")) == ("GIT_FAILED", True)


async def test_targets_are_the_workspace(hands: Hands) -> None:
    """Status and diff read the workspace; a commit changes it."""
    tools = {tool.spec.name: tool for tool in hands.tools}
    whole = f"{hands.folder}/"
    for name, arguments, access in (
        ("git_status", {}, [Access.READ]),
        ("git_diff", {}, [Access.READ]),
        ("git_commit", {"message": "x"}, [Access.READ, Access.WRITE]),
    ):
        targets = await tools[name].targets(arguments, hands.context)
        assert targets is not None
        assert [(target.name, target.access) for target in targets] == [(whole, one) for one in access]
