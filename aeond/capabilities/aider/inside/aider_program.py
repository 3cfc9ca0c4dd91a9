"""Aider's command line and environment: our configuration alone, since the files that configure it in a repository are left
out of the copy."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from aeond.capabilities.aider.inside.repository import USUAL

MODEL: Final = "openai/aeond"
EXAMPLES: Final = ("path/to/filename.js", "show_greeting.py")
"""The files in Aider's own prompts, which small models return as well."""
INPUTS: Final = "input"
"""The file below HOME in which Aider notes what the user typed."""
_ALWAYS: Final = (
    *("--no-check-update", "--no-show-release-notes", "--no-analytics", "--no-show-model-warnings"),
    *("--no-gitignore", "--no-detect-urls", "--no-dirty-commits", "--no-auto-lint"),
    *("--no-suggest-shell-commands", "--no-restore-chat-history", "--disable-playwright"),
    *("--map-tokens", "0", "--edit-format", "whole"),
    *("--chat-language", "The user's own language"),
)
ALONE: Final = ("--yes-always", "--no-stream", "--no-pretty", "--no-fancy-input", "--no-auto-commits")
"""For work without a user, who would answer its questions."""
WITH_USER: Final = ("--stream", "--auto-commits", "--no-attribute-author", "--no-attribute-committer")
"""At a terminal: commits are what Aider can take back with /undo."""


def with_tests(order: Any, *, failing: bool) -> Mapping[str, Any]:
    """The order with its tests among the files to read, or, unless they fail, to change: a failing test is taken to be correct."""
    kind = "read" if failing else "files"
    return {**order, kind: [*order[kind], *order["tests"]]}


def argv(order: Any, mode: Sequence[str], message: str, temperature: float = 0.0) -> Sequence[str]:
    """The command, after its files are written to HOME. With a message Aider works on that alone, then ends; without one the test runs after each
    edit."""
    home = Path(os.environ["HOME"])
    streaming = "--stream" in mode
    settings = [
        {
            "name": MODEL,
            "edit_format": "whole",
            "weak_model_name": MODEL,
            "use_repo_map": False,
            "use_temperature": temperature,
            "streaming": streaming,
        }
    ]
    limits = {
        "max_input_tokens": order["context_tokens"],
        "max_output_tokens": order["answer_tokens"],
        "max_tokens": order["context_tokens"],
        "input_cost_per_token": 0,
        "output_cost_per_token": 0,
        "litellm_provider": "openai",
        "mode": "chat",
    }
    texts = {
        "config": "check-update: false\n",
        "environment": "",
        "settings": json.dumps(settings),  # JSON is YAML, too
        "limits": json.dumps({MODEL: limits}),
        "message": message,
    }
    for name, text in texts.items():
        (home / f"aeond.{name}").write_text(text, encoding="utf-8")
    testing = ["--auto-test", "--test-cmd", order["test_line"]] if order["test"] and not message else []
    return [
        *(order["python"], "-I", "-m", "aider", *_ALWAYS, *mode, *testing),
        *("--model", MODEL, "--model-settings-file", f"{home}/aeond.settings"),
        *("--model-metadata-file", f"{home}/aeond.limits", "--config", f"{home}/aeond.config"),
        *("--env-file", f"{home}/aeond.environment"),
        *(("--message-file", f"{home}/aeond.message") if message else ()),
        *("--chat-history-file", f"{home}/chat", "--input-history-file", f"{home}/{INPUTS}"),
        *(word for name in order["read"] for word in ("--read", name)),
        *order["files"],
    ]


def environment(port: int) -> Mapping[str, str]:
    """Everything that Aider's environment has besides PATH and LANG."""
    return {
        **USUAL,
        "HOME": os.environ["HOME"],
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "OPENAI_API_BASE": f"http://127.0.0.1:{port}/v1",
        "OPENAI_API_KEY": "none",
        "NO_PROXY": "*",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "RAYON_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
