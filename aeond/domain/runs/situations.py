"""The situation of a request: the facts about its surroundings that a model sees before it decides."""

from aeond.domain.values import JsonValue
from aeond.frozen import frozen


@frozen
class Situation:
    """What surrounds a request when a decision is made.

    `time` is the local date and time with the weekday. `files` are paths relative to the workspace with the
    line that each begins with, sorted; `facts` are remembered names with their values, sorted by name.
    `more_files` and `more_facts` say that there are more than these; the listed ones are then those nearest to
    the request. `memory_seen` and `folder_seen` say that the memory and the workspace were looked at, so that no facts or no files means
    that there are none. `lines` are paths with a line of the file, those that share most with the request; without its
    number, which small models take for a part of the text. `newest` and `largest` are the files that were changed last and that
    are the largest of those listed; `nearest` are those that the request is probably about, by the words that they share, the
    likeliest first.
    """

    time: str = ""
    files: tuple[tuple[str, str], ...] = ()
    more_files: bool = False
    facts: tuple[tuple[str, JsonValue], ...] = ()
    more_facts: bool = False
    lines: tuple[tuple[str, str], ...] = ()
    memory_seen: bool = False
    newest: str = ""
    largest: str = ""
    nearest: tuple[str, ...] = ()
    folder_seen: bool = False

    @property
    def shows_all_files(self) -> bool:
        """Whether there are files, and the name of each is in view."""
        return bool(self.files) and not self.more_files

    @property
    def knows_all_files(self) -> bool:
        """Whether the name of each file is in view, or there are none."""
        return self.shows_all_files or (self.folder_seen and not self.files and not self.more_files)

    def without_files(self) -> "Situation":
        """The same situation with no workspace in view."""
        return Situation(
            self.time, facts=self.facts, more_facts=self.more_facts, memory_seen=self.memory_seen
        )


@frozen
class WorkspaceView:
    """What a situation shows of a workspace: its `files`, `more_files`, `lines`, `newest`, `largest` and `nearest`."""

    files: tuple[tuple[str, str], ...] = ()
    more_files: bool = False
    lines: tuple[tuple[str, str], ...] = ()
    newest: str = ""
    largest: str = ""
    nearest: tuple[str, ...] = ()
