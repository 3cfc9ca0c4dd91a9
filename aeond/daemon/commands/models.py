"""`aeond models`: the models of the catalogue, and which of them fit this machine."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Final

from aeond.capabilities.llm.models.catalogue import (
    BUILT_IN,
    QWEN_CODER_0_5B,
    QWEN_CODER_1_5B,
    CatalogueEntry,
    HubFile,
    Wheels,
)
from aeond.capabilities.llm.models.published import PUBLISHED
from aeond.capabilities.llm.models.requirements import RAM_SHARE, gpu_needed, ram_needed
from aeond.daemon.commands.machine import memory_mib, nvidia_gpus
from aeond.daemon.config.vllm_section import VllmSection
from aeond.daemon.exits import Exit
from aeond.frozen import frozen

HUB: Final = "https://huggingface.co"
CONTEXT_TOKENS: Final = 8_192
PARALLEL_REQUESTS: Final = 2  # with llama.cpp: each has a context of its own
GIB: Final = 1 << 30
GB: Final = 1e9

# From the least to the most capable. SmolLM2 is for tests.
_CANDIDATES: Final = (QWEN_CODER_0_5B, QWEN_CODER_1_5B, *PUBLISHED)


@frozen
class Recommendation:
    """A model that fits, the memory that it needs and may use, and the configuration that selects it."""

    engine: str
    model: str
    needed_bytes: int
    usable_bytes: int
    tried: bool
    reason: str
    config: str


def show_models(*, as_json: bool) -> Exit:
    """Prints the catalogue."""
    rows = [_row(entry) for entry in (*BUILT_IN, *PUBLISHED)]
    if as_json:
        print(json.dumps({"models": rows}, indent=2))
        return Exit.OK
    for row in rows:
        print(f"{row['name']}  {row['licence']}, {row['context_tokens']} tokens of context")
        for form in ("llama_cpp", "vllm"):
            if row[form]:
                print(f"    {form}: {row[form]}")
        calls = f"vLLM's parser {row['tool_parser']}" if row["tool_parser"] else "none that is reliable"
        print(f"    native tool calls: {calls}; {'tried' if row['tried'] else 'not tried'} by this project")
    return Exit.OK


def recommend(*, ram_gib: float | None, gpu_gib: float | None, as_json: bool) -> Exit:
    """Prints the most capable model for the main memory, and for the largest GPU, of this machine or of one with
    these sizes. PROBLEM if none fits."""
    ram = (memory_mib("MemTotal") or 0) << 20 if ram_gib is None else round(ram_gib * GIB)
    gpu = _this_gpu() if gpu_gib is None else round(gpu_gib * GIB)
    found = list(recommendations(ram, gpu))
    if as_json:
        machine = {"ram_bytes": ram, "gpu_bytes": gpu}
        print(json.dumps({"machine": machine, "recommendations": [asdict(one) for one in found]}, indent=2))
    else:
        print(f"{ram / GIB:.1f} GiB of main memory, {f'{gpu / GIB:.1f} GiB on the GPU' if gpu else 'no GPU'}")
        for one in found:
            print(f"\n{one.model} with {one.engine}: {one.reason}\n")
            print("\n".join(f"    {line}" for line in one.config.splitlines()))
        if not found:
            print("no model of the catalogue fits")
    return Exit.OK if found else Exit.PROBLEM


def recommendations(ram_bytes: int, gpu_bytes: int) -> Iterator[Recommendation]:
    """At most one for the GPU, which comes first because it answers faster, and one for the main memory."""
    usable = round(gpu_bytes * VllmSection().gpu_memory_utilization)
    fitting = [(entry, need) for entry in _CANDIDATES if (need := gpu_needed(entry, CONTEXT_TOKENS))]
    yield from _best("vllm", fitting, usable, "GPU memory")
    usable = round(ram_bytes * RAM_SHARE)
    fitting = [
        (entry, need)
        for entry in _CANDIDATES
        if (need := ram_needed(entry, CONTEXT_TOKENS, PARALLEL_REQUESTS))
    ]
    yield from _best("llama_cpp", fitting, usable, "main memory")


def _best(
    engine: str, needs: Sequence[tuple[CatalogueEntry, int]], usable: int, memory: str
) -> Iterator[Recommendation]:
    fitting = [(entry, need) for entry, need in needs if need <= usable]
    if not fitting:
        return
    entry, need = fitting[-1]
    tried = "" if entry.tried else "; this project has not tried it"
    reason = f"needs {need / GB:.1f} of the {usable / GB:.1f} GB of {memory} that it may use{tried}"
    yield Recommendation(engine, entry.name, need, usable, entry.tried, reason, _config(engine, entry))


def _config(engine: str, entry: CatalogueEntry) -> str:
    lines = [
        "[model]",
        f'engine = "{engine}"',
        f'name = "{entry.name}"',
        f"context_tokens = {CONTEXT_TOKENS}",
    ]
    if engine == "llama_cpp":
        lines.append(f"parallel_requests = {PARALLEL_REQUESTS}")
    if not any(isinstance(place, Wheels) for place in entry.places):
        lines.append(f'hub_url = "{HUB}"')
    return "\n".join(lines)


def _row(entry: CatalogueEntry) -> dict[str, str | int | bool]:
    files = [place for place in entry.places if isinstance(place, HubFile)]
    gguf = f"{files[0].repository}/{files[0].file}, " if files else ""
    folder = entry.weights
    return {
        "name": entry.name,
        "licence": entry.licence,
        "context_tokens": entry.context_length,
        "llama_cpp": f"{gguf}{entry.size_bytes / GB:.1f} GB" if entry.places else "",
        "vllm": f"{folder.repository}, {folder.size_bytes / GB:.1f} GB" if folder else "",
        "digest": entry.digest,
        "tool_parser": entry.tool_parser,
        "tried": entry.tried,
    }


def _this_gpu() -> int:
    """The memory of the largest GPU, 0 without one."""
    try:
        return max((gpu.total_mib for gpu in nvidia_gpus()), default=0) << 20
    except (OSError, subprocess.SubprocessError, ValueError):
        return 0
