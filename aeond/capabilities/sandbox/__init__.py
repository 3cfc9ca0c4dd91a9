"""Tool calls outside the daemon: a runner in a process of its own that ends with the call.

Entry point: `sandboxed_tool` and `choosing`; `runner` is the program of the process.
Must not know the invoker, runs or plans.
"""
