"""Runs Python files of users and returns the list that each defines: TOOLS or AGENTS."""

import hashlib
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Final

from aeond.errors import AeondError, InvalidInputError
from aeond.frozen import frozen
from aeond.plain_files import UnsafeFileError, read_trusted

MAX_FILE_BYTES: Final = 1 << 20
_ENDINGS: Final = {"unreadable": "FILE_MISSING", "changeable": "FILE_UNSAFE", "too large": "FILE_BROKEN"}

# Exceptions of a foreign module while it is executed. sys.exit() must not end the daemon.
_RAISED_BY_MODULES: Final = (
    AeondError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    NameError,
    OSError,
    RuntimeError,
    SyntaxError,
    SystemExit,
    TypeError,
    ValueError,
)


@frozen
class PythonFiles:
    """Files that define lists of the same kind: `kind` is "tool" or "agent", `field` the configuration key.

    Raises InvalidInputError with `field` and, after the kind in capitals, reason _FILE_MISSING, _FILE_UNSAFE (other
    users can modify it), _FILE_BROKEN (with the line) or _FILE_EMPTY (no list).
    """

    kind: str
    field: str

    @property
    def list_name(self) -> str:
        return f"{self.kind.upper()}S"

    def read(self, path: Path) -> bytes:
        """The content of the file, read through the descriptor that was checked; nothing is executed."""
        try:
            return read_trusted(path, MAX_FILE_BYTES)
        except UnsafeFileError as error:
            raise self.refused(path, str(error), _ENDINGS[error.kind]) from error

    def items(self, path: Path, source: bytes) -> tuple[object, ...]:
        """Runs source text read from a file and returns its list."""
        found = getattr(self._run(path, source), self.list_name, None)
        if not isinstance(found, list | tuple) or not found:
            why = f"it has no list named {self.list_name}: add {self.list_name} = [your_{self.kind}]"
            raise self.refused(path, why, "FILE_EMPTY")
        return tuple(found)

    def refused(self, path: Path, why: str, ending: str) -> InvalidInputError:
        return InvalidInputError(
            f"cannot use the {self.kind} file {path}: {why}",
            reason=f"{self.kind.upper()}_{ending}",
            field=self.field,
        )

    def _run(self, path: Path, source: bytes) -> ModuleType:
        digest = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]
        module = ModuleType(f"aeond_{self.kind}s_{digest}")
        module.__file__ = str(path)
        sys.modules[module.__name__] = module  # pydantic and typing resolve the names in annotations there
        try:
            exec(compile(source, str(path), "exec"), module.__dict__)  # noqa: S102  the point of such a file
        except _RAISED_BY_MODULES as error:
            del sys.modules[module.__name__]
            raise self.refused(path, _description(error, str(path)), "FILE_BROKEN") from error
        return module


def _description(error: BaseException, path: str) -> str:
    """The error and its line in the file."""
    said = traceback.format_exception_only(error)[-1].strip()
    if isinstance(error, SyntaxError) and error.filename == path:
        return f"line {error.lineno}: {said}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f"line {lines[-1]}: {said}" if lines else said
