"""No rule of orchestration depends on the words of a natural language or on the name of a built-in tool."""

import ast
from pathlib import Path

import pytest

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.templates.subtask_tools import DELEGATE
from aeond.capabilities.tools.builtin.tool_set import builtin_tools
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.registry import Registry
from aeond.capabilities.tools.worker_threads import WorkerThreads
from tests.support.doubles import ManualClock
from tests.support.language_rules import language_rules
from tests.support.memory import InMemoryMemory
from tests.support.repository import ROOT, place, python_files, tree_of
from tests.support.undo import InMemoryUndoLog

ORCHESTRATION = ROOT / "aeond" / "orchestration"
PROMPTS = ORCHESTRATION / "prompts"  # text that models read

# Words of machine formats that code may compare with: by module, with the reason.
ALLOWED = {
    # what a web address begins with
    "context/addresses.py": {"https", "localhost"},
    # the keys that other models' formats of tool calls use instead
    "repair/call_repair.py": {
        "steps",
        "plan",
        "actions",
        "tasks",
        "tool",
        "name",
        "function",
        "action",
        "arguments",
        "args",
        "parameters",
        "params",
        "input",
        "task",
        "prompt",
        "goal",
    },
    # the keys of a model's judgement, and its kinds of issues as the schema enumerates them
    "evaluation/judgement_schema.py": {
        "vague",
        "irrelevant",
        "contradiction",
        "invented",
        "completeness",
        "coherence",
        "consistency",
    },
    # a part of a path in a problem
    "evaluation/issues.py": {"steps"},
    # the name of a capability of agents
    "execution/agent_steps.py": {"stream"},
    # the properties of a tool's output that docs/adding-a-tool.md defines
    "context/readable_outputs.py": {"truncated"},
    "execution/readiness.py": {"result", "value", "content", "text", "output", "truncated"},
    # the names of conditions, for messages
    "phase_checks.py": {
        "a request",
        "a plan",
        "a plan that can run",
        "executed steps as they were",
        "a budget within the run's bound",
        "an evaluation of this pass",
    },
}


@pytest.fixture(scope="module")
def tool_names() -> set[str]:
    """The names of all built-in tools, as they are registered."""
    registry, files = Registry(), ContainedFiles(resolve_in_kernel)
    clock, memory, undo_log = ManualClock(), InMemoryMemory(), InMemoryUndoLog()
    for tool in builtin_tools(clock, memory, files, WorkerThreads(), NoEmbedder(), undo_log):
        registry.register(tool)
    return {*registry.list_names(), DELEGATE}


def modules() -> list[Path]:
    return [path for path in python_files("aeond/orchestration") if not path.is_relative_to(PROMPTS)]


def test_no_rule_depends_on_words_or_tools(tool_names: set[str]) -> None:
    """Outside of prompts, orchestration compares nothing with words of a language and names no built-in tool."""
    assert [
        f"{place(path, found.line)} {found.word!r}"
        for path in modules()
        for found in language_rules(tree_of(path), tool_names)
        if found.word not in ALLOWED.get(str(path.relative_to(ORCHESTRATION)), ())
    ] == []


def test_nothing_is_allowed_in_vain(tool_names: set[str]) -> None:
    """Each exception is for a word that the module still has."""
    words = {
        str(path.relative_to(ORCHESTRATION)): {one.word for one in language_rules(tree_of(path), tool_names)}
        for path in modules()
    }
    assert {name: allowed - words[name] for name, allowed in ALLOWED.items() if allowed - words[name]} == {}


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('W = re.compile(r"\\b(must(n[\'\\u2019]t)?|never)\\b")', ["must", "never"]),
        ('A = "always|only"\nW = re.compile(rf"\\b({A})\\b")', ["always", "only"]),
        ('re.search("\\u0432\\u0441\\u0435", text)', ["\u0432\u0441\u0435"]),
        ('W = {"please", "thanks"}', ["please", "thanks"]),
        ('if word in ("bitte", "danke"): pass', ["bitte", "danke"]),
        ('if word in ["\u8bf7", "\u8c22\u8c22"]: pass', ["\u8bf7", "\u8c22\u8c22"]),
        ('W = frozenset("what who how".split())', ["how", "what", "who"]),
        ('W = {"today": 0, "tomorrow": 1}', ["today", "tomorrow"]),
        ('days = {"today": 0, "next week": 7}.get(word)', ["next week", "today"]),
        ('if text == "yes": pass', ["yes"]),
        ('if "do not" in text: pass', ["do not"]),
        ('text.lower().startswith("could you")', ["could"]),
        ('P = "could you"\ntext.startswith(P)', ["could"]),
        ('match word:\n    case "yes" | "no": pass', ["no", "yes"]),
        ('if call.tool == "read_file": pass', ["read_file"]),
        ('raise ValueError("use read_file first")', ["read_file"]),
        ('TOOLS = {"echo"}', ["echo"]),
    ],
)
def test_rules_of_language_are_found(source: str, words: list[str]) -> None:
    """Each form of a rule on words or tools is found: patterns, collections, comparisons, methods of text, names."""
    assert [found.word for found in language_rules(ast.parse(source), {"read_file", "echo"})] == words


@pytest.mark.parametrize(
    "source",
    [
        'W = re.compile(r"(?P<name>[^\\W_]+)\\.(?:\\d{1,3}|[a-z]+)$")',
        'raise ValueError("a plan must have steps")',
        'def f():\n    """Like read_file, never fails."""',
        'if problem.reason in ("PLAN_CUT", "BUDGET_SPENT"): pass',
        'if part["type"] == "string": pass',
        'S: JsonObject = {"type": "object", "required": ["depth", "why"]}',
        'closed({"change": {"const": "remove"}})\nif kind == "remove": pass',
        'if text.endswith("?") or text in ("", "..."): pass',
        'log.info("echo of %s", text)',
    ],
)
def test_other_texts_are_no_rules(source: str) -> None:
    """Patterns of form, messages, documentation, reason codes and schemas are no rules on words."""
    assert language_rules(ast.parse(source), {"read_file", "echo"}) == []
