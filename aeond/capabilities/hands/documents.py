"""The tool read_document. The file is opened as read_file does; its parsers run in the sandbox."""

import base64
import os
from typing import Annotated, Final

from pydantic import BaseModel, Field

from aeond.capabilities.hands.workshop import GRACE_SECONDS, Workshop
from aeond.capabilities.sandbox.conversing import Conditions
from aeond.capabilities.tools.files.path_matching import PathMatching, Wanted, proposing, reading
from aeond.capabilities.tools.files.reading import FilePath, ReadFileResult
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.capabilities.tools.worker_threads import Stopped
from aeond.domain.tools import Effect, ToolContext
from aeond.errors import ToolError

MAX_DOCUMENT_BYTES: Final = 16 << 20
MAX_CHARS: Final = 32 << 10
READ_SECONDS: Final = 60.0
ENDINGS: Final = frozenset({".pdf", ".docx", ".odt"})
"""Of the files that are proposed. Any other name can be asked for, too: a document is recognised by its content."""


class ReadDocumentArguments(BaseModel):
    """Which document, and from where."""

    path: FilePath
    offset: Annotated[int, Field(ge=0, le=2**53, description="next_offset of an earlier call")] = 0


def read_document_tool(workshop: Workshop) -> FunctionTool:
    files, threads, matching = workshop.files, workshop.threads, PathMatching(workshop.files)

    def content(
        arguments: ReadDocumentArguments, context: ToolContext, stopped: Stopped
    ) -> tuple[str, bytes]:
        path = matching.find(arguments.path, context.workspace, Wanted.FILE, stopped)
        with files.open_file(path, context.workspace) as opened, os.fdopen(os.dup(opened), "rb") as file:
            read = file.read(MAX_DOCUMENT_BYTES + 1)
        if len(read) > MAX_DOCUMENT_BYTES:
            raise ToolError(
                f"{path!r:.200} is larger than {MAX_DOCUMENT_BYTES >> 20} MiB: split it",
                reason="FILE_TOO_LARGE",
                field="path",
            )
        return path, read

    @tool(
        effect=Effect.READ,
        example={"path": "lease.pdf"},
        candidates={"path": proposing(files, threads, Wanted.FILE, ENDINGS)},
        targets=reading(files, threads, Wanted.FILE),
        timeout_seconds=READ_SECONDS + GRACE_SECONDS,
    )
    async def read_document(arguments: ReadDocumentArguments, context: ToolContext) -> ReadFileResult:
        """Reads the text of a document: PDF, docx or odt."""
        path, read = await threads.run(lambda stopped: content(arguments, context, stopped))
        given = {"content": base64.b64encode(read).decode(), "offset": arguments.offset, "most": MAX_CHARS}
        apart = ToolContext(context.run_id, context.step_id, context.call_id, "")  # it needs no folder
        try:
            found = await workshop.perform("documents", given, apart, READ_SECONDS, Conditions())
        except ToolError as error:
            if error.reason not in ("TOOL_RAISED", "SANDBOX_ENDED"):  # what parsers of damaged files end with
                raise
            raise ToolError(
                f"{path!r:.200} cannot be read, it is damaged or of an unusual kind: {error.message}",
                reason="DOCUMENT_BROKEN",
                field="path",
            ) from error
        text = str(found["text"])
        return ReadFileResult(
            path=path,
            truncated=bool(found["truncated"]),
            next_offset=arguments.offset + len(text),
            text=text,
        )

    return read_document
