"""Use cases on sessions, and the records of their messages that follow the journal.

Entry point: `sessions.Sessions`.
Must not know the wire format, the kernel or concrete capabilities.
"""
