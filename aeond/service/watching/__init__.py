"""Streams of events for clients that watch runs, and the run log.

Entry point: `feed.HotFeed` and `run_stream.RunWatching`.
Must not know the wire format, the kernel or concrete capabilities.
"""
