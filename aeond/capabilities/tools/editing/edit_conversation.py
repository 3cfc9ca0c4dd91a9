"""The conversation in which a small model writes the changes of a file: with the file in view, and its lines as values; of a table below
its declaration, as SQL statements.

A small model that names the old text from memory names the wrong line, or replaces a line where one is to be added. A list item is
named without its marker: a model that is to tick something off otherwise begins with a ticked box, and so names an item that is done.
ADR 0091 has the measurements.
"""

import os
from collections.abc import Sequence
from typing import Final

from aeond.capabilities.tools.editing.json_items import is_json, items_on_lines
from aeond.capabilities.tools.editing.list_items import end_of_list, item_text
from aeond.capabilities.tools.editing.said_changes import said_changes
from aeond.capabilities.tools.editing.sections import named_lines
from aeond.capabilities.tools.editing.text_edits import is_prose
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.path_matching import PathMatching, Wanted, file_target
from aeond.capabilities.tools.relevance.line_ranking import Line, rank
from aeond.capabilities.tools.relevance.shared_words import is_same, words_that_count
from aeond.capabilities.tools.tables.query_conversation import declaration
from aeond.capabilities.tools.tables.reading import Table
from aeond.capabilities.tools.tables.rows.new_rows import without_copied_texts
from aeond.capabilities.tools.tables.rows.row_changes import row_file
from aeond.capabilities.tools.tables.rows.row_file import RowFile
from aeond.capabilities.tools.tables.statement_pattern import columns_of, statements_schema, values_named
from aeond.capabilities.tools.trust import Trusts
from aeond.capabilities.tools.worker_threads import Stopped, WorkerThreads
from aeond.domain.names import words_to_match
from aeond.domain.policy import Access
from aeond.domain.tools import Composition, CompositionView, ToolContext
from aeond.domain.values import JsonObject, JsonValue
from aeond.frozen import frozen
from aeond.schemas.parts import as_object, closed_object, is_list

MAX_SEEN_BYTES: Final = 64 * 1024
MAX_SHOWN_LINES: Final = 60
MAX_SHOWN_CHARS: Final = 4_000
MAX_CHANGES: Final = 8
_END_LINES: Final = 3  # of a long file: where lines are added
_GAP: Final = "..."
_TEXT: Final[JsonObject] = {"type": "string", "minLength": 1}
_INSTRUCTIONS: Final = """\
You change a file as a person asks. Reply with a JSON list of the changes to its lines: {"replace":LINE,"with":TEXT}, \
{"remove":LINE}, or {"add":TEXT,"below":LINE}; of a table with SQLite statements: {"sql":STATEMENT}. All else stays."""
_MEMBERS: Final = """\
CREATE TABLE members (
  name TEXT, -- 'Lena', 'Omar', 'Till'
  fee REAL, -- 120, 95
  paid TEXT -- 'yes', 'no'
);"""
_STORE: Final = """\
CREATE TABLE store (
  what TEXT, -- 'rope', 'lamp', 'paint'
  colour TEXT, -- 'red', 'white'
  metres REAL, -- 30, 12, ...
  shelf TEXT -- 'A', 'B'
);"""
_BERTH: Final = 'harbour.json:\n{\n  "berth": 12,\n  "paid": false,\n  "neighbours": ["Lena", "Omar"]\n}'
_EXAMPLES: Final[tuple[tuple[str, str, JsonValue], ...]] = (
    (
        _MEMBERS,
        "Neu im Club: Vera, 95 Euro, noch nicht gezahlt. Sag mir, wie viele wir jetzt sind",
        [{"sql": "INSERT INTO members VALUES ('Vera', 95, 'no')"}],
    ),
    (
        _STORE,
        "used up 4 m of the red rope, how much is left?",
        [{"sql": "UPDATE store SET metres = metres - 4 WHERE what = 'rope' AND colour = 'red'"}],
    ),
    (
        "todo.md:\n# To do\n- [ ] paint\n- [ ] rope\n- [ ] two lamps",
        "we don't need the rope any more, drop it. I also want 3 tins of varnish and a new oar",
        [
            {"remove": "rope"},
            {"add": "- [ ] 3 tins of varnish", "below": "two lamps"},
            {"add": "- [ ] a new oar", "below": "two lamps"},
        ],
    ),
    (
        "shop.txt:\nbread\ntea\nblue rope",
        "écris de la corde rouge à la fin de la liste, et dis-moi combien de choses il y a",
        [{"add": "corde rouge", "below": "blue rope"}],
    ),
    (
        "winter.md:\n# Winter\n- [ ] take the mast down\n- [ ] wax the hull",
        "maszt już leży na brzegu",
        [{"replace": "take the mast down", "with": "- [x] take the mast down"}],
    ),
    (
        "cabin.md:\n# Cabin\n## To bring\n- towels\n- a torch\n## To do\n- oil the door\n\nOmar has the key.",
        "nehmt noch Streichhölzer mit",
        [{"add": "- Streichhölzer", "below": "a torch"}],
    ),
    (_MEMBERS, "Till se ha dado de baja", [{"sql": "DELETE FROM members WHERE name = 'Till'"}]),
    (_BERTH, "On m'a donné la place 15", [{"replace": '  "berth": 12,', "with": '  "berth": 15,'}]),
    (
        "boat.txt:\nIda, built 1988\nlength 6.4 m\nred sails",
        "the sails are blue now. tell me how long the boat is, too",
        [{"replace": "red sails", "with": "blue sails"}],
    ),
)


MAX_TOKENS: Final = 300  # right changes of the sets for evaluation have up to 100
CHANGES: Final = Composition(("changes",), _INSTRUCTIONS, _EXAMPLES, max_tokens=MAX_TOKENS)


