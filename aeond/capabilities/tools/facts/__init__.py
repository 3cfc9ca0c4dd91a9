"""The tools for remembered facts: remember, recall and forget.

Entry point: `memory_tools.memory_tools`.
Must not know the store of the facts, the registry or the kernel.
"""
