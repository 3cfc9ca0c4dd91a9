"""Metrics and traces of a daemon, made of the events that it publishes.

Entry point: `metrics.Metrics` counts events and shows the counts, `traces` makes traces of runs.
Must not know gRPC services, the kernel, orchestration or capabilities.
"""
