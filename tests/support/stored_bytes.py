"""What users store, as a test says."""

from collections import Counter


class CountedStorage:
    """A UserStorage that a test sets by user."""

    def __init__(self) -> None:
        self.bytes: Counter[int] = Counter()

    def stored_bytes(self, uid: int) -> int:
        return self.bytes[uid]
