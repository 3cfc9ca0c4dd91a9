"""Data of a run: its snapshot, events, commands, budgets, questions and forks.

Entry point: `run.RunSnapshot` and `events`.
Must not know ports, storage or the wire format.
"""
