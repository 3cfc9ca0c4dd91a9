"""Bigger models by their names on the hub where they are published, smallest first.

Names, revisions, sizes and digests come from public documentation. None of these models was run by this project.
"""

from functools import partial
from typing import Final

from aeond.capabilities.llm.models.catalogue import CatalogueEntry, HubFile, HubFolder

_qwen = partial(CatalogueEntry, licence="Apache-2.0", tool_parser="hermes", tried=False)

QWEN3_4B: Final = _qwen(
    name="qwen3-4b-instruct-2507",
    digest="3605803b982cb64aead44f6c1b2ae36e3acdb41d8e46c8a94c6533bc4c67e597",
    size_bytes=2_497_281_120,
    description="Qwen3 4B Instruct 2507, Q4_K_M or FP8.",
    context_length=262_144,
    places=(
        HubFile(
            "unsloth/Qwen3-4B-Instruct-2507-GGUF",
            "Qwen3-4B-Instruct-2507-Q4_K_M.gguf",
            "a06e946bb6b655725eafa393f4a9745d460374c9",
        ),
    ),
    weights=HubFolder(
        "Qwen/Qwen3-4B-Instruct-2507-FP8", "8591804019c8b22094c3b5b4454e0edc05dffc98", 5_200_000_000
    ),
    kv_bytes=147_456,
)

QWEN25_7B: Final = _qwen(
    name="qwen2.5-7b-instruct",
    digest="65b8fcd92af6b4fefa935c625d1ac27ea29dcb6ee14589c55a8f115ceaaa1423",
    size_bytes=4_683_074_240,
    description="Qwen2.5 7B Instruct, Q4_K_M or AWQ.",
    context_length=32_768,
    places=(
        HubFile(
            "bartowski/Qwen2.5-7B-Instruct-GGUF",
            "Qwen2.5-7B-Instruct-Q4_K_M.gguf",
            "8911e8a47f92bac19d6f5c64a2e2095bd2f7d031",
        ),
    ),
    weights=HubFolder(
        "Qwen/Qwen2.5-7B-Instruct-AWQ", "b25037543e9394b818fdfca67ab2a00ecc7dd641", 5_600_000_000
    ),
    kv_bytes=57_344,
)

QWEN25_14B: Final = _qwen(
    name="qwen2.5-14b-instruct",
    digest="e47ad95dad6ff848b431053b375adb5d39321290ea2c638682577dafca87c008",
    size_bytes=8_988_110_976,
    description="Qwen2.5 14B Instruct, Q4_K_M or AWQ.",
    context_length=32_768,
    places=(
        HubFile(
            "bartowski/Qwen2.5-14B-Instruct-GGUF",
            "Qwen2.5-14B-Instruct-Q4_K_M.gguf",
            "05244aa5d871c661c80082a15d3bce44714d068d",
        ),
    ),
    weights=HubFolder(
        "Qwen/Qwen2.5-14B-Instruct-AWQ", "539535859b135b0244c91f3e59816150c8056698", 10_000_000_000
    ),
    kv_bytes=196_608,
)

# Of 30 billion parameters 3 compute each token, so it is as quick as a small model where it fits.
QWEN3_30B_AWQ: Final = _qwen(
    name="qwen3-30b-a3b-instruct-2507-awq",
    digest="",
    size_bytes=0,
    description="Qwen3 30B-A3B Instruct 2507, AWQ; for vLLM only.",
    context_length=262_144,
    places=(),
    weights=HubFolder(
        "cyankiwi/Qwen3-30B-A3B-Instruct-2507-AWQ-4bit",
        "2d3819dc1b75631b5255c25d2ff4d4824324d199",
        17_200_000_000,
    ),
    kv_bytes=98_304,
)

QWEN3_30B: Final = _qwen(
    name="qwen3-30b-a3b-instruct-2507",
    digest="",
    size_bytes=18_600_000_000,
    description="Qwen3 30B-A3B Instruct 2507, Q4_K_M or FP8.",
    context_length=262_144,
    places=(
        HubFile(
            "unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF",
            "Qwen3-30B-A3B-Instruct-2507-Q4_K_M.gguf",
            "eea7b2be5805a5f151f8847ede8e5f9a9284bf77",
        ),
    ),
    weights=HubFolder(
        "Qwen/Qwen3-30B-A3B-Instruct-2507-FP8", "5a5a776300a41aaa681dd7ff0106608ef2bc90db", 31_200_000_000
    ),
    kv_bytes=98_304,
)

PUBLISHED: Final = (QWEN3_4B, QWEN25_7B, QWEN25_14B, QWEN3_30B_AWQ, QWEN3_30B)
