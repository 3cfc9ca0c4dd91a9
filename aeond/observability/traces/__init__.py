"""Traces of runs, made of their events and exported when they have ended.

Entry point: `tracing.Tracing` collects and exports, `RunSpans` makes the spans of one run.
Must not know metrics, the kernel, or what runs do.
"""
