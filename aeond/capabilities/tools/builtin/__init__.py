"""The tools that are part of aeond, except those that work on files.

Entry point: `tool_set.builtin_tools`.
Must not know the registry, the invoker or the kernel.
"""
