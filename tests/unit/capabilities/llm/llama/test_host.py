"""How the host sets llama.cpp, with a module in its place that keeps what was set."""

import sys
from pathlib import Path
from typing import Any

import pytest

from aeond.capabilities.llm.llama.host import parse_arguments, serve

MODULE = """
from types import SimpleNamespace as Any

class llama_flash_attn_type:
    LLAMA_FLASH_ATTN_TYPE_DISABLED = "disabled"

def CommonParams():
    return Any(model=Any(), cpuparams=Any(), cpuparams_batch=Any(), flash_attn_type="auto")

def Server(parameters):
    return parameters
"""
OPTIONS = [
    "--parent=1",
    "--socket=engine.sock",
    "--model=m.gguf",
    "--name=m",
    "--slots=2",
    "--context-length=4096",
    "--threads=3",
    "--batch=512",
    "--http-threads=8",
    "--prompts=prompts",
]


def parameters(folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> Any:
    """What the host sets with these options besides OPTIONS."""
    (folder / "xllamacpp.py").write_text(MODULE, "utf-8")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    # So that the module in its place is forgotten after the test.
    monkeypatch.setitem(sys.modules, "xllamacpp", sys)
    monkeypatch.delitem(sys.modules, "xllamacpp")
    return serve(parse_arguments([*OPTIONS, *options]))


def test_a_build_for_the_processor_has_no_flash_attention(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build for this processor reads without flash attention, and the wheel chooses by itself."""
    assert parameters(tmp_path, monkeypatch).flash_attn_type == "auto"
    native = parameters(tmp_path, monkeypatch, f"--library={tmp_path}")
    assert native.flash_attn_type == "disabled"


def test_slots_have_the_context_that_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each slot has the whole context length, and a batch is one piece of work of the engine."""
    set_to = parameters(tmp_path, monkeypatch)
    assert (set_to.n_ctx, set_to.n_parallel) == (2 * 4096, 2)
    assert set_to.n_batch == set_to.n_ubatch == 512
    assert set_to.cpuparams.n_threads == set_to.cpuparams_batch.n_threads == 3


def test_a_socket_has_the_ending_that_llama_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that llama.cpp would take for the name of a host is refused."""
    with pytest.raises(ValueError, match=r"must end in \.sock"):
        parameters(tmp_path, monkeypatch, "--socket=engine")
