"""Tools: the registry, the guarded invoker, and the tools that are part of aeond.

Entry point: `invoker.GuardedInvoker`, `registry.Registry`; authors of tools import `function_tool`.
Must not know runs, plans or models.
"""
