"""Use cases: what clients may ask of the daemon.

Entry point: `run_use_cases.Runs`, `sessions.sessions.Sessions`, `models.models.Models`, `status.Status`.
Must not know the wire format, the kernel, orchestration or concrete capabilities.
"""