@frozen
class EditConversation:
    """Shows the file that a call names by its `path`, for the conversation about its `changes`.

    A long file is shown by the lines nearest to the request. There is none for a file that is not trusted, because its
    content would decide about changes without the run having read it; nor for one that is no text, too large, or empty.
    """

    files: ContainedFiles
    threads: WorkerThreads
    trusts: Trusts

    async def view(self, arguments: JsonObject, context: ToolContext, request: str) -> CompositionView | None:
        """Raises ToolError as PathMatching does."""
        given = str(arguments.get("path", ""))
        return await self.threads.run(lambda stopped: self._view(given, context.workspace, request, stopped))

    def _view(self, given: str, workspace: str, request: str, stopped: Stopped) -> CompositionView | None:
        path = PathMatching(self.files).find(given, workspace, Wanted.FILE, stopped)
        if not self.trusts(file_target(self.files, path, workspace, Access.READ).name, workspace):
            return None
        with self.files.open_file(path, workspace) as opened:
            content = os.pread(opened, MAX_SEEN_BYTES + 1, 0)
        if len(content) > MAX_SEEN_BYTES or b"\0" in content:
            return None
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return None
        if (file := row_file(text, path)) is not None and _means_rows(file, path, request):
            schema = statements_schema(file.table, path, request)
            table = file.table

            def meant_for_rows(changes: JsonValue, said: str) -> JsonValue:
                return said_changes(_without_copied_texts(changes, table, said), said, path)

            return CompositionView(declaration(table, path, request), schema, meant_for_rows)
        lines = text.splitlines()
        shown = shown_lines(lines, path, request)
        if sum(map(len, shown)) > MAX_SHOWN_CHARS:
            return None
        own = [name for name, line in zip(named_lines(lines, path), lines, strict=True) if line in shown]
        if is_json(path):
            own += [item for item in items_on_lines(text) if any(item in line for line in shown)]
        named = names_of([line for line in dict.fromkeys(own) if any(map(str.isalnum, line))])
        if not named:
            return None

        def meant(changes: JsonValue, said: str) -> JsonValue:
            placed = at_ends_of_lists(changes, lines) if is_prose(path) else changes
            return said_changes(placed, said, path)

        return CompositionView("\n".join([f"{path}:", *shown]), _schema(named), meant)


def _means_rows(file: RowFile, path: str, request: str) -> bool:
    """Whether the rows are what the request is about: they are all that the file holds, or it names one of them and none of the single values
    besides. A word of the file's name names the file."""
    if not file.beside:
        return file.beside is not None
    of_file = words_to_match(path)
    said = [word for word in words_that_count(request) if word not in of_file]
    single = words_to_match(" ".join(file.beside))
    names_single = any(is_same(one, other) for one in single for other in said)
    return not names_single and any(values_named(columns_of(file.table), request))


def shown_lines(lines: Sequence[str], path: str, request: str) -> Sequence[str]:
    """All lines; of many or long ones the first, the last ones and those that share most with the request, with gaps marked."""
    if len(lines) <= MAX_SHOWN_LINES and sum(map(len, lines)) <= MAX_SHOWN_CHARS:
        return lines
    numbered = [Line(path, number, line) for number, line in enumerate(lines)]
    kept = {0, *range(max(len(lines) - _END_LINES, 0), len(lines))}
    kept |= {line.number for line in rank(request, numbered, MAX_SHOWN_LINES // 2, MAX_SHOWN_LINES // 2)}
    shown: list[str] = []
    before = -1
    for number in sorted(kept):
        if number != before + 1:
            shown.append(_GAP)
        shown.append(lines[number])
        before = number
    return shown


def names_of(lines: Sequence[str]) -> Sequence[str]:
    """The lines, list items without their markers where that leaves them different from all others."""
    texts = [item_text(line) for line in lines]
    return [text if texts.count(text) == 1 else line for line, text in zip(lines, texts, strict=True)]


def at_ends_of_lists(changes: JsonValue, lines: Sequence[str]) -> JsonValue:
    """The changes, with lines that are to stand below a list item, or what leads to a list, at the end of the list: a small model names any of its
    items. So many of its lines are named that there is no other such place."""
    if not is_list(changes):
        return changes
    placed: list[JsonValue] = []
    for change in map(as_object, changes):
        below = change.get("below", "")
        at = next((at for at, line in enumerate(lines) if below and below in (line, item_text(line))), None)
        placed.append(change if at is None else {**change, "below": _unique(lines, end_of_list(lines, at))})
    return placed


def _without_copied_texts(changes: JsonValue, table: Table, said: str) -> JsonValue:
    if not is_list(changes):
        return changes
    return [
        {name: without_copied_texts(str(text), table, said) for name, text in as_object(change).items()}
        for change in changes
    ]


def _unique(lines: Sequence[str], last: int) -> str:
    """The line with this number, with those above it until no other lines are the same."""
    text = f"\n{chr(10).join(lines)}\n"
    for first in range(last, -1, -1):
        part = "\n".join(lines[first : last + 1])
        if text.count(f"\n{part}\n") == 1:
            return part
    return lines[last]


def _schema(lines: Sequence[str]) -> JsonObject:
    line: JsonObject = {"enum": list(lines)}
    kinds = ({"replace": line, "with": _TEXT}, {"remove": line}, {"add": _TEXT, "below": line})
    changes = {"anyOf": [closed_object(kind) for kind in kinds]}
    return {"type": "array", "minItems": 1, "maxItems": MAX_CHANGES, "items": changes}
