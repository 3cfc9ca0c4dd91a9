"""The program that runs Aider in the sandbox.

Entry point: `work.main`, in a process of its own.
Must not know the daemon's state: it reads one order, and asks over its connection.
"""
