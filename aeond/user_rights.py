"""The rights of a user to files."""

from aeond.frozen import frozen


@frozen
class UserRights:
    """The user, group and supplementary groups of a process."""

    uid: int
    gid: int
    group_ids: tuple[int, ...] = ()
