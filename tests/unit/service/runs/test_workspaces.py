"""Folders that tools may work in."""

from dataclasses import replace
from pathlib import Path

import pytest

from aeond.domain.runs.run import Owner, RunRequest
from aeond.errors import InvalidInputError, RefusedError
from aeond.service.runs.workspaces import Workspaces
from aeond.user_rights import UserRights

OWNER = Owner(1000)


@pytest.fixture
def workspaces(tmp_path: Path) -> Workspaces:
    for name in ("own", "allowed/project", "outside", "allowed/state/deep"):
        (tmp_path / name).mkdir(parents=True)
    return Workspaces(
        own=tmp_path / "own",
        roots=[tmp_path / "allowed"],
        protected=[tmp_path / "allowed" / "state"],
        user_id=OWNER.uid,
        acts_for_others=lambda: False,
    )


async def test_a_folder_below_an_allowed_one_is_a_workspace(workspaces: Workspaces, tmp_path: Path) -> None:
    """A client may work in any folder below an allowed one."""
    project = str(tmp_path / "allowed" / "project")
    assert await workspaces.resolve(project, "run", OWNER) == project


async def test_a_link_is_followed_before_it_is_judged(workspaces: Workspaces, tmp_path: Path) -> None:
    """A link from an allowed place to another leads to where it leads, and is refused there."""
    link = tmp_path / "allowed" / "link"
    link.symlink_to(tmp_path / "outside")
    with pytest.raises(RefusedError) as raised:
        await workspaces.resolve(str(link), "run", OWNER)
    assert raised.value.reason == "WORKSPACE_NOT_ALLOWED"


async def test_a_private_workspace_is_removed(workspaces: Workspaces, tmp_path: Path) -> None:
    """A private folder goes with what is in it; a link in its place, other folders and a name that leads elsewhere stay."""
    for name in ("mine", "others"):
        (tmp_path / "own" / name / "deep").mkdir(parents=True)
    (tmp_path / "own" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "own" / "mine" / "deep" / "link").symlink_to(tmp_path / "outside")
    for name in ("mine", "link", "missing", "..", ".", "", "others/deep", "../outside"):
        await workspaces.remove_own(name)
    assert sorted(path.name for path in (tmp_path / "own").iterdir()) == ["link", "others"]
    assert (tmp_path / "own" / "others" / "deep").is_dir()
    assert (tmp_path / "outside").is_dir()


@pytest.mark.parametrize("name", ["state", "state/deep"])
async def test_the_daemon_keeps_its_own_files(workspaces: Workspaces, tmp_path: Path, name: str) -> None:
    """The folder of the journal and its subfolders are rejected as workspaces."""
    with pytest.raises(RefusedError) as raised:
        await workspaces.resolve(str(tmp_path / "allowed" / name), "run", OWNER)
    assert raised.value.reason == "WORKSPACE_PROTECTED"


async def test_a_folder_outside_is_refused_with_what_is_allowed(
    workspaces: Workspaces, tmp_path: Path
) -> None:
    """A refusal says which folders would do."""
    with pytest.raises(RefusedError, match=str(tmp_path / "allowed")):
        await workspaces.resolve(str(tmp_path / "outside"), "run", OWNER)


@pytest.mark.parametrize("folder", ["project", "./project", "~/project", "/a\0b"])
async def test_a_path_that_is_not_absolute_is_refused(workspaces: Workspaces, folder: str) -> None:
    """A relative path is rejected, because its meaning would depend on the daemon's working folder."""
    with pytest.raises(InvalidInputError) as raised:
        await workspaces.resolve(folder, "run", OWNER)
    assert (raised.value.reason, raised.value.field) == ("WORKSPACE_NOT_ABSOLUTE", "workspace")


async def test_a_workspace_must_be_a_folder(workspaces: Workspaces, tmp_path: Path) -> None:
    """A file, and a path that leads nowhere, are no workspaces."""
    file = tmp_path / "allowed" / "file"
    file.write_text("")
    for path in (file, tmp_path / "allowed" / "nowhere"):
        with pytest.raises(InvalidInputError) as raised:
            await workspaces.resolve(str(path), "run", OWNER)
        assert raised.value.reason == "WORKSPACE_UNUSABLE"


async def test_an_own_folder_is_for_the_daemon_alone(workspaces: Workspaces, tmp_path: Path) -> None:
    """The default workspace is a new folder that no other user can access."""
    folder = Path(await workspaces.resolve("", "run-1", OWNER))
    assert folder == tmp_path / "own" / "run-1"
    assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("uid", [-1, 4321])
async def test_a_folder_is_used_for_its_daemon_s_user_only(
    workspaces: Workspaces, tmp_path: Path, uid: int
) -> None:
    """A daemon that cannot act for others refuses another user's request for a folder, since its file tools would read and
    write there what this user may not, such as keys and hooks; a private folder is made for every user.
    """
    with pytest.raises(RefusedError) as raised:
        await workspaces.resolve(
            str(tmp_path / "allowed" / "project"), "run", Owner(uid, 1, UserRights(uid, 1))
        )
    assert (raised.value.reason, raised.value.field) == ("WORKSPACE_NOT_YOURS", "workspace")
    assert await workspaces.resolve("", "run", Owner(uid)) == str(tmp_path / "own" / "run")


async def test_a_folder_is_used_with_the_rights_of_its_caller(tmp_path: Path) -> None:
    """Where the daemon may act for others, another user's workspace has that user's rights, and the request keeps them; one
    of the daemon's own user, of root, or private has none; a user whose groups are unknown is refused.
    """
    own, project = tmp_path / "own", tmp_path / "project"
    project.mkdir()
    theirs = UserRights(4321, 4321, (7,))
    workspaces = Workspaces(
        own=own, roots=[tmp_path], protected=[], user_id=OWNER.uid, acts_for_others=lambda: True
    )
    for owner in (OWNER, Owner(0)):
        held = replace(owner, rights=UserRights(owner.uid, 1))
        asked = RunRequest("x", workspace=str(project), owner=held)
        assert (await workspaces.bound(asked, "run")).owner == owner
    private = await workspaces.bound(RunRequest("x", owner=Owner(4321, 1, theirs)), "run")
    assert private.owner == Owner(4321, 1)
    for rights in (None, UserRights(4322, 4321)):
        with pytest.raises(RefusedError) as raised:
            await workspaces.resolve(str(project), "run", Owner(4321, 1, rights))
        assert raised.value.reason == "WORKSPACE_NOT_YOURS"


async def test_root_may_use_every_folder(workspaces: Workspaces, tmp_path: Path) -> None:
    """Root loses nothing by a daemon that acts for it."""
    project = str(tmp_path / "allowed" / "project")
    assert await workspaces.resolve(project, "run", Owner(0)) == project


async def test_a_workspace_has_an_identity(workspaces: Workspaces, tmp_path: Path) -> None:
    """A request is bound to the folder that is there, which differs from one that takes its place."""
    project = tmp_path / "allowed" / "project"
    asked = RunRequest("x", workspace=str(project), owner=OWNER)
    first = await workspaces.bound(asked, "run")
    assert (await workspaces.bound(asked, "run")).workspace_identity == first.workspace_identity
    project.rename(tmp_path / "allowed" / "old")
    project.mkdir()
    assert (await workspaces.bound(asked, "run")).workspace_identity != first.workspace_identity
