"""The set of all tools that are part of aeond, and those that need no package of their own.

Entry point: `tool_set.builtin_tools`.
Must not know the registry, the invoker or the kernel.
"""
