"""Use cases on recorded runs: forks, replays and retention.

Entry point: `forks.Forks` and `replays.Replays`.
Must not know the wire format, the kernel or concrete capabilities.
"""
