"""Structured logging to a terminal, as JSON or to journald.

Entry point: `setup.start_logging`.
Must not know what the records are about.
"""
