"""Tools that act on the machine: programs in the sandbox, git, documents, and the user's desktop.

Entry point: `hand_set.hands`.
Must not know runs, the policy's rules or how a sandbox is built.
"""
