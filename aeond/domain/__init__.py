"""Frozen data of runs, plans, sessions, models and tools.

Entry point: `runs.run`, `runs.events`, `plans.plan`, `tools`.
Must not know ports, I/O, clocks or the wire format.
"""
