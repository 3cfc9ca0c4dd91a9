"""Supervision of engine processes: start, restart policy, watchdog and metrics.

Entry point: `supervisor.EngineSupervisor`.
Must not know the details of one kind of engine or how models share it.
"""
