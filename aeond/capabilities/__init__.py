"""Implementations of ports: tools, models, memory, journal, sessions, templates.

Entry point: One package for each port; `aeond.daemon.compose` chooses among them.
Must not know each other, the kernel or orchestration.
"""
