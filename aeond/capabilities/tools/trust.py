"""Which files a tool may show a model before the policy has decided about a call."""

from collections.abc import Callable

Trusts = Callable[[str, str], bool]
"""Whether the file at an absolute path is trusted in a workspace."""


def trust_all(_path: str, _workspace: str) -> bool:
    return True
