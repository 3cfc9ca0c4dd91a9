"""Tools and results of servers in our terms."""

from dataclasses import replace

import mcp_types as types
import pytest

from aeond.capabilities.mcp.settings import ServerSettings
from aeond.capabilities.mcp.translation import MAX_SCHEMA_BYTES, output_of, spec_of, text_of, tool_name
from aeond.domain.tools import Effect
from aeond.domain.values import canonical_json
from aeond.schemas.compiled import CompiledSchema
from tests.support.mcp_world import in_memory

SETTINGS = ServerSettings("files", in_memory)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("read_file", "files_read_file"),
        ("get-sum", "files_get_sum"),
        ("Read File!", "files_read_file"),
        ("\x1b[31mrm -rf", "files_31mrm_rf"),
        ("x" * 100, f"files_{'x' * 58}"),
    ],
)
def test_names_have_our_form(name: str, ours: str) -> None:
    """A tool's name is the server's name and its own, in the letters that names may have."""
    assert tool_name("files", name) == ours


def test_hints_of_servers_are_not_believed() -> None:
    """A tool that says of itself that it only reads is undeclared nevertheless."""
    hints = types.ToolAnnotations(read_only_hint=True, idempotent_hint=True)
    tool = types.Tool(name="read", input_schema={"type": "object"}, annotations=hints)
    spec = spec_of(tool, SETTINGS, (), "")
    assert (spec.effect, spec.idempotent, spec.source) == (Effect.UNDECLARED, False, "mcp:files")


def test_open_schemas_are_closed() -> None:
    """Arguments that the schema does not name are rejected, whatever the server says."""
    tool = types.Tool(name="read", input_schema={"type": "object", "additionalProperties": True})
    assert spec_of(tool, SETTINGS, (), "").input_schema["additionalProperties"] is False


def test_long_patterns_and_values_with_blanks_keep_their_meaning() -> None:
    """A pattern of more characters than a description may have is complete, and a value with two blanks stays valid."""
    date = r"^(?:\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))$"
    fields = {
        "when": {"type": "string", "pattern": "|".join([date] * 6)},
        "unit": {"type": "string", "enum": ["a  b"]},
    }
    tool = types.Tool(name="read", input_schema={"type": "object", "properties": fields})
    schema = CompiledSchema(spec_of(tool, SETTINGS, (), "").input_schema)
    assert not schema.problems({"when": "2026-11-28", "unit": "a  b"})
    assert schema.problems({"when": "2026-11-32"})


def test_large_schemas_are_refused() -> None:
    """A schema that would fill the prompt is an error."""
    fields = {f"field{number}": {"type": "string"} for number in range(MAX_SCHEMA_BYTES // 20)}
    tool = types.Tool(name="read", input_schema={"type": "object", "properties": fields})
    with pytest.raises(ValueError, match="more than"):
        spec_of(tool, SETTINGS, (), "")


def test_content_that_is_no_text_is_named() -> None:
    """Pictures, links and resources are named, and texts of resources are included."""
    content: list[types.ContentBlock] = [
        types.TextContent(text="hello"),
        types.ImageContent(data="aGk=", mime_type="image/png"),
        types.ResourceLink(name="page", uri="demo://page"),
        types.EmbeddedResource(resource=types.TextResourceContents(uri="demo://text", text="inside")),
        types.EmbeddedResource(resource=types.BlobResourceContents(uri="demo://blob", blob="aGk=")),
    ]
    assert text_of(content) == "hello\n[image]\n[resource page: demo://page]\ninside\n[resource demo://blob]"


def test_structured_results_are_data() -> None:
    """A tool that declares its results returns them as data, with the server as taint."""
    declared = {"type": "object", "properties": {"n": {"type": "integer"}}}
    tool = types.Tool(name="count", input_schema={"type": "object"}, output_schema=declared)
    result = types.CallToolResult(content=[], structured_content={"n": 3})
    output = output_of(result, spec_of(tool, SETTINGS, (), ""))
    assert (output.data, output.taint) == ({"n": 3}, ("mcp:files",))


@pytest.mark.parametrize("letter", ["a", "ß", "\n", "\U0001f600", "\x01"])
def test_a_text_is_cut_to_its_limit_as_json(letter: str) -> None:
    """Of a longer text as much is kept as the limit of a result in bytes of JSON leaves, however many bytes a letter takes; text within
    the limit stays whole."""
    settings = replace(SETTINGS, max_output_bytes=1_024)
    spec = spec_of(types.Tool(name="read", input_schema={"type": "object"}), settings, (), "")

    def size(count: int) -> int:
        content: list[types.ContentBlock] = [types.TextContent(text=letter * count)]
        return len(canonical_json(output_of(types.CallToolResult(content=content), spec).data).encode())

    whole = next(
        count for count in range(1_024, 0, -1) if len(canonical_json(letter * count).encode()) <= 1_024
    )
    assert size(whole) == len(canonical_json(letter * whole).encode())
    assert 900 < size(whole + 1) <= 1_024
    assert 900 < size(10_000) <= 1_024
