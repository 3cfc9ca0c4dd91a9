"""The memory that a model needs, computed from its size and its context."""

from typing import Final

from aeond.capabilities.llm.models.catalogue import CatalogueEntry

LLAMA_CPP_BYTES: Final = 400_000_000  # buffers of the computation, and the process
VLLM_BYTES: Final = 1_000_000_000  # CUDA's context, activations and captured graphs
RAM_SHARE: Final = 0.7  # the rest is for the system and other programs


def ram_needed(entry: CatalogueEntry, context_tokens: int, parallel_requests: int) -> int | None:
    """Bytes of main memory with llama.cpp, whose requests each have their own context; None for a model that is
    not published as a GGUF file."""
    if not entry.places:
        return None
    return entry.size_bytes + LLAMA_CPP_BYTES + entry.kv_bytes * context_tokens * parallel_requests


def gpu_needed(entry: CatalogueEntry, context_tokens: int) -> int | None:
    """Bytes of GPU memory with vLLM and one full context: vLLM shares out what is left among all requests. None
    for a model that is not published as safetensors."""
    if entry.weights is None:
        return None
    return entry.weights.size_bytes + VLLM_BYTES + entry.kv_bytes * context_tokens
