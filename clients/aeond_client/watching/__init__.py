"""Streams of a run's events that continue across restarts of the daemon.

Entry point: `watch.Watch` and `async_watch.AsyncWatch`.
Must not know how events are rendered.
"""
