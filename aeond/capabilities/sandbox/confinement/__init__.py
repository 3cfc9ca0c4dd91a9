"""Limits that a sandboxed process sets on itself: resources, files (Landlock) and system calls (seccomp).

Entry point: `process.confine`.
Must not know tools, the connection to the daemon, or what surrounds the process.
"""
