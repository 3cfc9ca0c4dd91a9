"""The memory that a model needs."""

from aeond.capabilities.llm.models.catalogue import QWEN_CODER_1_5B
from aeond.capabilities.llm.models.published import QWEN3_30B_AWQ, QWEN25_7B
from aeond.capabilities.llm.models.requirements import LLAMA_CPP_BYTES, VLLM_BYTES, gpu_needed, ram_needed


def test_every_request_has_its_own_context_in_main_memory() -> None:
    """llama.cpp needs the file, its buffers, and one context for each request at the same time."""
    one = ram_needed(QWEN25_7B, 8_192, 1)
    two = ram_needed(QWEN25_7B, 8_192, 2)
    assert one == 4_683_074_240 + LLAMA_CPP_BYTES + 8_192 * 57_344
    assert two is not None
    assert two - one == 8_192 * 57_344


def test_a_gpu_must_hold_the_weights_and_one_context() -> None:
    """vLLM shares out what is left, so that one full context is enough."""
    assert gpu_needed(QWEN25_7B, 8_192) == 5_600_000_000 + VLLM_BYTES + 8_192 * 57_344


def test_a_form_that_is_not_published_needs_no_memory() -> None:
    """A model without a GGUF file, or without safetensors, is none for that engine."""
    assert ram_needed(QWEN3_30B_AWQ, 8_192, 1) is None
    assert gpu_needed(QWEN_CODER_1_5B, 8_192) is None
