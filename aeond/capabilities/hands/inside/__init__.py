"""What runs in the sandbox: the tool files of the tools in `aeond.capabilities.hands`.

Entry point: the list TOOLS of each module, read by the runner.
Must not know the daemon: each call starts a process, which imports as little as it can.
"""
