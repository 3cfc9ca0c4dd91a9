"""Which files are trusted, and which untrusted sources a call reads."""

from collections.abc import Sequence
from typing import Final

from aeond.domain.policy import Access, CallFacts, Effect, TargetKind, joined

_SOURCE_CHARS: Final = 200


class Trust:
    """Trusts the files of the workspace and those below `trusted`; of nested folders the innermost decides.

    Files below `untrusted` taint the runs that read them, also inside a workspace. A workspace below an untrusted folder
    is untrusted itself. All paths are absolute, with links resolved.
    """

    def __init__(self, trusted: Sequence[str] = (), untrusted: Sequence[str] = ()) -> None:
        self._roots = {root.rstrip("/") or "/": True for root in trusted}
        self._roots |= {root.rstrip("/") or "/": False for root in untrusted}

    def adopt(self, other: "Trust") -> None:
        """Trusts the same folders as the other from now on."""
        self._roots = other._roots  # noqa: SLF001 - the same class

    def trusts(self, path: str, workspace: str) -> bool:
        """Whether the file or folder itself is trusted."""
        listed = self._listed(path)
        if workspace and _within(path, workspace):
            home = self._listed(workspace)
            if listed == home:  # no folder of the lists lies between the workspace and the file
                return home is None or self._roots[home]
        return listed is not None and self._roots[listed]

    def trusts_all(self, folder: str, workspace: str) -> bool:
        """Whether the folder and everything below it is trusted."""
        nested = any(not trusted and _within(root, folder) for root, trusted in self._roots.items())
        return not nested and self.trusts(folder, workspace)

    def sources(self, facts: CallFacts) -> tuple[str, ...]:
        """The untrusted sources that the call reads."""
        if not facts.foreign and facts.effect is Effect.PURE:
            return ()
        found: tuple[str, ...] = ()
        if facts.foreign or (facts.effect is Effect.NET and not facts.targets):
            found = (f"tool:{facts.tool}",)
        for target in facts.targets:
            source = ""
            if target.kind is TargetKind.HOST:
                source = f"host:{target.name}"
            elif target.kind is TargetKind.FILE and target.access is Access.READ:
                trusts = self.trusts_all if target.name.endswith("/") else self.trusts
                trusted = trusts(target.name.rstrip("/") or "/", facts.workspace)
                source = "" if trusted else f"file:{target.name}"
            if source:
                found = joined(found, (source[:_SOURCE_CHARS],))
        return found

    def _listed(self, path: str) -> str | None:
        """The innermost folder of the lists that contains the path."""
        return max((root for root in self._roots if _within(path, root)), key=len, default=None)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")
