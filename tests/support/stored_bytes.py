"""The stored bytes of users, as a test sets them."""

from collections import Counter


class CountedStorage:
    """A UserStorage that a test sets by user."""

    def __init__(self) -> None:
        self.bytes: Counter[int] = Counter()

    def stored_bytes(self, uid: int) -> int:
        return self.bytes[uid]
